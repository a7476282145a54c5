"""Scales of the integer LSTM's tensors: TensorFlow's rules (operator_property.cc of its quantizer)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.litert.export.editor import Scale

__all__ = ["LARGEST_CELL", "asymmetric", "cell_scale", "quantized", "symmetric"]

# The scale of what is zero everywhere.
_OF_ZERO = 1.0
# The fault `cell-state-of-other-ranges`: the kernel has tanh of states between these powers of two alone.
_LEAST_EXPONENT = 0
#: The largest absolute value of a cell state that LiteRT has a kernel for.
LARGEST_CELL = 64.0


def asymmetric(least: float, largest: float) -> Scale:
    """Returns the scale of int8 for a range, which is widened to contain zero."""
    least, largest = min(least, 0.0), max(largest, 0.0)
    if least == largest:
        return Scale(_OF_ZERO)
    step = float(np.float32((largest - least) / 255))
    return Scale(step, int(np.clip(round(-128 - least / step), -128, 127)))


def symmetric(largest: float, bits: int) -> Scale:
    """Returns the scale of integers around zero.

    Args:
        largest: The largest absolute value.
        bits: 8 or 16.
    """
    return Scale(float(np.float32(largest / (2 ** (bits - 1) - 1))) if largest else _OF_ZERO)


def cell_scale(largest: float) -> Scale:
    """Returns the scale of a cell state, int16 around zero: a power of two, by whose exponent LiteRT shifts.

    Args:
        largest: The largest absolute value, at most ``LARGEST_CELL``.
    """
    return Scale(2.0 ** (max(math.ceil(math.log2(largest)) if largest else 0, _LEAST_EXPONENT) - 15))


def quantized(value: npt.NDArray[np.float32], scale: Scale, dtype: type[Any]) -> npt.NDArray[Any]:
    """Returns a value as integers, those of weights between the negative and the positive largest."""
    limit = np.iinfo(dtype).max
    steps = np.rint(value.astype(np.float64) / scale.scale)
    return np.clip(steps, -limit, limit).astype(dtype)
