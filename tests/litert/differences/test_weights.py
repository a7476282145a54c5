"""Comparison of constants, number by number."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from ai_edge_litert import schema_py_generated as schema

import litefuse
from litefuse.litert.differences import weights as module
from litefuse.litert.differences.changes import WeightChange
from tests.litert.differences.edited import edited
from tests.litert.runtime.models import Graph, model


def constant(
    values: npt.ArrayLike,
    dtype: Any = np.float32,
    *,
    scales: list[float] | None = None,
    zeros: list[int] | None = None,
    axis: int = 0,
    packed: bytes | None = None,
) -> bytes:
    """A model that reads a constant; one of 4-bit numbers is given as it is packed."""
    array = np.asarray(values)
    graph = Graph()
    x = graph.input("x", array.shape)
    w = graph.tensor("net/a/w", array.shape, "INT8" if packed is not None else dtype, value=array)
    graph.builtin("ADD", [x, w], [graph.output("net/a/Add", array.shape)])

    def change(loaded: Any) -> None:
        tensor = loaded.subgraphs[0].tensors[w]
        if scales is not None:
            tensor.quantization = schema.QuantizationParametersT()
            tensor.quantization.scale, tensor.quantization.zeroPoint = scales, zeros or [0] * len(scales)
            tensor.quantization.quantizedDimension = axis
        if packed is not None:
            tensor.type, loaded.buffers[1].data = schema.TensorType.INT4, list(packed)

    return edited(model(graph), change)


def compared(before: bytes, after: bytes) -> WeightChange | None:
    found = litefuse.diff(before, after).weights
    assert len(found) <= 1
    return found[0] if found else None


def test_numbers() -> None:
    found = compared(constant([1.0, -4.0, 2.0]), constant([1.0, -4.5, 2.25]))
    assert found == WeightChange(
        *("net/a/w", "net/a", "float32", "float32", 3, 2, 0.5, 0.125),
        before=(1.0, -4.0, 2.0),
        after=(1.0, -4.5, 2.25),
    )


def test_axes_and_sizes_are_shown() -> None:
    difference = litefuse.diff(constant([0, 2, 1], np.int32), constant([0, 1, 2], np.int32))
    assert difference.weights[0].before == (0, 2, 1)
    assert difference.to_json()["weights"][0]["after"] == [0, 1, 2]
    assert "Small constants: 1 of 1 differ\n  net/a: [0, 2, 1] -> [0, 1, 2]" in str(difference)
    longer = litefuse.diff(constant([0, 2, 1], np.int32), constant([4], np.int32))
    assert "  net/a: [0, 2, 1] -> [4]" in str(longer)
    many = litefuse.diff(constant(range(9), np.int32), constant([0] * 9, np.int32))
    assert (many.weights[0].before, many.weights[0].differing) == (None, 8)


def test_integers_beyond_float64() -> None:
    found = compared(constant([2**53, 1], np.int64), constant([2**53 + 1, 1], np.int64))
    assert found is not None
    assert (found.differing, found.elements) == (1, 2)


def test_infinities_and_nan() -> None:
    inf, nan = math.inf, math.nan
    assert compared(constant([nan, inf, 0.0]), constant([nan, inf, -0.0])) is None
    found = compared(constant([nan, 2.0]), constant([1.0, 2.0]))
    assert found is not None
    assert (found.differing, found.max_difference, found.relative) == (1, inf, inf)
    difference = litefuse.diff(constant([nan, 2.0]), constant([1.0, 2.0]))
    assert difference.to_json()["weights"][0]["max_difference"] is None


def test_dtypes_of_the_same_numbers() -> None:
    exact = [0.5, -2.0, 1.25]
    for dtype in (np.float16, np.float64, ml_dtypes.bfloat16):
        found = litefuse.diff(constant(exact), constant(exact, dtype))
        assert (found.weights, found.same_weights) == ((), 1)
        assert "tensors" in found.categories
    found = compared(constant([1.0, 0.1]), constant([1.0, 0.1], np.float16))
    assert found is not None
    assert (found.dtype_after, found.differing) == ("float16", 1)
    assert found.max_difference == pytest.approx(2.44e-5, rel=1e-2)


def test_quantized_numbers() -> None:
    real = np.array([[1.0, -2.0], [10.0, 3.0]])
    rows = constant([[10, -20], [20, 6]], np.int8, scales=[0.1, 0.5])
    found = compared(constant(real), rows)
    assert found is not None
    assert found.max_difference == pytest.approx(0, abs=1e-6)
    assert found.relative == pytest.approx(0, abs=1e-7)
    columns = compared(constant(real), constant([[10, -4], [100, 6]], np.int8, scales=[0.1, 0.5], axis=1))
    assert columns is not None
    assert columns.max_difference == pytest.approx(0, abs=1e-6)
    wrong = compared(constant(real), constant([[10, -20], [20, 6]], np.int8, scales=[0.1, 0.5], axis=1))
    assert wrong is not None
    assert wrong.max_difference == pytest.approx(8)
    zero = compared(constant([1.0, 2.0]), constant([12, 14], np.uint8, scales=[0.5], zeros=[10]))
    assert zero is None


def test_numbers_of_four_bits() -> None:
    real = constant([1.0, -8.0, 7.0])
    same = constant([0, 0, 0], packed=bytes([0x81, 0x07]), scales=[1.0])
    assert compared(real, same) is None
    found = compared(real, constant([0, 0, 0], packed=bytes([0x81, 0x05]), scales=[1.0]))
    assert found is not None
    assert (found.dtype_after, found.differing, found.max_difference) == ("int4", 1, 2.0)


def test_chunks_are_parts_of_one_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    real = np.arange(24.0).reshape(2, 3, 4)
    integers = (real * np.array([1, 2, 4]).reshape(1, 3, 1)).astype(np.int8)
    before, after = constant(real), constant(integers, np.int8, scales=[1.0, 0.5, 0.25], axis=1)
    assert compared(before, after) is None
    monkeypatch.setattr(module, "_CHUNK", 2)
    assert compared(before, after) is None
    found = compared(before, constant(integers + 1, np.int8, scales=[1.0, 0.5, 0.25], axis=1))
    assert found is not None
    assert (found.differing, found.max_difference) == (24, 1.0)


def test_strings() -> None:
    before, after = constant([b"a", b"bc"], "STRING"), constant([b"a", b"bd"], "STRING")
    found = compared(before, after)
    assert found is not None
    assert (found.differing, found.elements, found.max_difference) == (1, 2, None)


def test_what_cannot_be_compared() -> None:
    found = compared(constant([1.0, 2.0]), constant([1.0, 2.0, 3.0]))
    assert found is not None
    assert (found.differing, found.problem) == (None, "3 numbers instead of 2")
    scaled = compared(constant([1.0, 2.0]), constant([1, 2], np.int8, scales=[1.0, 1.0, 1.0]))
    assert scaled is not None
    assert scaled.problem == "3 scales along axis 0 do not fit the shape"
    assert "3 scales along axis 0" in str(
        litefuse.diff(constant([1.0, 2.0]), constant([1, 2], np.int8, scales=[1.0] * 3))
    )
