"""Outputs that are not the expected ones are told from those that are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from suites.comparing import compare

EXPECTED: Any = {"y": np.array([0.0, 100.0, np.inf, np.nan], np.float32)}


def message(actual: Any, expected: Any, rtol: float = 1e-3, atol: float = 0.0) -> str:
    return compare(actual, expected, rtol=rtol, atol=atol).message


def test_numbers_may_differ_relative_to_the_largest() -> None:
    near: Any = {"y": np.array([0.05, 100.05, np.inf, np.nan], np.float32)}
    assert message(near, EXPECTED) == ""
    assert compare(near, EXPECTED, rtol=1e-3, atol=0.0).error == pytest.approx(5e-4, rel=1e-3)
    assert "is off by 0.05 where its largest value is 100" in message(near, EXPECTED, rtol=1e-4)
    assert message(near, EXPECTED, rtol=1e-4, atol=0.1) == ""


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([0, 100, -np.inf, np.nan], "infinities or NaN"),
        ([0, 100, np.inf, 0], "infinities or NaN"),
        ([np.nan, 100, np.inf, np.nan], "is off by nan"),
        ([np.inf, 100, np.inf, np.nan], "is off by inf"),
        ([0, 100, np.inf], "the shape (3,), not (4,)"),
        ([[0, 100, np.inf, np.nan]], "the shape (1, 4), not (4,)"),
    ],
)
def test_other_numbers_are_wrong(values: list[Any], words: str) -> None:
    assert words in message({"y": np.array(values, np.float32)}, EXPECTED)


def test_another_dtype_is_wrong() -> None:
    assert message({"y": np.float64(1)}, {"y": np.float32(1)}) == "output y has the dtype float64, not float32"


def test_integers_and_strings_are_equal() -> None:
    assert message({"y": np.array([1, 2])}, {"y": np.array([1, 3])}, atol=5.0) == "output y differs in 1 of 2 elements"
    assert message({"y": np.array([True])}, {"y": np.array([False])}, atol=5.0) != ""
    words = np.array([b"a", b"b"], object)
    assert message({"y": words}, {"y": np.array(["a", "b"], object)}) == ""
    assert "not" in message({"y": words}, {"y": words[::-1]})


def test_what_is_random_has_its_shape_and_dtype() -> None:
    random = float("inf")
    assert message({"y": np.float32(1)}, {"y": np.float32(2)}, atol=random) == ""
    assert message({"y": np.array([1])}, {"y": np.array([2])}, atol=random) == ""
    assert message({"y": np.float64(1)}, {"y": np.float32(2)}, atol=random) != ""
    assert message({"y": np.zeros(2)}, {"y": np.zeros(3)}, atol=random) != ""


def test_an_output_that_is_missing_is_wrong() -> None:
    assert message({"z": np.zeros(1)}, {"y": np.zeros(1)}) == "has no output y, but z"
    assert message({"y": np.zeros(1), "z": np.zeros(1)}, {"y": np.zeros(1)}) == ""
