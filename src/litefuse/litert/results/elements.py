"""The errors of a result's elements."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Elements", "elements"]

# Less than this is 0: kernels flush what is below the smallest normal number.
_NOTHING = 2.0**-100


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


def _place(found: npt.NDArray[Any], expected: npt.NDArray[Any], errors: npt.NDArray[Any]) -> str:
    place = np.unravel_index(int(errors.argmax()), errors.shape)
    at = f" at {[int(axis) for axis in place]}" if place else ""
    return f"{_shown(found[place])} for {_shown(expected[place])}{at}"


def _shown(value: Any) -> str:
    return f"{value:.7g}" if isinstance(value, np.floating) else str(value)
