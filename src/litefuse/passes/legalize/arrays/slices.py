"""Strided slices, dimension by dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, maximum, minimum, select
from litefuse.passes.legalize.arrays.loops import around_axis
from litefuse.passes.legalize.decomposition import decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize

LITERT_RANK = 5
"""The highest rank that LiteRT's op supports."""

_INT32 = np.iinfo(np.int32)


@dataclass(frozen=True)
class AxisSlice:
    """The slice of one dimension; None for an omitted begin or end."""

    begin: MixedSize | None = None
    end: MixedSize | None = None
    stride: MixedSize = 1
    shrink: bool = False

    def box(self, b: Builder, size: MixedSize) -> tuple[MixedSize, MixedSize] | None:
        """Returns the begin and the size of a slice of stride 1; None if they are unknown, or for other strides.

        Args:
            b: Emits ops.
            size: The dimension's size.
        """
        begin, end, stride = self.begin, self.end, self.stride
        if self is WHOLE:
            return 0, size
        if self.shrink:
            assert begin is not None
            if isinstance(begin, int):
                return begin if begin >= 0 else size + begin, 1
            from_end = begin + b.scalar(size)
            return select(begin < 0, from_end, begin), 1
        if not isinstance(size, int) or not isinstance(begin, int | None) or not isinstance(end, int | None):
            return None
        if not isinstance(stride, int) or stride != 1:
            return None
        taken = range(size)[begin:end]
        return (taken.start, len(taken)) if taken else None

    def count(self, size: int | None) -> int | None:
        """Returns the size of the slice of a dimension, None if it is unknown."""
        begin, end, stride = self.begin, self.end, self.stride
        if self is WHOLE:
            return size
        if size is None:
            return None
        if isinstance(begin, int | None) and isinstance(end, int | None) and isinstance(stride, int):
            return len(range(size)[begin:end:stride])
        return None

    def extent(self, b: Builder, size: MixedSize) -> MixedSize:
        """Returns the size of the slice of a dimension; if it is unknown, emits the size of a slice of a range."""
        if self is WHOLE:
            return size
        known = self.count(size if isinstance(size, int) else None)
        return b.size(_take(b, b.range(size), [self]), 0) if known is None else known


WHOLE = AxisSlice()
"""All of a dimension."""


class Slices(NamedTuple):
    """A strided slice.

    Attributes:
        axes: The slice of each dimension.
        new_axes: The dimensions before which new ones of size 1 are inserted, repeated for each new one.
    """

    axes: Sequence[AxisSlice]
    new_axes: Sequence[int]

    @classmethod
    def of(cls, op: TensorFlowOp, b: Builder, rank: int) -> Slices:
        """Returns the slices of an op with begin, end and strides as operands 1 to 3, for a tensor of some rank.

        Raises:
            NotDecomposed: It has more slices than the tensor has dimensions, or their number is unknown.
        """
        (count,) = op.shape(1, 1)
        if count is None:
            raise NotDecomposed("how many slices it has is not known")
        names = ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
        masks = {name: int(op.attributes.get(f"{name}_mask", 0)) for name in names}
        axes: list[AxisSlice] = []
        new_axes: list[int] = []
        ellipsis_at = next((at for at in range(count) if masks["ellipsis"] >> at & 1), count)
        # The number of dimensions after the ellipsis.
        behind = sum(1 for at in range(ellipsis_at + 1, count) if not masks["new_axis"] >> at & 1)
        for at in range(count):
            if at == ellipsis_at:
                axes += [WHOLE] * (rank - behind - len(axes))
            elif masks["new_axis"] >> at & 1:
                new_axes.append(len(axes))
            elif masks["shrink_axis"] >> at & 1:
                axes.append(AxisSlice(_number(op, b, 1, at), shrink=True))
            else:
                first = None if masks["begin"] >> at & 1 else _number(op, b, 1, at)
                last = None if masks["end"] >> at & 1 else _number(op, b, 2, at)
                stride = _number(op, b, 3, at)
                everything = first is None and last is None and isinstance(stride, int) and stride == 1
                axes.append(WHOLE if everything else AxisSlice(first, last, stride))
        axes += [WHOLE] * (rank - len(axes))
        if len(axes) != rank:
            raise NotDecomposed(f"it has more slices than the {rank} dimensions")
        return cls(axes, new_axes)

    def taken(self, b: Builder, value: Tensor) -> Tensor:
        """Emits the slice of a tensor: at once, or if the rank is too high, one dimension after the other."""
        if len(self.axes) <= LITERT_RANK:
            value = _take(b, value, self.axes)
        else:
            for axis in reversed(range(len(self.axes))):
                value = _take_along(b, value, axis, self.axes[axis])
        return b.reshape(value, self.with_new_axes(b.sizes(value))) if self.new_axes else value

    def with_new_axes(self, sizes: Sequence[MixedSize]) -> list[MixedSize]:
        """Returns the sizes of the slice with those of the new axes inserted."""
        result = list(sizes)
        for axis in reversed(self.new_axes):
            result.insert(axis - sum(each.shrink for each in self.axes[:axis]), 1)
        return result


def _number(op: TensorFlowOp, b: Builder, operand: int, at: int) -> MixedSize:
    """Returns one of the numbers of begin, end or strides, an int if they are constants."""
    numbers = op.constants[operand]
    if numbers is None:
        return b.cast(b.element(op.operands[operand], at), "int32")
    return int(np.clip(numbers[at], _INT32.min, _INT32.max))


def _take_along(b: Builder, value: Tensor, axis: int, each: AxisSlice) -> Tensor:
    if each is WHOLE:
        return value
    rows, sizes = around_axis(b, value, axis)
    taken = _take(b, rows, [WHOLE, each, WHOLE])
    sizes[axis : axis + 1] = [] if each.shrink else [b.size(taken, 1)]
    return b.reshape(taken, sizes)


def _take(b: Builder, value: Tensor, slices: Sequence[AxisSlice]) -> Tensor:
    masks = {f"{name}_mask": 0 for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    shape: list[int | None] = []
    for axis, (each, size) in enumerate(zip(slices, value.shape, strict=True)):
        masks["begin_mask"] |= (each.begin is None) << axis
        masks["end_mask"] |= (each.end is None and not each.shrink) << axis
        masks["shrink_axis_mask"] |= each.shrink << axis
        if not each.shrink:
            shape.append(each.count(size))
    begin = [0 if slice_.begin is None else slice_.begin for slice_ in slices]
    end = [0 if slice_.end is None else slice_.end for slice_ in slices]
    operands = [b.vector(begin), b.vector(end), b.vector([slice_.stride for slice_ in slices])]
    return b.op("StridedSlice", [value, *operands], shape, value.dtype, **masks)


@decomposition("XlaDynamicSlice")
def dynamic_slice(op: TensorFlowOp, b: Builder) -> Tensor:
    """Slices from ``max(0, min(begin, size of the tensor - size of the slice))`` in each dimension.

    Definition: https://openxla.org/xla/operation_semantics#dynamicslice.
    """
    value = op.operands[0]
    rank = len(op.shape(0))
    for operand in (1, 2):
        if op.shape(operand, 1) not in ((rank,), (None,)):
            raise NotDecomposed(f"it has not one begin and one size for each of the {rank} dimensions")
    whole = b.sizes(value)
    begins, sizes = (b.numbers(op, operand, rank) for operand in (1, 2))
    starts = [maximum(minimum(begin, size - part), 0) for begin, size, part in zip(begins, whole, sizes, strict=True)]
    known = b.known(sizes)
    return b.op("Slice", [value, b.vector(starts), b.vector(sizes)], known, value.dtype)
