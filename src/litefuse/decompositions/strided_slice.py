"""``StridedSlice`` with more dimensions, new axes or an ellipsis than LiteRT's op takes, and its gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from litefuse.decompositions.along_axis import around_axis
from litefuse.decompositions.carrier import carried, delivered
from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder, Dim
    from litefuse.engine.mlir import ir

__all__ = ["StridedSlice", "StridedSliceGradient"]


@dataclass(frozen=True)
class _Slice:
    """What is taken of one dimension; None for a begin or end that is left out."""

    begin: int | None
    end: int | None
    stride: int
    shrink: bool


class StridedSlice(Decomposition):
    """One dimension after the other, each among those before and behind it; new axes and left out ones by a reshape.

    Definition: https://www.tensorflow.org/api_docs/python/tf/strided_slice.
    """

    names = ("StridedSlice",)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        rank = len(op.shape(0))
        slices, new_axes = _dense(op, rank)
        value = carried(b, op.operands[0])
        for axis, each in enumerate(slices):
            if (each.begin, each.end, each.stride) != (None, None, 1):
                rows, sizes = around_axis(b, value, axis)
                taken = _take(b, rows, each)
                value = b.reshape(taken, [*sizes[:axis], b.size(taken, 1), *sizes[axis + 1 :]])
        sizes: list[Dim] = b.sizes(value)
        result: list[Dim] = []
        for axis in range(rank + 1):
            result += [1] * new_axes.count(axis)
            if axis < rank and not slices[axis].shrink:
                result.append(sizes[axis])
        return delivered(b, b.reshape(value, result), op.types[0].dtype)


class StridedSliceGradient(Decomposition):
    """The gradient where the slice was, zeros around it; for slices without steps.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/StridedSliceGrad.
    """

    names = ("StridedSliceGrad",)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        (rank,) = op.shape(0, 1)
        if rank is None:
            raise NotDecomposed("the result is of unknown rank")
        slices, new_axes = _dense(op, rank)
        if any(each.stride != 1 for each in slices):
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
            before = b.dims("Maximum", b.dims("AddV2", sizes[axis], begin), 0) if begin < 0 else begin
            before = b.dims("Minimum", before, sizes[axis])
            paddings.append((before, b.dims("Sub", b.dims("Sub", sizes[axis], before), counts[axis])))
        return b.pad(b.reshape(gradient, counts), paddings)


def _dense(op: TensorFlowOp, rank: int) -> tuple[list[_Slice], list[int]]:
    """What is taken of each dimension, and before which dimensions new axes stand."""
    begin, end, strides = (op.constant(operand).reshape(-1).tolist() for operand in (1, 2, 3))
    names = ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    masks = {name: int(op.attributes.get(f"{name}_mask", 0)) for name in names}
    count = len(begin)
    slices: list[_Slice] = []
    new_axes: list[int] = []
    ellipsis_at = next((at for at in range(count) if masks["ellipsis"] >> at & 1), count)
    # What stands for dimensions behind the ellipsis.
    behind = sum(1 for at in range(ellipsis_at + 1, count) if not masks["new_axis"] >> at & 1)
    everything = _Slice(None, None, 1, shrink=False)
    for at in range(count):
        if at == ellipsis_at:
            slices += [everything] * (rank - behind - len(slices))
        elif masks["new_axis"] >> at & 1:
            new_axes.append(len(slices))
        elif masks["shrink_axis"] >> at & 1:
            first = begin[at]
            slices.append(_Slice(first, None if first == -1 else first + 1, 1, shrink=True))
        else:
            first = None if masks["begin"] >> at & 1 else begin[at]
            last = None if masks["end"] >> at & 1 else end[at]
            slices.append(_Slice(first, last, strides[at], shrink=False))
    slices += [everything] * (rank - len(slices))
    if len(slices) != rank:
        raise NotDecomposed(f"it has more slices than the {rank} dimensions")
    return slices, new_axes


def _take(b: Builder, rows: ir.Value, each: _Slice) -> ir.Value:
    before, size, after = b.shape(rows)
    taken = None if size is None else len(range(size)[each.begin : each.end : each.stride])
    masks = {
        "begin_mask": 0b101 | (2 if each.begin is None else 0),
        "end_mask": 0b101 | (2 if each.end is None else 0),
        "ellipsis_mask": 0,
        "new_axis_mask": 0,
        "shrink_axis_mask": 0,
    }
    operands = [b.constant([0, number, 0], "int32") for number in (each.begin or 0, each.end or 0)]
    operands.append(b.constant([1, each.stride, 1], "int32"))
    return b.op("StridedSlice", [rows, *operands], [before, taken, after], b.dtype(rows), **masks)
