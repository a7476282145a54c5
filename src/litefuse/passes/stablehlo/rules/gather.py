"""Reads windows of a tensor at computed positions, as gather and scatter compute them from their indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir
from litefuse.ir.tensors import Tensor, maximum, minimum
from litefuse.passes.stablehlo.translation import Result, Rules, Translation
from litefuse.passes.stablehlo.values import elements_value


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
        return self.sizes[axis] - self.window[axis]

    def numbers(self) -> list[npt.NDArray[Any]] | None:
        """Returns the components of all vectors, if the program knows them."""
        numbers = self.t.numbers(self.indices)
        if numbers is None:
            return None
        if self.vector_axis == numbers.ndim:
            return [numbers]
        return [np.take(numbers, i, self.vector_axis) for i in range(len(self.axes))]

    def starts(self) -> list[Tensor]:
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

    def clamped(self) -> list[Tensor]:
        """Returns ``starts``, moved so that each window ends within the tensor."""
        b, numbers = self.t.b, self.numbers()
        lasts = [self.last(axis) for axis in self.axes]
        if numbers is not None and all(isinstance(last, int) for last in lasts):
            return [
                b.constant(np.clip(component, 0, cast("int", last)).astype(np.int32), "int32")
                for component, last in zip(numbers, lasts, strict=True)
            ]
        return [maximum(minimum(start, b.scalar(last)), 0) for start, last in zip(self.starts(), lasts, strict=True)]

    def vectors(self, starts: Sequence[Tensor]) -> Tensor:
        """Returns the positions of all elements of all windows, ``[batch..., wide..., indexed]``."""
        b, batch, wide = self.t.b, self.batch(), self.wide
        dims: list[MixedSize] = [*batch, *(self.window[axis] for axis in wide)]
        components: list[ir.Value] = []
        ones: list[MixedSize] = [1]
        for axis, start in zip(self.axes, starts, strict=True):
            component = b.reshape(start, [*batch, *(ones * len(wide))]) if wide else start
            if axis in wide:
                component = component + self._count(len(batch) + wide.index(axis), dims)
            components.append(component)
        for _, walking in self.batching:
            position = walking - (walking > self.vector_axis)
            components.append(self._count(position, dims))
        return b.stack([b.broadcast(value, dims) for value in components], len(dims))

    def _count(self, axis: int, dims: Sequence[MixedSize]) -> Tensor:
        """Returns the numbers from 0 along one dimension."""
        size = dims[axis]
        after: list[MixedSize] = [1] * (len(dims) - axis - 1)
        return self.t.b.reshape(self.t.b.range(size), [size, *after])


def _gather(op: Any, t: Translation) -> Result:
    return _gathered(op, t, [int(size) for size in op.slice_sizes])


def _dynamic_gather(op: Any, t: Translation) -> Result:
    return _gathered(op, t, t.sizes(op.operands[2]))


def _gathered(op: Any, t: Translation, window: Sequence[MixedSize]) -> Result:
    """Translates a gather, https://openxla.org/stablehlo/spec#gather: positions outside are moved inside."""
    numbers = t.dialect.GatherDimensionNumbers(op.dimension_numbers)
    operand, indices = op.operands[:2]
    collapsed, batching = list(numbers.collapsed_slice_dims), list(numbers.operand_batching_dims)
    positions = Positions(
        t,
        indices,
        int(numbers.index_vector_dim),
        list(numbers.start_index_map),
        list(zip(batching, numbers.start_indices_batching_dims, strict=True)),
        t.dims(operand),
        window,
    )
    followed = _of_elements(op, t, positions)
    if followed is not None:
        return followed
    value = _within(t, t.value(operand), positions)
    offsets = list(numbers.offset_dims)
    shown = [axis for axis in range(len(window)) if axis not in collapsed and axis not in batching]
    rank = len(offsets) + len(positions.batch())
    # The origins of the result's dimensions: ("batch", i), or the dimension of the operand.
    waiting = iter(range(rank))
    wanted: list[tuple[str, int]] = [
        ("operand", shown[offsets.index(axis)]) if axis in offsets else ("batch", next(waiting)) for axis in range(rank)
    ]
    taken = _taken(t, value, positions)
    gathered, has = _gather_nd(t, value, positions) if taken is None else taken
    order = [has.index(origin) for origin in wanted if origin in has]
    rest = [origin for origin in has if origin not in wanted]  # of size 1, to be dropped
    gathered = t.b.transpose(gathered, [*order, *(has.index(origin) for origin in rest)])
    if len(order) == rank and not rest:
        return gathered
    dims = iter(t.b.sizes(gathered))
    return t.b.reshape(gathered, [next(dims) if origin in has else 1 for origin in wanted])


