"""Conversion of elements to carrier dtypes, for ops that move elements and support few dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.tensors import Tensor

# LiteRT's slices, concatenations and paddings all support float32, int32, int64 and uint8.
_TAKEN = frozenset({"float32", "int32", "int64", "uint8"})
_SAME_BITS = {"float64": "int64", "uint64": "int64", "uint32": "int32", "complex64": "int64"}
_SAME_BITS_NARROW = {"float16": "int16", "bfloat16": "int16", "uint16": "int16"}
_SAME_NUMBERS = {"bool": "uint8", "int8": "int32", "int16": "int32"}


def carried(b: Builder, value: Tensor) -> Tensor:
    """Emits the value in a dtype that these ops support; zeros remain zeros.

    Raises:
        NotDecomposed: There is none.
    """
    dtype = value.dtype
    if dtype in _TAKEN:
        return value
    if dtype in _SAME_BITS:
        return b.bitcast(value, _SAME_BITS[dtype])
    if dtype in _SAME_NUMBERS:
        return b.cast(value, _SAME_NUMBERS[dtype])
    if dtype in _SAME_BITS_NARROW:
        return b.cast(b.bitcast(value, "int16"), "int32")
    raise NotDecomposed(f"LiteRT's ops that move elements do not take {dtype}")


def carried_number(value: float, dtype: str) -> float:
    """Returns the result of ``carried`` for one number of a dtype."""
    if dtype in _SAME_BITS or dtype in _SAME_BITS_NARROW:
        array = np.array(value, ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
        return int(array.view(_SAME_BITS.get(dtype, "int16")))
    return value


def delivered(b: Builder, value: Tensor, dtype: str) -> Tensor:
    """Emits the inverse of ``carried`` for elements of a dtype."""
    if dtype in _SAME_BITS_NARROW:
        return b.bitcast(b.cast(value, "int16"), dtype)
    return b.cast(value, dtype) if dtype in _SAME_NUMBERS else b.bitcast(value, dtype)
