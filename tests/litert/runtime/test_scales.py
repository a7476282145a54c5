"""Scales and zero points of tensors, as kernels get them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.scales import QuantizationParameters, dequantized, is_same_scale, quantized
from tests.litert.runtime.models import Graph, model


class Seen(CustomOp):
    """Keeps what it is given."""

    op_name = "Seen"
    specs: ClassVar[list[TensorSpec]] = []

    def prepare(self, *inputs: TensorSpec) -> TensorSpec:
        Seen.specs[:] = inputs
        return TensorSpec((1,), np.float32)

    def invoke(self, inputs: Any, outputs: Any) -> None:
        outputs[0][...] = 0


def given(
    scales: Sequence[float], zeros: Sequence[int], axis: int = 0, dtype: Any = np.int8
) -> QuantizationParameters | None:
    """What a kernel gets of a tensor ``[2, 3]`` with these parameters."""
    graph = Graph()
    x = graph.input("x", [2, 3], dtype)
    parameters = schema.QuantizationParametersT()
    parameters.scale, parameters.zeroPoint, parameters.quantizedDimension = scales, zeros, axis
    graph.tensors[x][0].quantization = parameters
    graph.custom("Seen", [x], [graph.output("y", [1])])
    Interpreter(model(graph), custom_ops=[Seen]).allocate_tensors()
    return Seen.specs[0].quantization


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.uint8])
def test_a_scale(dtype: Any) -> None:
    found = given([0.5], [7], dtype=dtype)
    assert found is not None
    assert (found.scale, found.zero_point, found.axis) == (0.5, 7, 0)


def test_scales_of_slices() -> None:
    found = given([0.5, 0.25, 1], [1, 2, 3], axis=1)
    assert found is not None
    assert (found.scales.tolist(), found.zero_points.tolist(), found.axis) == ([0.5, 0.25, 1], [1, 2, 3], 1)


@pytest.mark.parametrize("scale", [0.0, -0.5, math.nan, math.inf, -math.inf])
def test_scales_that_are_none(scale: float) -> None:
    assert given([scale], [0]) is None
    assert given([0.5, scale], [0, 0]) is None


def test_floating_point_has_no_scale() -> None:
    assert given([0.5], [0], dtype=np.float32) is None


def test_numbers_that_are_none_or_infinite() -> None:
    scale = QuantizationParameters(np.array([0.5], np.float32), np.array([-3]))
    reals = np.array([math.nan, math.inf, -math.inf, 1e38, 0.25, 0.75, -0.25], np.float32)
    np.testing.assert_array_equal(scale.quantize(reals, np.int8), [-3, 127, -128, 127, -3, -1, -3])
    beyond = QuantizationParameters(np.array([1e-45], np.float32), np.array([300]))
    np.testing.assert_array_equal(beyond.quantize(np.array([math.nan, -1], np.float32), np.int8), [127, -128])


@pytest.mark.parametrize("scale", [0.0, -0.5, math.nan, math.inf])
def test_values_of_tensors_whose_scale_is_none_are_left(scale: float) -> None:
    detail = {"quantization": (scale, 3), "dtype": np.int8}
    integers = np.array([1, 2], np.int8)
    assert dequantized(integers, detail) is integers
    reals = np.array([1.5])
    assert quantized(reals, detail) is reals


def test_the_same_scale() -> None:
    def parameters(*scales: float, zero: int = 0) -> QuantizationParameters:
        return QuantizationParameters(np.array(scales, np.float32), np.full(len(scales), zero))

    assert is_same_scale(None, None)
    assert is_same_scale(parameters(0.1), parameters(0.1))
    assert not is_same_scale(parameters(0.1), None)
    assert not is_same_scale(parameters(0.1), parameters(0.2))
    assert not is_same_scale(parameters(0.1), parameters(0.1, zero=1))
    assert not is_same_scale(parameters(0.1, 0.2), parameters(0.1, 0.2))
