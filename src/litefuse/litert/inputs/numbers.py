"""Arrays of random numbers, from Python's own generator: numpy's takes 7 MB and as long to load as the runtime."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["distinct", "normal", "uniform", "whole"]

_CHUNK = 1 << 14
# More numbers than this repeat after it: a prime, so that no two rows of an array begin alike.
_DISTINCT = (1 << 18) - 5


def distinct(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Returns the different numbers of an array, sorted."""
    # Without the counts, numpy would load its masked arrays, which takes as long as the rest of it.
    numbers, _ = np.unique(values.astype(np.float64), return_counts=True)
    return numbers


def normal(shape: Sequence[int], random: Random) -> npt.NDArray[np.float32]:
    """Draws numbers of the standard normal distribution.

    Source: Box and Muller, A Note on the Generation of Random Normal Deviates, 1958.
    """
    count = math.prod(shape)
    values = np.empty(min(count, _DISTINCT), np.float32)
    for start in range(0, values.size, _CHUNK):
        part = values[start : start + _CHUNK]
        pairs = (len(part) + 1) // 2
        words = np.frombuffer(random.randbytes(8 * pairs), np.uint32).reshape(2, pairs).astype(np.float32)
        first, second = (words + np.float32(0.5)) * np.float32(2**-32)
        radius, angle = np.sqrt(np.float32(-2) * np.log(first)), np.float32(2 * np.pi) * second
        part[:pairs] = radius * np.cos(angle)
        part[pairs:] = (radius * np.sin(angle))[: len(part) - pairs]
    return (values if count == values.size else np.resize(values, count)).reshape(shape)


def uniform(shape: Sequence[int], random: Random) -> npt.NDArray[np.float64]:
    """Draws numbers from 0 to less than 1."""
    words = np.frombuffer(random.randbytes(4 * math.prod(shape)), np.uint32)
    return (words.astype(np.float64) * 2.0**-32).reshape(shape)


def whole(low: int, high: int, shape: Sequence[int], random: Random) -> npt.NDArray[np.int64]:
    """Draws integers from ``low`` to ``high``, inclusive."""
    words: npt.NDArray[Any] = np.frombuffer(random.randbytes(8 * math.prod(shape)), np.uint64)
    return (words % np.uint64(high - low + 1)).astype(np.int64).reshape(shape) + low
