"""``StridedSlice`` with more than LiteRT's op takes: dimensions, new axes, an ellipsis; its gradient and its update."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from litefuse.decompositions.along_axis import around_axis
from litefuse.decompositions.carrier import carried, delivered
from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder, Dim
    from litefuse.engine.mlir import ir

__all__ = ["StridedSlice", "StridedSliceGradient", "StridedSliceUpdate"]

_LITERT_RANK = 5
_INT32 = np.iinfo(np.int32)


@dataclass(frozen=True)
class _Slice:
    """What is taken of one dimension; None for a begin or end that is left out."""

    begin: Dim | None = None
    end: Dim | None = None
    stride: Dim = 1
    shrink: bool = False


_WHOLE = _Slice()


class StridedSlice(Decomposition):
    """LiteRT's op for up to five dimensions, else one dimension after the other; new axes by a reshape.

    Definition: https://www.tensorflow.org/api_docs/python/tf/strided_slice.
    """

    names = ("StridedSlice",)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        slices, new_axes = _dense(op, b, len(op.shape(0)))
        taken = _sliced(b, carried(b, op.operands[0]), slices, new_axes)
        return delivered(b, taken, op.types[0].dtype)


class StridedSliceGradient(Decomposition):
    """The gradient where the slice was, zeros around it; for slices without steps.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/StridedSliceGrad.
    """

    names = ("StridedSliceGrad",)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        (rank,) = op.shape(0, 1)
        if rank is None:
            raise NotDecomposed("the result is of unknown rank")
        slices, new_axes = _dense(op, b, rank)
        if any(not isinstance(each.stride, int) or each.stride != 1 for each in slices):
            raise NotDecomposed("the slice has steps")
        gradient = op.operands[4]
        op.shape(4)
        taken, position = b.sizes(gradient), 0
        sizes = b.sizes_in(op.operands[0], op.results[0].shape or [None] * rank)
        counts: list[Dim] = []
        paddings: list[tuple[Dim, Dim]] = []
        for axis, each in enumerate(slices):
            position += new_axes.count(axis)
            counts.append(1 if each.shrink else taken[position])
            position += not each.shrink
            begin = each.begin or 0
            if not isinstance(begin, int):
                raise NotDecomposed("the slice's begin is not a constant")
            before = b.dims("Maximum", b.dims("AddV2", sizes[axis], begin), 0) if begin < 0 else begin
            before = b.dims("Minimum", before, sizes[axis])
            paddings.append((before, b.dims("Sub", b.dims("Sub", sizes[axis], before), counts[axis])))
        return b.pad(b.reshape(gradient, counts), paddings)


class StridedSliceUpdate(Decomposition):
    """The tensor with a slice replaced: at once where that is a box, else each element at its place.

    Definition: https://www.tensorflow.org/api_docs/python/tf/tensor_strided_slice_update.
    """

    names = ("TensorStridedSliceUpdate",)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        slices, new_axes = _dense(op, b, len(op.shape(0)))
        op.shape(4)
        value, update = carried(b, op.operands[0]), carried(b, op.operands[4])
        sizes = b.sizes(value)
        box = [_extent(b, each, size) for each, size in zip(slices, sizes, strict=True)]
        extents = [each for each in box if each is not None]
        if len(extents) == len(box) <= _LITERT_RANK:
            visible = [extent for (_, extent), each in zip(extents, slices, strict=True) if not each.shrink]
            for axis in reversed(new_axes):
                visible.insert(axis - sum(each.shrink for each in slices[:axis]), 1)
            filled = b.reshape(_broadcast(b, update, visible), [extent for _, extent in extents])
            begin = b.vector([first for first, _ in extents])
            result = b.op("XlaDynamicUpdateSlice", [value, filled, begin], b.shape(value), b.dtype(value))
        else:
            count = b.product(sizes)
            places = _sliced(b, b.reshape(b.range(count), sizes), slices, new_axes)
            taken = b.sizes(places)
            number = b.product(taken)
            operands = [
                b.reshape(value, [count]),
                b.reshape(places, [number, 1]),
                b.reshape(_broadcast(b, update, taken), [number]),
            ]
            known = [count if isinstance(count, int) else None]
            result = b.reshape(b.op("TensorScatterUpdate", operands, known, b.dtype(value)), sizes)
        return delivered(b, result, op.types[0].dtype)


def _extent(b: Builder, each: _Slice, size: Dim) -> tuple[Dim, Dim] | None:
    """Where a slice without steps begins and how much it takes; None where that is not known."""
    if each is _WHOLE:
        return 0, size
    begin = each.begin
    if each.shrink:
        assert begin is not None
        if isinstance(begin, int):
            return begin if begin >= 0 else b.dims("AddV2", size, begin), 1
        from_end = b.binary("AddV2", begin, b.scalar(size))
        return b.select(b.compare("Less", begin, 0), from_end, begin), 1
    if not isinstance(size, int) or not isinstance(begin, int | None) or not isinstance(each.end, int | None):
        return None
    if not isinstance(each.stride, int) or each.stride != 1:
        return None
    taken = range(size)[begin : each.end]
    return (taken.start, len(taken)) if taken else None


def _broadcast(b: Builder, value: ir.Value, sizes: Sequence[Dim]) -> ir.Value:
    known = b.known(sizes)
    if None not in known and list(b.shape(value)) == known:
        return value
    return b.op("BroadcastTo", [value, b.vector(sizes)], known, b.dtype(value))


def _sliced(b: Builder, value: ir.Value, slices: Sequence[_Slice], new_axes: Sequence[int]) -> ir.Value:
    if len(slices) <= _LITERT_RANK:
        value = _take(b, value, slices)
    else:
        for axis in reversed(range(len(slices))):
            value = _take_along(b, value, axis, slices[axis])
    sizes = b.sizes(value)
    for axis in reversed(new_axes):
        sizes.insert(axis - sum(each.shrink for each in slices[:axis]), 1)
    return b.reshape(value, sizes) if new_axes else value


def _dense(op: TensorFlowOp, b: Builder, rank: int) -> tuple[list[_Slice], list[int]]:
    """What is taken of each dimension, and before which dimensions new axes stand."""
    (count,) = op.shape(1, 1)
    if count is None:
        raise NotDecomposed("how many slices it has is not known")
    names = ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    masks = {name: int(op.attributes.get(f"{name}_mask", 0)) for name in names}
    slices: list[_Slice] = []
    new_axes: list[int] = []
    ellipsis_at = next((at for at in range(count) if masks["ellipsis"] >> at & 1), count)
    # What stands for dimensions behind the ellipsis.
    behind = sum(1 for at in range(ellipsis_at + 1, count) if not masks["new_axis"] >> at & 1)
    for at in range(count):
        if at == ellipsis_at:
            slices += [_WHOLE] * (rank - behind - len(slices))
        elif masks["new_axis"] >> at & 1:
            new_axes.append(len(slices))
        elif masks["shrink_axis"] >> at & 1:
            slices.append(_Slice(_number(op, b, 1, at), shrink=True))
        else:
            first = None if masks["begin"] >> at & 1 else _number(op, b, 1, at)
            last = None if masks["end"] >> at & 1 else _number(op, b, 2, at)
            stride = _number(op, b, 3, at)
            everything = first is None and last is None and isinstance(stride, int) and stride == 1
            slices.append(_WHOLE if everything else _Slice(first, last, stride))
    slices += [_WHOLE] * (rank - len(slices))
    if len(slices) != rank:
        raise NotDecomposed(f"it has more slices than the {rank} dimensions")
    return slices, new_axes


def _number(op: TensorFlowOp, b: Builder, operand: int, at: int) -> Dim:
    """One of the numbers of begin, end or strides: a constant where they are."""
    numbers = op.constants[operand]
    if numbers is None:
        return b.cast(b.element(op.operands[operand], at), "int32")
    return int(np.clip(numbers[at], _INT32.min, _INT32.max))


def _take_along(b: Builder, value: ir.Value, axis: int, each: _Slice) -> ir.Value:
    if each is _WHOLE:
        return value
    rows, sizes = around_axis(b, value, axis)
    taken = _take(b, rows, [_WHOLE, each, _WHOLE])
    sizes[axis : axis + 1] = [] if each.shrink else [b.size(taken, 1)]
    return b.reshape(taken, sizes)


def _take(b: Builder, value: ir.Value, slices: Sequence[_Slice]) -> ir.Value:
    masks = {f"{name}_mask": 0 for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    shape: list[int | None] = []
    for axis, (each, size) in enumerate(zip(slices, b.shape(value), strict=True)):
        masks["begin_mask"] |= (each.begin is None) << axis
        masks["end_mask"] |= (each.end is None and not each.shrink) << axis
        masks["shrink_axis_mask"] |= each.shrink << axis
        if not each.shrink:
            shape.append(_size(each, size))
    begin = [0 if each.begin is None else each.begin for each in slices]
    end = [0 if each.end is None else each.end for each in slices]
    operands = [b.vector(begin), b.vector(end), b.vector([each.stride for each in slices])]
    return b.op("StridedSlice", [value, *operands], shape, b.dtype(value), **masks)


def _size(each: _Slice, size: int | None) -> int | None:
    """How many positions a slice takes of a dimension, where that is known."""
    begin, end, stride = each.begin, each.end, each.stride
    if each is _WHOLE:
        return size
    if size is None:
        return None
    if isinstance(begin, int | None) and isinstance(end, int | None) and isinstance(stride, int):
        return len(range(size)[begin:end:stride])
    return None
