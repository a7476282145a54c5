"""Sums of int16 whose scales are powers of two: LiteRT has a form of its own for them, and refuses most of these sums.

Its kernels of ADD and SUB take that form where the scales of both operands and of the result are powers of two, or as
good as that, such as those of ranges that end at 1; then an operand must have the scale of the result.
"""

from __future__ import annotations

import math

import numpy as np

from litefuse.conversion.quantization.calibration import Ranges

__all__ = ["avoid_powers_of_two"]

# How near the logarithm of a scale is to a whole number for LiteRT (tflite/kernels/kernel_util.cc, ``CheckedLog2``),
# and a little more.
_NEAR = 2e-3
_STEPS = 2**15 - 1
# What ranges are widened by, which costs a hundredth of a bit.
_WIDER = np.float32(1.01)


def avoid_powers_of_two(ranges: Ranges) -> Ranges:
    """Returns ranges in which those whose scale would be a power of two are a little wider.

    All tensors, because the scale of a sum may be that of a later op, or of an earlier one.
    """
    return {
        name: {end: value * _WIDER for end, value in each.items()}
        if _is_power(float(np.abs([*each.values()]).max()))
        else each
        for name, each in ranges.items()
    }


def _is_power(largest: float) -> bool:
    if not largest or not math.isfinite(largest):
        return False
    logarithm = math.log2(largest / _STEPS)
    return abs(logarithm - round(logarithm)) < _NEAR
