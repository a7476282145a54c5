"""Conversions between integers and floating point that cancel out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

from litefuse.conversion.quantization.litert_quantizer import read_model
from litefuse.conversion.quantization.recurrent.needless_conversions import drop_unused, join_integers
from litefuse.litert.export.editor import GraphEditor
from litefuse.litert.runtime.schema_objects import objects_of, op_name
from tests.conversion.quantization.models import saved
from tests.litert.runtime.models import Graph, model


def integers(graph: Graph, index: int, scale: float, zero: int = 3) -> int:
    """Gives a tensor a scale."""
    parameters: Any = schema.QuantizationParametersT()
    parameters.scale, parameters.zeroPoint = [scale], [zero]
    graph.tensors[index][0].quantization = parameters
    return index


def joined(path: Path, graph: Graph) -> list[tuple[str, list[str], list[str]]]:
    """The ops of a graph whose integers are joined: their names, and the names of operands and results."""
    editor = GraphEditor(read_model(saved(path, graph)), 0)
    join_integers(editor)
    return [
        (
            editor.kind(op),
            [editor.name(int(each)) for each in op.inputs],
            [editor.name(int(each)) for each in op.outputs],
        )
        for op in editor.ops
    ]


def test_integers_are_taken_where_they_are(tmp_path: Path) -> None:
    """What is an output or a state is written all the same, and what has another scale or dtype is made of integers."""
    graph = Graph()
    q, real = integers(graph, graph.input("q", [4], np.int8), 0.5), graph.tensor("real", [4])
    graph.builtin("DEQUANTIZE", [q], [real])
    results = {
        "same": integers(graph, graph.tensor("same", [4], np.int8), 0.5),
        "state": integers(graph, graph.tensor("state", [4], np.int8), 0.5),
        "wide": integers(graph, graph.tensor("wide", [4], np.int16), 0.5),
        "coarse": integers(graph, graph.tensor("coarse", [4], np.int8), 0.75),
        "moved": integers(graph, graph.tensor("moved", [4], np.int8), 0.5, 4),
        "output": integers(graph, graph.output("output", [4], np.int8), 0.5),
    }
    graph.tensors[results["state"]][0].isVariable = True
    for name, index in results.items():
        graph.builtin("QUANTIZE", [real], [index])
        if name != "output":
            graph.builtin("ABS", [index], [graph.output(f"{name}_abs", [4], np.int8)])
    expected: list[tuple[str, list[str], list[str]]] = [("ABS", ["q"], ["same_abs"])]
    for name in ("state", "wide", "coarse", "moved"):
        expected += [("QUANTIZE", ["q"], [name]), ("ABS", [name], [f"{name}_abs"])]
    assert joined(tmp_path / "model.tflite", graph) == [*expected, ("QUANTIZE", ["q"], ["output"])]


def test_what_has_no_scale_stays(tmp_path: Path) -> None:
    """Such as weights of float16, or integers with a scale for each channel."""
    for dtype, scales in (("FLOAT16", 0), ("INT8", 4)):
        graph = Graph()
        stored, real = graph.input("stored", [4], dtype), graph.tensor("real", [4])
        if scales:
            integers(graph, stored, 0.5)
            graph.tensors[stored][0].quantization.scale = [0.5] * scales
        graph.builtin("DEQUANTIZE", [stored], [real])
        graph.builtin("QUANTIZE", [real], [integers(graph, graph.output("y", [4], np.int8), 0.5)])
        assert joined(tmp_path / f"{dtype}.tflite", graph) == [
            ("DEQUANTIZE", ["stored"], ["real"]),
            ("QUANTIZE", ["real"], ["y"]),
        ]


@pytest.mark.parametrize(
    ("scales", "dtype", "also", "once"),
    [
        ((0.25, 0.25), np.int8, "", True),
        ((0.25, 0.5), np.int8, "", False),
        ((0.25, 0.25), np.int16, "", False),
        ((0.25, 0.25), np.int8, "output", False),
        ((0.25, 0.25), np.int8, "taken twice", False),
        ((0.25, 0.25), np.int8, "taken otherwise", False),
    ],
)
def test_items_are_rescaled_at_once(
    tmp_path: Path, scales: tuple[float, float], dtype: Any, also: str, once: bool
) -> None:
    graph = Graph()
    q = integers(graph, graph.input("q", [2, 4], np.int8), 0.5)
    items = [integers(graph, graph.tensor(f"item{number}", [4], np.int8), 0.5) for number in range(2)]
    graph.builtin("UNPACK", [q], items, num=2)
    for number, (item, scale) in enumerate(zip(items, scales, strict=True)):
        result = integers(graph, graph.output(f"y{number}", [4], dtype), scale)
        graph.builtin("ABS" if number and also == "taken otherwise" else "QUANTIZE", [item], [result])
    if also == "output":
        graph.outputs.append(items[1])
    if also == "taken twice":
        graph.builtin("ABS", [items[1]], [graph.output("z", [4], np.int8)])
    ops = joined(tmp_path / "model.tflite", graph)
    at_once = [("QUANTIZE", ["q"], ["q_rescaled"]), ("UNPACK", ["q_rescaled"], ["y0", "y1"])]
    assert (ops == at_once) is once
    assert once or ops[0] == ("UNPACK", ["q"], ["item0", "item1"])


def test_what_nothing_takes_goes_with_what_it_took(tmp_path: Path) -> None:
    graph = Graph()
    x = graph.input("x", [2, 4])
    sizes, size, packed, filled = (graph.tensor(name, [2], np.int32) for name in ("sizes", "size", "packed", "filled"))
    real, wide = graph.tensor("real", [2, 4]), graph.tensor("wide", [2, 4])
    q = integers(graph, graph.input("q", [2, 4], np.int8), 0.5)
    graph.builtin("SHAPE", [x], [sizes])
    graph.builtin("STRIDED_SLICE", [sizes], [size])
    graph.builtin("PACK", [size, size], [packed])
    graph.builtin("FILL", [packed, size], [filled])
    graph.builtin("BROADCAST_TO", [filled, packed], [wide])
    graph.builtin("DEQUANTIZE", [q], [real])
    graph.builtin("QUANTIZE", [real], [integers(graph, graph.tensor("again", [2, 4], np.int8), 0.25)])
    graph.builtin("ABS", [x], [graph.tensor("unread", [2, 4])])
    graph.builtin("SHAPE", [x], [graph.output("y", [2], np.int32)])
    assert joined(tmp_path / "model.tflite", graph) == [("ABS", ["x"], ["unread"]), ("SHAPE", ["x"], ["y"])]


def test_only_what_is_referred_to_stays() -> None:
    """Tensors, buffers and op codes; of a signature, too."""
    graph, other = Graph(), Graph()
    for one in (graph, other):
        one.tensor("unused", [4], value=np.ones(4))
        x, c = one.input("x", [4]), one.tensor("c", [4], value=np.full(4, 2.0))
        one.builtin("SUB", [x, c], [one.tensor("removed", [4])])
        one.builtin("ADD", [x, c, -1], [one.output("y", [4])])
    integers(graph, graph.outputs[0], 0.5)
    loaded = objects_of(model(graph, other, Graph(), signatures={"first": 0, "second": 1}))
    loaded.subgraphs[0].tensors[1].quantization = type(loaded.subgraphs[0].tensors[graph.outputs[0]].quantization)()
    for subgraph in loaded.subgraphs[:2]:
        del subgraph.operators[0]
    loaded.subgraphs[0].operators[0].intermediates = [0, -1]
    drop_unused(loaded)
    first, second, _ = loaded.subgraphs
    assert [[tensor.name for tensor in subgraph.tensors] for subgraph in (first, second)] == [
        [b"unused", b"x", b"c", b"y"],
        [b"x", b"c", b"y"],
    ]
    assert [(list(op.inputs), list(op.outputs)) for op in (*first.operators, *second.operators)] == [
        ([1, 2, -1], [3]),
        ([0, 1, -1], [2]),
    ]
    assert [*first.operators[0].intermediates] == [0, -1]
    assert [[*subgraph.inputs, *subgraph.outputs] for subgraph in (first, second)] == [[1, 3], [0, 2]]
    entries = [
        [entry.tensorIndex for entry in (*signature.inputs, *signature.outputs)] for signature in loaded.signatureDefs
    ]
    assert entries == [[1, 3], [0, 2]]
    assert (first.tensors[1].quantization, first.tensors[3].quantization.scale) == (None, [0.5])
    assert [op_name(code) for code in loaded.operatorCodes] == ["ADD"]
    data = [loaded.buffers[subgraph.tensors[index].buffer].data for subgraph, index in ((first, 2), (second, 1))]
    assert [np.frombuffer(bytes(content), np.float32).tolist() for content in data] == [[2.0] * 4] * 2
    assert len(loaded.buffers) == 4
    assert loaded.buffers[0].data is None
