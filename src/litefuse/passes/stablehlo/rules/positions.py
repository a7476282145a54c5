"""Positions in a tensor, as gather and scatter compute them from their indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir
from litefuse.passes.stablehlo.translation import Translation

__all__ = ["Positions"]


@dataclass(frozen=True)
class Positions:
    """The positions of windows in a tensor: one for each index vector.

    Attributes:
        t: The translation.
        indices: The value of the program that holds the index vectors.
        vector_axis: Its dimension that the vectors lie along; its rank if each vector is a single number.
        axes: The dimension of the tensor for each component of a vector.
        batching: Pairs of batching dimensions, of the tensor and of the indices.
        sizes: The sizes of the tensor.
        window: The size of a window in each dimension of the tensor.
    """

    t: Translation
    indices: ir.Value
    vector_axis: int
    axes: Sequence[int]
    batching: Sequence[tuple[int, int]]
    sizes: Sequence[MixedSize]
    window: Sequence[MixedSize]

    @property
    def indexed(self) -> list[int]:
        """The dimensions of the tensor in which windows may begin at positions other than 0."""
        return [*self.axes, *(axis for axis, _ in self.batching)]

    @property
    def wide(self) -> list[int]:
        """Those of them along which a window has more than one element."""
        return sorted(axis for axis in self.axes if not (isinstance(self.window[axis], int) and self.window[axis] == 1))

    def batch(self) -> list[MixedSize]:
        """Returns the sizes of the indices without the dimension of the vectors: one window each."""
        return [size for axis, size in enumerate(self.t.dims(self.indices)) if axis != self.vector_axis]

    def last(self, axis: int) -> MixedSize:
        """Returns the last position at which a window can begin."""
        return self.t.b.dims("Sub", self.sizes[axis], self.window[axis])

    def numbers(self) -> list[npt.NDArray[Any]] | None:
        """Returns the components of all vectors, if the program knows them."""
        numbers = self.t.numbers(self.indices)
        if numbers is None:
            return None
        if self.vector_axis == numbers.ndim:
            return [numbers]
        return [np.take(numbers, i, self.vector_axis) for i in range(len(self.axes))]

    def starts(self) -> list[ir.Value]:
        """Returns the components of all vectors, int32 and in the shape of ``batch``."""
        b, value = self.t.b, self.t.value(self.indices)
        if b.dtype(value) != "int32":
            value = b.cast(value, "int32")
        if self.vector_axis == len(b.shape(value)):
            return [value]
        batch = self.batch()
        return [
            b.reshape(b.slice(value, self.vector_axis, i, i + 1) if len(self.axes) > 1 else value, batch)
            for i in range(len(self.axes))
        ]

    def clamped(self) -> list[ir.Value]:
        """Returns ``starts``, moved so that each window ends within the tensor."""
        b, numbers = self.t.b, self.numbers()
        lasts = [self.last(axis) for axis in self.axes]
        if numbers is not None and all(isinstance(last, int) for last in lasts):
            return [
                b.constant(np.clip(component, 0, cast("int", last)).astype(np.int32), "int32")
                for component, last in zip(numbers, lasts, strict=True)
            ]
        return [
            b.binary("Maximum", b.binary("Minimum", start, b.scalar(last)), 0)
            for start, last in zip(self.starts(), lasts, strict=True)
        ]

    def vectors(self, starts: Sequence[ir.Value]) -> ir.Value:
        """Returns the positions of all elements of all windows, ``[batch..., wide..., indexed]``."""
        b, batch, wide = self.t.b, self.batch(), self.wide
        dims: list[MixedSize] = [*batch, *(self.window[axis] for axis in wide)]
        components: list[ir.Value] = []
        ones: list[MixedSize] = [1]
        for axis, start in zip(self.axes, starts, strict=True):
            component = b.reshape(start, [*batch, *(ones * len(wide))]) if wide else start
            if axis in wide:
                component = b.binary("AddV2", component, self._count(len(batch) + wide.index(axis), dims))
            components.append(component)
        for _, walking in self.batching:
            position = walking - (walking > self.vector_axis)
            components.append(self._count(position, dims))
        return b.stack([b.broadcast(value, dims) for value in components], len(dims))

    def _count(self, axis: int, dims: Sequence[MixedSize]) -> ir.Value:
        """Returns the numbers from 0 along one dimension."""
        size = dims[axis]
        after: list[MixedSize] = [1] * (len(dims) - axis - 1)
        return self.t.b.reshape(self.t.b.range(size), [size, *after])
