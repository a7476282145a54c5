"""Floating point numbers that are known, followed through ops."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from litefuse.ir.ops.dims import unknown
from litefuse.ir.ops.facts import Op, Tensor, Undecided, array_of
from litefuse.ir.ops.numbers import MAX_NUMBERS, computed_numbers, followed_values

_NAMES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i1": np.bool_}


def tensor(value: Any, dtype: str = "f32") -> Tensor:
    """A tensor whose elements are known."""
    array: npt.NDArray[Any] = np.array(value, _NAMES[dtype])
    if dtype in {"f32", "f64"}:
        return Tensor(dtype, array.shape, numbers=array)
    return Tensor(dtype, array.shape, array_of([int(each) for each in array.reshape(-1)], array.shape))


def compute(name: str, *operands: Tensor, result: str = "f32", **attributes: Any) -> Any:
    return computed_numbers(Op(name, operands, [Tensor(result, None)], attributes))


CASES: list[tuple[Any, Any, str]] = [
    (compute("AddV2", tensor([0.1, 2]), tensor(0.2)), [np.float32(0.1) + np.float32(0.2), 2.2], "float32"),
    (compute("RealDiv", tensor(1, "f64"), tensor(3, "f64")), 1 / 3, "float64"),
    (compute("Sub", tensor(1.5), tensor(2)), -0.5, "float32"),
    (compute("Round", tensor([0.5, 1.5, -2.5])), [0, 2, -2], "float32"),
    (compute("FloorDiv", tensor(-7.5), tensor(2)), -4, "float32"),
    (compute("Sqrt", tensor(2, "f64")), 2**0.5, "float64"),
    (compute("RealDiv", tensor(1), tensor(0)), np.inf, "float32"),
    (compute("Greater", tensor([1.5, np.nan]), tensor(1), result="i1"), [True, False], "bool"),
    (compute("Cast", tensor([2.9, -2.9]), result="i32"), [2, -2], "int32"),
    (compute("Cast", tensor([0.0, 0.1]), result="i1"), [False, True], "bool"),
    (compute("Cast", tensor([7, 16777217], "i32")), [7, 16777216], "float32"),
    (compute("Cast", tensor(0.1, "f64")), np.float32(0.1), "float32"),
    (compute("Pack", tensor(1.5), tensor(2.5), axis=0), [1.5, 2.5], "float32"),
    (compute("GatherV2", tensor([1.5, 2.5]), tensor([1, 0], "i32"), tensor(0, "i32")), [2.5, 1.5], "float32"),
    (compute("SelectV2", tensor(True, "i1"), tensor(1.5), tensor(2.5)), 1.5, "float32"),
    (compute("Fill", tensor([2], "i32"), tensor(1.5)), [1.5, 1.5], "float32"),
]


@pytest.mark.parametrize(("found", "expected", "dtype"), CASES)
def test_numbers(found: Any, expected: Any, dtype: str) -> None:
    (numbers,) = found
    assert numbers.dtype == dtype
    assert np.array_equal(numbers, np.array(expected, dtype), equal_nan=dtype != "bool")


@pytest.mark.parametrize("value", [2.0**31, -(2.0**31) - 2**20, np.inf, np.nan])
def test_what_does_not_fit_an_integer_is_left_to_the_runtime(value: float) -> None:
    with pytest.raises(Undecided, match="too large"):
        compute("Cast", tensor(value), result="i32")


@pytest.mark.parametrize(
    ("value", "dtype", "followed"),
    [
        ([[1, 2, 3], [4, 5, 6]], "i32", [[1, 2, 3], [4, 5, 6]]),
        ([], "i32", []),
        (2.0, "f32", 2),
        (2.5, "f32", None),
        (np.inf, "f64", None),
        ([2.0], "f32", None),
    ],
)
def test_what_is_followed_as_integers(value: Any, dtype: str, followed: Any) -> None:
    values = followed_values(np.array(value, _NAMES[dtype]), dtype)
    assert (None if values is None else values.tolist()) == followed


def test_what_is_not_computed() -> None:
    open_size = Tensor("i32", (), array_of([unknown("batch", is_size=True)], []))
    assert compute("Cast", open_size) is None
    assert compute("AddV2", tensor(1.5), Tensor("f32", ())) is None
    assert compute("AddV2", tensor([1.5] * (MAX_NUMBERS + 1)), tensor(1)) is None
    assert compute("AddV2", tensor(1, "i32"), tensor(1, "i32"), result="i32") is None, (
        "integers have rules of their own"
    )
    assert compute("Exp", tensor(1.5)) is None, "its last digit is the library's own"
