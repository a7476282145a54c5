"""The difference between the outputs of two models, or of two calls of one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.litert.inputs.kinds import Kind

# An element may be off by as much as one of this part of the first quartile, whatever it is: sums of many numbers that
# cancel out are rounded so. Further from 0, a fault of the allowed error shows in the elements beside it as well.
_OF_OTHERS = 0.1
# Less than this is 0: kernels flush what is below the smallest normal number.
_NOTHING = 2.0**-100


def movement(before: npt.NDArray[Any], after: npt.NDArray[Any]) -> float:
    """Returns how far an output is from that of another call; a comparison of one that does not move says nothing.

    Of real and complex numbers, the largest difference, relative to the largest finite value; of other values, the
    share that differs; infinite if the shapes differ, or the non-finite values.
    """
    if before.shape != after.shape:
        return float("inf")
    if not before.size:
        return 0.0
    if before.dtype.kind not in "fcV" or after.dtype.kind not in "fcV":
        return float(np.count_nonzero(before != after) / before.size)
    wide = np.complex128 if before.dtype.kind == "c" else np.float64
    one, other = before.astype(wide), after.astype(wide)
    finite = np.isfinite(one)
    if not np.array_equal(one[~finite], other[~np.isfinite(other)], equal_nan=True) or not np.array_equal(
        finite, np.isfinite(other)
    ):
        return float("inf")
    one, other = one[finite], other[finite]
    largest = float(np.abs(one).max()) if one.size else 0.0
    return float(np.abs(one - other).max()) / (largest or 1.0) if one.size else 0.0


class Elements(NamedTuple):
    """How a result differs from the expected one.

    Attributes:
        error: The largest error of an element where both are numbers; infinite if only the expected one is.
        place: The element with this error, and its values.
        undefined: The first element that differs where the expected one is NaN or infinite; empty if there is none.
    """

    error: float
    place: str = ""
    undefined: str = ""


def elements(found: npt.NDArray[Any], expected: npt.NDArray[Any], spread: npt.NDArray[Any] | float = 0.0) -> Elements:
    """Compares two results of the same dtype and shape.

    An error is relative to the element, or to what the operations behind it were relative to, where that is more.

    Args:
        found: The result.
        expected: The expected one; what is neither real nor complex is to be equal.
        spread: See ``Rounding.spread``, for each element or all.
    """
    if not expected.size:
        return Elements(0.0)
    if expected.dtype.kind not in "fcV":
        errors = np.where((found != expected) & (np.asarray(spread) == 0), np.inf, 0.0)
        return Elements(float(errors.max()), _place(found, expected, errors))
    with np.errstate(all="ignore"):
        wide = np.complex128 if expected.dtype.kind == "c" else np.float64
        one, other = found.astype(wide), expected.astype(wide)
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        errors = np.abs(one - other) / np.maximum(np.maximum(np.abs(other), spread), _NOTHING)
    defined = np.isfinite(other)
    errors = np.where(defined & np.isfinite(one), errors, np.inf)
    errors = np.where(same | np.isinf(spread), 0.0, errors)
    undefined = np.where(defined, 0.0, errors > 0)
    errors = np.where(defined, errors, 0.0)
    return Elements(
        float(errors.max()),
        _place(found, expected, errors) if errors.any() else "",
        _place(found, expected, undefined) if undefined.any() else "",
    )


def up_to(count: npt.NDArray[Any], found: npt.NDArray[Any], expected: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns a result that is defined up to a count, with the expected elements beyond it.

    Args:
        count: How many are defined along a dimension of the result, for each element of the dimensions before it.
        found: The result.
        expected: The expected one, of the same shape.
    """
    axis = count.ndim
    places: npt.NDArray[np.int64] = np.arange(found.shape[axis], dtype=np.int64)
    defined = np.expand_dims(count, axis) > places
    return np.where(np.expand_dims(defined, tuple(range(axis + 1, found.ndim))), found, expected)


def _place(found: npt.NDArray[Any], expected: npt.NDArray[Any], errors: npt.NDArray[Any]) -> str:
    place = np.unravel_index(int(errors.argmax()), errors.shape)
    at = f" at {[int(axis) for axis in place]}" if place else ""
    return f"{_shown(found[place])} for {_shown(expected[place])}{at}"


def _shown(value: Any) -> str:
    return f"{value:.7g}" if isinstance(value, np.floating) else str(value)


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
    error = movement(expected, found)
    if kinds[1] != "numbers":
        return Difference(error, f"{error:.2%} of it differ" if error else "")
    return Difference(error, "NaN or infinities are in other places" if np.isinf(error) else "")


def difference_of_elements(
    found: npt.NDArray[Any],
    expected: npt.NDArray[Any],
    kind: Kind,
    tolerance: float,
    spread: npt.NDArray[Any] | float = 0.0,
) -> Difference:
    """Returns the difference of the worst element of an output from the expected one.

    Args:
        found: The output.
        expected: The expected one.
        kind: The kind of numbers of the inputs.
        tolerance: The allowed error, relative to the element, a tenth of the first quartile of all, or the spread.
        spread: How far rounding moves the elements, see ``Rounding.spread``.

    Returns:
        No difference within the tolerance, where the expected output is NaN or infinite, unless the kind is, and of
        numbers with fewer digits than float32.
    """
    if np.ndim(spread) == 0 and np.isinf(spread):
        return Difference(0.0)
    where = f"with {kind.name}, size {kind.size}"
    if found.shape != expected.shape or kind_of(found.dtype) != kind_of(expected.dtype):
        whole = difference(found, expected)
        return Difference(whole.error, f"{whole.problem}, {where}")
    if kind_of(expected.dtype) == "numbers" and expected.size:
        digits = expected.dtype.itemsize // (2 if expected.dtype.kind == "c" else 1)
        if digits < np.dtype(np.float32).itemsize:
            return Difference(0.0)
        sizes = np.abs(expected[np.isfinite(expected) & (expected != 0)])
        spread = np.maximum(spread, _OF_OTHERS * np.quantile(sizes, 0.25, method="lower") if sizes.size else 0.0)
        if digits > np.dtype(np.float32).itemsize:  # the model's numbers end earlier
            found = np.where(np.isfinite(found), found, expected)
    worst = elements(found, expected, spread)
    if worst.undefined and kind.undefined:
        return Difference(float("inf"), f"{worst.undefined}, {where}")
    return Difference(0.0) if worst.error <= tolerance else Difference(worst.error, f"{worst.place}, {where}")


def kind_of(dtype: np.dtype[Any]) -> str:
    """Returns the kind of a dtype: real or complex numbers (V is bfloat16 and its kin), strings, integers, booleans."""
    return {"f": "numbers", "c": "numbers", "V": "numbers", "S": "O", "U": "O", "u": "i"}.get(dtype.kind, dtype.kind)
