"""How far an output moves between calls: a comparison of an output that does not move says nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["movement"]


def movement(before: npt.NDArray[Any], after: npt.NDArray[Any]) -> float:
    """Returns how far an output is from that of another call.

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
