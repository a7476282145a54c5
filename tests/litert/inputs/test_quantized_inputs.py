"""Inputs of quantized models are drawn within the ranges that the model represents."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from ai_edge_litert import schema_py_generated as schema

from litefuse.litert.inputs.model_inputs import Manner, ModelInputs
from litefuse.litert.inputs.uses import Range
from litefuse.litert.runtime.interpreter import Interpreter
from tests.litert.runtime.models import Graph, model


def with_scale(graph: Graph, index: int, scale: float, zero: int) -> int:
    tensor = graph.tensors[index][0]
    tensor.quantization = schema.QuantizationParametersT()
    tensor.quantization.scale, tensor.quantization.zeroPoint = [scale], [zero]
    return index


def quantized(graph: Graph, source: int, shape: tuple[int, ...], dtype: Any, scale: float, zero: int) -> None:
    made = with_scale(graph, graph.output(f"y{len(graph.outputs)}", shape, dtype), scale, zero)
    graph.builtin("QUANTIZE", [source], [made])


def drawn(graph: Graph, count: int = 4, **manner: Any) -> tuple[ModelInputs, npt.NDArray[Any]]:
    content = model(graph, signatures={"main": 0})
    inputs = ModelInputs(content)
    drawer, shapes = inputs.drawer("main", Random(1)), inputs.shapes("main", batch=1, size=7)
    found = [drawer.draw(shapes, Manner(**manner)) for _ in range(count)]
    for each in found:
        Interpreter(content).get_signature_runner("main")(**each)
    return inputs, np.stack([each["x"] for each in found])


@pytest.mark.parametrize(
    ("dtype", "scale", "zero", "low", "high"),
    [
        (np.int8, 0.5, -128, 0.0, 127.5),
        (np.int8, 0.01, 20, -1.48, 1.07),
        (np.uint8, 1 / 255, 0, 0.0, 1.0),
        (np.int16, 2**-10, 0, -32.0, 32767 / 1024),
    ],
)
def test_numbers_are_in_the_range_of_the_dtype(dtype: Any, scale: float, zero: int, low: float, high: float) -> None:
    graph = Graph()
    quantized(graph, graph.input("x", (50, 20)), (50, 20), dtype, scale, zero)
    inputs, values = drawn(graph)
    ((box, use),) = inputs.signatures["main"]["x"].uses
    assert box == ()
    assert isinstance(use, Range)
    assert (use.low, use.high) == pytest.approx((low, high))
    assert use.low <= values.min() < values.max() <= use.high
    assert abs(values.mean() - (low + high) / 2) < 0.02 * (high - low)
    assert values.std() == pytest.approx((high - low) / 9, rel=0.1)
    _, wide = drawn(graph, scale=100)
    assert use.low <= wide.min() < wide.max() <= use.high


@pytest.mark.parametrize("op", ["RESHAPE", "TRANSPOSE", "PAD", "CONCATENATION", "EXPAND_DIMS", "MUL", "SUB"])
def test_ops_before_it(op: str) -> None:
    """A value that is twice as large, or less by one, has another range."""
    graph = Graph()
    x = graph.input("x", (4, 6))
    shape = {"RESHAPE": (6, 4), "TRANSPOSE": (6, 4), "PAD": (6, 6), "CONCATENATION": (8, 6), "EXPAND_DIMS": (1, 4, 6)}
    between = graph.tensor("between", shape.get(op, (4, 6)))
    more = {
        "RESHAPE": lambda: [graph.tensor("s", [2], np.int32, value=[6, 4])],
        "TRANSPOSE": lambda: [graph.tensor("p", [2], np.int32, value=[1, 0])],
        "PAD": lambda: [graph.tensor("p", [2, 2], np.int32, value=[[1, 1], [0, 0]])],
        "CONCATENATION": lambda: [x],
        "EXPAND_DIMS": lambda: [graph.tensor("a", [], np.int32, value=0)],
        "MUL": lambda: [graph.tensor("f", [], value=2.0)],
        "SUB": lambda: [graph.tensor("f", [], value=1.0)],
    }
    options = {"axis": 0} if op == "CONCATENATION" else {}
    graph.builtin(op, [x, *more[op]()], [between], **options)
    quantized(graph, between, shape.get(op, (4, 6)), np.int8, 0.1, -128)
    low, high = {"MUL": (0.0, 12.75), "SUB": (1.0, 26.5)}.get(op, (0.0, 25.5))
    _, values = drawn(graph, 40)
    assert low <= values.min() < low + 0.3 * (high - low)
    assert high - 0.3 * (high - low) < values.max() <= np.float32(high)


def test_each_part_has_its_range() -> None:
    graph = Graph()
    x = graph.input("x", (2, 6))
    for start, scale in ((0, 1.0), (3, 0.01)):
        begin = graph.tensor(f"b{start}", [2], np.int32, value=[0, start])
        size = graph.tensor(f"s{start}", [2], np.int32, value=[2, 3])
        part = graph.tensor(f"part{start}", (2, 3))
        graph.builtin("SLICE", [x, begin, size], [part])
        quantized(graph, part, (2, 3), np.int8, scale, 0)
    _, values = drawn(graph, 20)
    assert 10 < np.abs(values[..., :3]).max() <= 128
    assert 0.1 < np.abs(values[..., 3:]).max() <= 1.28


def test_two_ranges_of_one_input() -> None:
    graph = Graph()
    x = graph.input("x", (2, 6))
    quantized(graph, x, (2, 6), np.int8, 1.0, 0)
    quantized(graph, x, (2, 6), np.int8, 0.01, 0)
    assert np.abs(drawn(graph, 20)[1]).max() <= 1.28


def test_integers_with_a_scale_seldom_reach_their_ends() -> None:
    graph = Graph()
    x = with_scale(graph, graph.input("x", (100, 10), np.uint8), 0.1, 3)
    graph.builtin("DEQUANTIZE", [x], [graph.output("y", (100, 10))])
    _, values = drawn(graph)
    assert values.dtype == np.uint8
    assert 0 < values.min() < 64 < 192 < values.max() < 255
    assert values.std() == pytest.approx(255 / 9, rel=0.1)


def test_pixels_that_are_cast() -> None:
    graph = Graph()
    x, between = graph.input("x", (4, 6), np.int32), graph.tensor("between", (4, 6))
    graph.builtin("CAST", [x], [between])
    quantized(graph, between, (4, 6), np.int8, 1.0, -128)
    _, values = drawn(graph, 20)
    assert (values.min(), values.max()) >= (0, 200)
    assert values.max() <= 255
