"""The difference between the outputs of two models."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Difference", "difference", "kind_of"]


class Difference(NamedTuple):
    """How far an output is from the expected one.

    Attributes:
        error: Of real and complex numbers, the largest difference, divided by the largest absolute expected value
            (where that is 0, the difference itself); of other values, the share that differs, from 0 to 1; infinite if
            they cannot be compared.
        problem: What else is wrong, such as a different shape; may be empty.
    """

    error: float
    problem: str = ""


def difference(found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> Difference:
    """Returns the difference of an output from the expected one.

    NaN is equal to NaN, and an infinity to one of the same sign. The dtypes may differ in width: a conversion may
    narrow and widen.
    """
    if found.shape != expected.shape:
        return Difference(float("inf"), f"its shape is {list(found.shape)}, not {list(expected.shape)}")
    kinds = kind_of(found.dtype), kind_of(expected.dtype)
    if kinds[0] != kinds[1]:
        return Difference(float("inf"), f"its dtype is {found.dtype}, not {expected.dtype}")
    if not expected.size:
        return Difference(0.0)
    if kinds[1] != "numbers":
        return _difference_of_others(found, expected)
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    return _difference_of_numbers(found.astype(wide), expected.astype(wide))


def kind_of(dtype: np.dtype[Any]) -> str:
    """Returns the kind of a dtype: real or complex numbers (V is bfloat16 and its kin), strings, integers, booleans."""
    return {"f": "numbers", "c": "numbers", "V": "numbers", "S": "O", "U": "O", "u": "i"}.get(dtype.kind, dtype.kind)


def _difference_of_others(found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> Difference:
    share = np.count_nonzero(found != expected) / expected.size
    return Difference(share, f"{share:.2%} of it differ" if share else "")


def _difference_of_numbers(found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> Difference:
    finite = np.isfinite(expected)
    if not np.array_equal(finite, np.isfinite(found)) or not np.array_equal(
        found[~finite], expected[~finite], equal_nan=True
    ):
        return Difference(float("inf"), "NaN or infinities are in other places")
    a, b = found[finite], expected[finite]
    if not b.size:
        return Difference(0.0)
    return Difference(float(np.abs(a - b).max()) / (float(np.abs(b).max()) or 1.0))
