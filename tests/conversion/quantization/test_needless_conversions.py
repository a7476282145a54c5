"""Conversions between integers and floating point that cancel out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from litefuse.conversion.quantization.litert_quantizer import read_model
from litefuse.conversion.quantization.recurrent.needless_conversions import join_integers
from litefuse.litert.export.editor import GraphEditor
from tests.conversion.quantization.models import saved
from tests.litert.runtime.models import Graph


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
