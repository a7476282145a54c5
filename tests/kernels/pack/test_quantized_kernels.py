"""Kernels that hand numbers on, of quantized tensors: padding is the zero point, and the scales are the same."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from ai_edge_litert import schema_py_generated as schema

from litefuse.errors import KernelError
from litefuse.kernels import PACK
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.scales import QuantizationParameters
from tests.kernels.pack.calls import CALLS
from tests.kernels.pack.one_op import FORMS, run
from tests.litert.runtime.models import Graph, model

each_form = pytest.mark.parametrize("form", FORMS)
Scale = tuple[Sequence[float], Sequence[int], int]

OPTIONS: Mapping[str, Any] = {name: CALLS[name].options for name in ("MaxPool3D", "MaxPoolWithArgmax")} | {
    "ExtractImagePatches": {**CALLS["ExtractImagePatches"].options, "ksizes": [1, 3, 3, 1], "padding": "SAME"},
    "Roll": {},
}
# The last shift is beyond the size.
MORE: Mapping[str, list[npt.NDArray[Any]]] = {"Roll": [np.array([1, -7], np.int32), np.array([1, 2], np.int32)]}
SHAPES: Mapping[str, Sequence[int]] = {
    "MaxPool3D": (2, 3, 5, 4, 2),
    "MaxPoolWithArgmax": (3, 5, 4, 2),
    "ExtractImagePatches": (3, 5, 4, 2),
    "Roll": (3, 5, 4, 2),
}
HANDING_ON = [*SHAPES]


def interpreter_of(op: str, x: npt.NDArray[Any], scales: Sequence[Scale | None], form: str) -> Any:
    """An interpreter of one op whose first operand and first result have these scales, zero points and axes."""
    graph = Graph()
    operands = [graph.input("x", x.shape, x.dtype)]
    operands += [
        graph.tensor(f"more{n}", each.shape, each.dtype, value=each) for n, each in enumerate(MORE.get(op, []))
    ]
    results = [graph.output("y", x.shape, x.dtype)]
    if op == "MaxPoolWithArgmax":
        results.append(graph.output("positions", x.shape, np.int64))
    for index, each in zip((operands[0], results[0]), scales, strict=True):
        if each is not None:
            parameters = schema.QuantizationParametersT()
            parameters.scale, parameters.zeroPoint, parameters.quantizedDimension = each
            graph.tensors[index][0].quantization = parameters
    graph.custom(op, operands, results, OPTIONS[op])
    return Interpreter(model(graph), custom_ops=[PACK[op]] if form == "numpy" else None)


def outputs_of(interpreter: Any, x: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """The outputs for two calls with other memory between them, which must be the same."""
    found: list[list[npt.NDArray[Any]]] = []
    interpreter.allocate_tensors()
    for _ in range(2):
        interpreter.set_tensor(0, x)
        interpreter.invoke()
        found.append([interpreter.get_tensor(each["index"]) for each in interpreter.get_output_details()])
        for each in interpreter.get_output_details():
            interpreter.tensor(each["index"])()[...] = 77
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    return found[0]


@each_form
@pytest.mark.parametrize("op", HANDING_ON)
@pytest.mark.parametrize(
    ("dtype", "zero"), [("int8", -128), ("int8", 127), ("int8", 3), ("int8", 0), ("int16", 0), ("int16", -32768)]
)
def test_integers_are_what_the_op_makes_of_the_real_numbers(op: str, dtype: str, zero: int, form: str) -> None:
    limits = np.iinfo(dtype)
    x = np.random.default_rng(5).integers(limits.min, limits.max + 1, SHAPES[op]).astype(dtype)
    scale = QuantizationParameters(np.array([0.25], np.float32), np.array([zero]))
    kinds = [np.float32, np.int64][: 2 if op == "MaxPoolWithArgmax" else 1]
    expected = run(op, [scale.dequantize(x), *MORE.get(op, [])], kinds, OPTIONS[op])

    found = outputs_of(interpreter_of(op, x, [([0.25], [zero], 0)] * 2, form), x)

    assert found[0].dtype == dtype
    np.testing.assert_array_equal(scale.dequantize(found[0]), expected[0])
    np.testing.assert_array_equal(found[1:], expected[1:])


@each_form
@pytest.mark.parametrize("op", HANDING_ON)
@pytest.mark.parametrize(
    "scales",
    [
        [([0.5], [0], 0), ([0.25], [0], 0)],
        [([0.5], [0], 0), ([0.5], [1], 0)],
        [([0.5], [0], 0), None],
        [None, ([0.5], [0], 0)],
    ],
)
def test_other_scales_are_refused(op: str, scales: list[Scale | None], form: str) -> None:
    x = np.zeros(SHAPES[op], np.int8)
    with pytest.raises(KernelError, match="output 0 must have the scale and the zero point of input 0"):
        interpreter_of(op, x, scales, form).allocate_tensors()


@each_form
@pytest.mark.parametrize("op", HANDING_ON)
def test_scales_along_an_axis_are_refused(op: str, form: str) -> None:
    x = np.zeros(SHAPES[op], np.int8)
    axis = x.ndim - 1
    scales: list[Scale | None] = [([0.5, 0.25], [0, 1], axis)] * 2
    with pytest.raises(KernelError, match="one for the whole tensor"):
        interpreter_of(op, x, scales, form).allocate_tensors()


@each_form
@pytest.mark.parametrize("op", HANDING_ON)
@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan, math.inf, None])
def test_integers_without_a_scale_stand_for_themselves(op: str, scale: float | None, form: str) -> None:
    """As where a damaged file has a scale that is none."""
    x = np.random.default_rng(6).integers(-128, 128, SHAPES[op]).astype(np.int8)
    given: Scale | None = None if scale is None else ([scale], [3], 0)
    reference = x.astype(np.float32 if op == "MaxPool3D" else np.int32)
    kinds: Sequence[npt.DTypeLike] = [reference.dtype, np.int64][: 2 if op == "MaxPoolWithArgmax" else 1]
    expected = run(op, [reference, *MORE.get(op, [])], kinds, OPTIONS[op])
    for value, real in zip(outputs_of(interpreter_of(op, x, [given, given], form), x), expected, strict=True):
        np.testing.assert_array_equal(value, real)


@each_form
def test_a_zero_point_beyond_the_type(form: str) -> None:
    """Of a damaged file: what stands for 0 is the type's limit."""
    x = np.ones((1, 2, 2, 1), np.int8)
    (found,) = outputs_of(interpreter_of("ExtractImagePatches", x, [([1.0], [100_000], 0)] * 2, form), x)
    assert set(np.unique(found)) == {1, 127}


@each_form
@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_maxima_of_volumes_of_the_lowest_integers(dtype: str, form: str) -> None:
    x = np.full(SHAPES["MaxPool3D"], np.iinfo(dtype).min, dtype)
    (found,) = outputs_of(interpreter_of("MaxPool3D", x, [None, None], form), x)
    assert (found == np.iinfo(dtype).min).all()


@each_form
def test_means_of_integers_are_refused(form: str) -> None:
    with pytest.raises(KernelError, match=r"input (is of int8, not of|must be) float16, bfloat16, float32"):
        run("AvgPool3D", [np.zeros(SHAPES["MaxPool3D"], np.int8)], [np.int8], CALLS["AvgPool3D"].options, form=form)
