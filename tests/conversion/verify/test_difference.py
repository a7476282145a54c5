from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from litefuse.litert.inputs.drawer import Manner
from litefuse.litert.inputs.kinds import Kind
from litefuse.litert.results.difference import difference, difference_of_elements


@pytest.mark.parametrize(
    ("found", "expected", "error"),
    [
        ([1.0, 2.5], [1.0, 2.0], 0.25),
        ([1e-12], [0.0], 1e-12),
        ([1e-12, 0.0], [2e-12, 0.0], 0.5),
        ([math.nan, 1.0], [math.nan, 1.0], 0.0),
        ([math.inf, 1.0], [math.inf, 2.0], 0.5),
        ([math.nan], [math.nan], 0.0),
        ([], [], 0.0),
        ([1 + 1j], [1 - 1j], 2 / math.sqrt(2)),
    ],
)
def test_numbers_relative_to_the_largest(found: list[Any], expected: list[Any], error: float) -> None:
    result = difference(np.array(found), np.array(expected))
    assert result.error == pytest.approx(error)
    assert not result.problem


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([math.nan], [1.0]),
        ([1.0], [math.nan]),
        ([math.inf], [-math.inf]),
        ([math.inf], [math.nan]),
        ([3e38], [math.inf]),
    ],
)
def test_what_is_not_finite_in_other_places(found: list[float], expected: list[float]) -> None:
    result = difference(np.array(found), np.array(expected))
    assert result == (math.inf, "NaN or infinities are in other places")


def test_widths_do_not_matter_but_kinds_and_shapes() -> None:
    assert difference(np.ones(3, np.float32), np.ones(3, np.float64)).error == 0
    assert difference(np.ones(3, ml_dtypes.bfloat16), np.ones(3, np.float32)).error == 0
    assert difference(np.ones(3, np.int64), np.ones(3, np.uint8)).error == 0
    assert difference(np.ones(3, np.int32), np.ones(3)) == (math.inf, "its dtype is int32, not float64")
    assert difference(np.ones((3, 1)), np.ones(3)) == (math.inf, "its shape is [3, 1], not [3]")


def test_others_are_equal_or_not() -> None:
    texts = np.array([b"a", b"b"], object)
    assert difference(texts, texts).error == 0
    assert difference(texts, np.array([b"a", b"c"], object)) == (0.5, "50.00% of it differ")
    assert difference(np.array([True, True, True, False]), np.array([True] * 4)).error == 0.25
    assert difference(np.array([[1, 2]]), np.array([[1, 3]])).error == 0.5


KIND = Kind("numbers times 10", Manner(scale=10), 3)
LARGE = [1.0, 2.0, 1e6, 3.0]


@pytest.mark.parametrize(
    ("found", "expected", "spread", "dtype", "error"),
    [
        ([1.5, 2.0, 1e6, 3.0], LARGE, 0.0, "float32", 0.5),
        ([1.00005, 2.0, 1e6, 3.0], LARGE, 0.0, "float32", 0.0),  # within the tolerance
        ([1.5, 2.0, 1e6, 3.0], LARGE, [1e4, 0, 0, 0], "float32", 0.0),  # rounding moves it as far
        ([1.0, 2.0, 1e6, 3.0, 5e-6], [*LARGE, 0.0], 0.0, "float32", 0.0),  # a tenth of the first quartile is 0.1
        ([1.0, 2.0, 1e6, 3.0, 5e-5], [*LARGE, 0.0], 0.0, "float32", 5e-4),
        ([math.inf, 1.0], [1e39, 1.0], 0.0, "float64", 0.0),  # more than float32 holds
        ([math.inf, 1.0], [1e38, 1.0], 0.0, "float32", math.inf),
        ([1.0, 1.0], [math.inf, 1.0], 0.0, "float32", 0.0),
        ([2.0, 1.0], [1.0, 1.0], 0.0, "float16", 0.0),  # fewer digits
        ([2, 1], [1, 1], 0.0, "int32", math.inf),
        ([2, 1], [1, 1], [math.inf, 0.0], "int32", 0.0),
        ([2, 1], [1], math.inf, "int32", 0.0),  # rounding changes the shape
        ([], [], 0.0, "float32", 0.0),
    ],
)
def test_each_element(found: list[Any], expected: list[Any], spread: Any, dtype: str, error: float) -> None:
    one, other = (np.array(each, dtype) for each in (found, expected))
    result = difference_of_elements(one, other, KIND, 1e-4, np.array(spread))
    assert result.error == pytest.approx(error)
    assert result.problem.endswith(", with numbers times 10, size 3") == bool(error)


def test_elements_that_are_undefined_or_have_another_shape() -> None:
    nan, zero = np.array([math.nan, 1], np.float32), np.array([0, 1], np.float32)
    assert difference_of_elements(zero, nan, KIND, 1e-4).error == 0
    asked = difference_of_elements(zero, nan, KIND._replace(undefined=True), 1e-4)
    assert (asked.error, asked.problem) == (math.inf, "0 for nan at [0], with numbers times 10, size 3")
    other = difference_of_elements(zero[:1], nan, KIND, 1e-4)
    assert (other.error, other.problem) == (math.inf, "its shape is [1], not [2], with numbers times 10, size 3")