def _of_elements(op: Any, t: Translation, positions: Positions) -> Result | None:
    """Takes elements of a vector that is tracked, as shapes are read."""
    elements, numbers = t.elements(op.operands[0]), positions.numbers()
    if elements is None or numbers is None or elements.ndim != 1 or len(numbers) != 1 or positions.batching:
        return None
    if not (isinstance(positions.window[0], int) and positions.window[0] == 1):
        return None
    chosen = elements[np.clip(numbers[0], 0, len(elements) - 1).astype(int).reshape(-1)]
    shape = t.shape(op.results[0])
    if None in shape:
        return None
    return elements_value(t.b, chosen.reshape(cast("tuple[int, ...]", shape)), t.dtype(op.results[0]))


def _within(t: Translation, value: ir.Value, positions: Positions) -> ir.Value:
    """Cuts the tensor to the part that windows reach, in the dimensions in which they all begin at 0."""
    cut: dict[int, tuple[MixedSize, MixedSize | None, int]] = {}
    for axis, (size, part) in enumerate(zip(positions.sizes, positions.window, strict=True)):
        if axis not in positions.indexed and isinstance(part, int) and part != size:
            cut[axis] = (0, part, 1)
    return t.b.slices(value, cut) if cut else value


_Named = tuple[ir.Value, list[tuple[str, int]]]


def _taken(t: Translation, value: ir.Value, positions: Positions) -> _Named | None:
    """Takes whole slices along one dimension: GATHER."""
    b, batching = t.b, list(positions.batching)
    count = len(batching)
    together = all(pair == (i, i) for i, pair in enumerate(sorted(batching)))
    if len(positions.axes) != 1 or positions.wide or not together or positions.vector_axis < count:
        return None
    (axis,) = positions.axes
    if axis < count:
        return None
    (indices,) = positions.clamped()
    shape, of_indices = b.shape(value), b.shape(indices)
    result = [*shape[:axis], *of_indices[count:], *shape[axis + 1 :]]
    operands = [value, indices, b.constant(axis, "int32")]
    gathered = b.op("GatherV2", operands, result, b.dtype(value), batch_dims=count)
    has = [("batch", i) for i in range(count)] + [("operand", i) for i in range(count, axis)]
    has += [("batch", i) for i in range(count, len(of_indices))]
    return gathered, has + [("operand", i) for i in range(axis + 1, len(shape))]


def _gather_nd(t: Translation, value: ir.Value, positions: Positions) -> _Named:
    b, indexed = t.b, positions.indexed
    others = [axis for axis in range(len(positions.sizes)) if axis not in indexed]
    value = b.transpose(value, [*indexed, *others])
    vectors = positions.vectors(positions.clamped())
    shape = [*b.shape(vectors)[:-1], *b.shape(value)[len(indexed) :]]
    gathered = b.op("GatherNd", [value, vectors], shape, b.dtype(value), bad_indices_policy="")
    has = [("batch", i) for i in range(len(positions.batch()))]
    return gathered, has + [("operand", axis) for axis in (*positions.wide, *others)]


RULES: Rules = {"stablehlo.dynamic_gather": _dynamic_gather, "stablehlo.gather": _gather}
