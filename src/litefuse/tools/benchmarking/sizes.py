"""The sizes and limits of drawn inputs that are tried in turn, until a model takes them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

from litefuse.litert.inputs.drawer import LEVELS
from litefuse.litert.inputs.graph import Tensor
from litefuse.tools.benchmarking.job import ModelJob

__all__ = ["tried_inputs"]

# The sizes of dynamic dimensions besides the first: tokens of a text, pixels of an image, what little models take.
_SIZES = (32, 224, 7, 1)
# With several dynamic dimensions, the larger sizes together may be too much.
_MOST_ELEMENTS = 1 << 24


def tried_inputs(inputs: Collection[Tensor], job: ModelJob) -> Iterator[tuple[int, int | None]]:
    """Yields sizes of dynamic dimensions, and upper bounds of integers, in the order in which they are tried.

    Args:
        inputs: The inputs of the signature.
        job: Whether inputs are given.
    """
    if job.inputs is not None:
        yield 1, None
        return
    sizes = _SIZES if any(None in each.shape[1:] for each in inputs) else _SIZES[:1]
    bounded = any(each.dtype is None or each.dtype.kind in "iuO" for each in inputs)
    fitting = [size for size in sizes if _elements(inputs, size) <= _MOST_ELEMENTS] or [_SIZES[-1]]
    for size in fitting:
        for limit in LEVELS if bounded else LEVELS[:1]:
            yield size, limit


def _elements(inputs: Collection[Tensor], size: int) -> int:
    return sum(
        math.prod((1 if axis == 0 else size) if each is None else each for axis, each in enumerate(tensor.shape))
        for tensor in inputs
    )
