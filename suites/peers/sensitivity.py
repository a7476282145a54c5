"""How far outputs of TensorFlow move with the last digits of its inputs: no converter can be closer to it than that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from suites.cases import Arrays

# An output that moves by more than this is not ill-conditioned, but of another kind: a step, or noise.
_LARGEST = 1e-3
_MOST_OUTLIERS = 1e-3


def moved_by_a_digit(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns an array of float32 with each number replaced by the next one above or below; any other as it is."""
    if array.dtype != np.float32:
        return array
    signs = np.random.default_rng(0).standard_normal(array.shape)
    return np.nextafter(array, np.copysign(np.inf, signs, dtype=np.float32))


def tolerances(expected: Arrays, moved: Arrays, rtol: float, atol: float) -> tuple[float, float]:
    """Returns the absolute tolerance, and the share of elements that may be off.

    Args:
        expected: The outputs.
        moved: Those for inputs that have been moved by a digit.
        rtol: The tolerance relative to the largest absolute value of an output.
        atol: The absolute tolerance.
    """
    outliers = 0.0
    for name, value in expected.items():
        other = moved[name]
        if np.shape(value) != np.shape(other) or value.dtype.kind != "f" or not value.size:
            continue
        error = np.abs(value.astype(np.float64) - other)
        scale = float(np.abs(value).max())
        share = float(np.mean(error > rtol * scale + atol))
        if not np.isfinite(error).all() or not share:
            continue
        if error.max() <= _LARGEST * scale:  # such as what is solved for
            atol = max(atol, 2 * float(error.max()))
        elif share <= _MOST_OUTLIERS:  # such as what is truncated
            outliers = max(outliers, 4 * share)
    return atol, outliers
