"""Random inputs for a function that stands alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.fusions.composite import TensorType

__all__ = ["random_inputs"]

_MAX_ELEMENTS = 1 << 25
_CHUNK = 1 << 14


def random_inputs(types: Sequence[TensorType], size: int, random: Random) -> list[npt.NDArray[Any]] | str:
    """One array for each type, unknown dimensions of size ``size``; or the reason why there can be none.

    Floats are normally distributed. Integers are small and not negative, so that they are valid positions in any
    dimension of the other arguments that they could index.

    Args:
        types: The types.
        size: The size of the unknown dimensions.
        random: Where the values come from. Python's own: numpy's takes 7 MB and as long to load as the runtime.
    """
    known = [dim for kind in types if kind.dtype.startswith(("float", "bfloat")) for dim in kind.shape or () if dim]
    bound = min(known, default=2)
    elements = sum(math.prod(size if dim is None else dim for dim in kind.shape or ()) for kind in types)
    if elements > _MAX_ELEMENTS:  # the inputs would take several times the memory of a conversion
        return f"its arguments have {elements / 1e6:.0f} million elements"
    arrays: list[npt.NDArray[Any]] = []
    for index, kind in enumerate(types):
        if kind.shape is None:
            return f"argument {index} is of unknown rank"
        shape = tuple(size if dim is None else dim for dim in kind.shape)
        if kind.dtype == "float32":
            arrays.append(_normal(shape, random))
        elif kind.dtype in {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"}:
            arrays.append(_integers(bound, shape, random).astype(kind.dtype))
        elif kind.dtype == "bool":
            arrays.append(_integers(2, shape, random).astype(np.bool_))
        else:
            return f"argument {index} is {kind}, for which there are no random values"
    return arrays


def _normal(shape: Sequence[int], random: Random) -> npt.NDArray[np.float32]:
    """Source: Box and Muller, A Note on the Generation of Random Normal Deviates, 1958."""
    values = np.empty(math.prod(shape), np.float32)
    for start in range(0, values.size, _CHUNK):
        part = values[start : start + _CHUNK]
        pairs = (len(part) + 1) // 2
        words = np.frombuffer(random.randbytes(8 * pairs), np.uint32).reshape(2, pairs).astype(np.float32)
        first, second = (words + np.float32(0.5)) * np.float32(2**-32)
        radius, angle = np.sqrt(np.float32(-2) * np.log(first)), np.float32(2 * np.pi) * second
        part[:pairs] = radius * np.cos(angle)
        part[pairs:] = (radius * np.sin(angle))[: len(part) - pairs]
    return values.reshape(shape)


def _integers(bound: int, shape: Sequence[int], random: Random) -> npt.NDArray[np.uint64]:
    words = np.frombuffer(random.randbytes(8 * math.prod(shape)), np.uint64)
    return (words % np.uint64(bound)).reshape(shape)
