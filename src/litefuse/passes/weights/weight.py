"""A constant that is computed from mapped bytes, block by block, when it is written."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Weight"]

_Array = npt.NDArray[Any]

# The bytes of a block: a transposition is fastest if source and result of a block fit in the cache.
_BLOCK_BYTES = 1 << 19
_COPY_BYTES = 1 << 23


@dataclass(frozen=True, eq=False)
class Weight:
    """A constant tensor: a view of mapped bytes, and its factors.

    Attributes:
        source: The values in the constant's shape, with any strides, perhaps unaligned.
        factors: The factors of the values, applied one after the other, in the arithmetic of their dtype; each
            broadcasts to the shape and has its rank.
    """

    source: _Array
    factors: tuple[_Array, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return self.source.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""
        return self.source.dtype

    @property
    def identity(self) -> Hashable:
        """A key that is equal for weights with the same bytes in the same order, times the same factors."""
        strides = tuple(stride if size > 1 else 0 for size, stride in zip(self.shape, self.source.strides, strict=True))
        factors = tuple((factor.shape, factor.tobytes()) for factor in self.factors)
        address: int = self.source.ctypes.data
        return address, self.shape, strides, str(self.dtype), factors

    @property
    def contents(self) -> Hashable:
        """A key that is equal for weights with the same bytes in a file, whatever their shapes."""
        address: int = self.source.ctypes.data
        if not self.factors:
            return address, _runs(self.shape, self.source.strides), self.dtype.itemsize
        return Weight(*self._in_shape([size for size in self.shape if size != 1])).identity

    @property
    def nbytes(self) -> int:
        """The number of bytes that it takes in a file."""
        return self.source.nbytes

    def transposed(self, permutation: Sequence[int]) -> Weight:
        """Returns the weight with its axes in another order, like ``numpy.transpose``."""
        source, *factors = (np.transpose(factor, permutation) for factor in (self.source, *self.factors))
        return Weight(source, tuple(factors))

    def reshaped(self, shape: Sequence[int]) -> Weight:
        """Returns the weight in another shape with as many elements; it is copied if it cannot be a view."""
        if [size for size in shape if size != 1] == [size for size in self.shape if size != 1]:
            return Weight(*self._in_shape(shape))
        if not self.factors and self.source.flags.c_contiguous:
            return Weight(self.source.reshape(shape))
        return Weight(self.value().reshape(shape))

    def _in_shape(self, shape: Sequence[int]) -> tuple[_Array, tuple[_Array, ...]]:
        """Returns views of the source and the factors in a shape that differs only by dimensions of size 1."""
        kept = [axis for axis, size in enumerate(self.shape) if size != 1]
        places = [place for place, size in enumerate(shape) if size != 1]
        source, *factors = (
            factor.reshape(
                [factor.shape[kept[places.index(place)]] if place in places else 1 for place in range(len(shape))]
            )
            for factor in (self.source, *self.factors)
        )
        return source, tuple(factors)

    def scaled(self, axis: int, factor: _Array) -> Weight:
        """Returns the weight multiplied by a vector along an axis, or by one number."""
        shape = [1] * self.source.ndim
        shape[axis] = factor.size
        return replace(self, factors=(*self.factors, factor.astype(self.dtype).reshape(shape)))

    def sums(self, axis: int, vector: _Array | None = None) -> _Array:
        """Returns the sum for each position along an axis, float32.

        Args:
            axis: The axis that stays; for a weight of rank 2, the sums are along the other one.
            vector: The factors of the weights along that other axis of a weight of rank 2.
        """
        if vector is None:
            vector = np.ones(1, self.dtype)
        total = np.zeros(self.shape[axis], np.float64)
        start = 0
        for block in self._arrays():
            moved = np.moveaxis(block, axis, 0)
            products = moved.reshape(len(moved), -1) * vector
            part = products.sum(axis=1, dtype=np.float64)
            if axis == 0:
                total[start : start + len(part)] = part
            else:
                total += part
            start += len(block)
        return total.astype(np.float32)

    def value(self) -> _Array:
        """Returns the whole constant, in memory."""
        return np.concatenate([block.reshape(-1) for block in self._arrays()]).reshape(self.shape)

    def blocks(self) -> Iterator[memoryview]:
        """Yields the constant's bytes, little-endian and in C order, in pieces."""
        if not self.factors and self.source.flags.c_contiguous:
            flat = self.source.reshape(-1).view(np.uint8)
            for start in range(0, len(flat), _COPY_BYTES):
                yield flat[start : start + _COPY_BYTES].data
            return
        for block in self._arrays():
            yield block.reshape(-1).view(np.uint8).data

    def _arrays(self) -> Iterator[_Array]:
        """Yields contiguous pieces along the first axis."""
        row_bytes = max(1, self.nbytes // max(1, len(self.source)))
        rows = max(1, _BLOCK_BYTES // row_bytes)
        for start in range(0, len(self.source), rows):
            # First copies the bytes in their order, then in the new order: the second copy works within the cache.
            block = np.ascontiguousarray(np.copy(self.source[start : start + rows], order="K"))
            for factor in self.factors:
                block *= factor[start : start + rows] if len(factor) > 1 else factor
            yield block


def _runs(shape: Sequence[int], strides: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Returns the sizes and strides of an array's dimensions, merged where elements follow each other evenly."""
    runs: list[tuple[int, int]] = []
    for size, stride in zip(shape, strides, strict=True):
        if runs and runs[-1][1] == size * stride:
            runs[-1] = (runs[-1][0] * size, stride)
        elif size != 1:
            runs.append((size, stride))
    return tuple(runs)
