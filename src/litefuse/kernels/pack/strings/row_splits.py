"""Checks of row splits: the offsets at which the rows of a ragged tensor begin and end in its values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError

if TYPE_CHECKING:
    from litefuse.litert.runtime.custom_op import TensorSpec

__all__ = ["check_row_splits", "check_row_splits_spec"]


def check_row_splits_spec(name: str, splits: TensorSpec) -> int:
    """Checks the type of row splits, and returns the number of rows.

    Raises:
        KernelError: They are not a vector of at least one int32 or int64.
    """
    if splits.dtype.name not in ("int32", "int64"):
        raise KernelError(f"{name} must be int32 or int64, not {splits.dtype}")
    if splits.shape is None or len(splits.shape) != 1 or splits.shape[0] < 1:
        raise KernelError(f"{name} must be of rank 1 with one element or more, not {splits.shape}")
    return splits.shape[0] - 1


def check_row_splits(name: str, splits: npt.NDArray[Any], size: int) -> None:
    """Checks that row splits begin with 0, do not decrease, and end with the number of values.

    Definition: https://www.tensorflow.org/api_docs/python/tf/RaggedTensor#row_partitioning.

    Raises:
        KernelError: They do not.
    """
    if splits[0] != 0:
        raise KernelError(f"{name} begins with {splits[0]}, not 0")
    if splits[-1] != size:
        raise KernelError(f"{name} ends with {splits[-1]}, not with {size}, the number of what it splits")
    falls = np.flatnonzero(splits[1:] < splits[:-1])
    if len(falls):
        at = falls[0]
        raise KernelError(f"{name} falls from {splits[at]} to {splits[at + 1]} after position {at}")
