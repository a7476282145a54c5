from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from litefuse.verify.difference import difference


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
