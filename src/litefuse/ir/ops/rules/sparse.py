"""Ops on sparse and ragged tensors, and on rows that are partitioned and stitched."""

from __future__ import annotations

from litefuse.ir.ops.combining import meet, meet_dims
from litefuse.ir.ops.dims import Dim, is_size
from litefuse.ir.ops.facts import Answer, Op, PartialDims, Rule, ShapeError, Undecided, normal_axis, text

__all__ = ["RULES"]


def _dynamic_partition(op: Op) -> Answer:
    data, partitions = op.shape(0), op.shape(1)
    if len(partitions) > len(data):
        raise ShapeError(f"the partitions {text(partitions)} are not a prefix of {text(data)}")
    meet(data[: len(partitions)], partitions)
    answer: list[PartialDims] = [(None, *data[len(partitions) :])] * len(op.results)
    return answer


def _segments(op: Op) -> Answer:
    """Reduces segments of gathered rows; the last id determines the number of segments, or an operand.

    In a gradient, that operand determines the number of rows.
    """
    data = op.shape(0)
    if not data:
        raise ShapeError("a scalar has no rows")
    if not op.name.endswith(("WithNumSegments", "Grad")):
        return (None, *data[1:])
    try:
        rows = op.scalar(3)
    except Undecided:
        return (None, *data[1:])
    return (_if_size(rows), *data[1:])


def _fill_empty_rows(op: Op) -> Answer:
    """Has indices, values, flags of empty rows, and the position of each input element in the result."""
    (count,), (rank,) = op.ranked(1, 1), op.ranked(2, 1)
    indices, size = meet(op.operands[0].shape, (count, rank)), op.operands[2].values
    assert indices is not None
    rows = None if size is None else size[0]
    answer: list[PartialDims] = [(None, indices[1]), (None,), (_if_size(rows),), (indices[0],)]
    return answer


def _if_size(dim: Dim | None) -> Dim | None:
    return dim if dim is not None and is_size(dim) else None


def _reshape(op: Op) -> Answer:
    (count, _), (rank,) = op.ranked(0, 2), op.ranked(2, 1)
    answer: list[PartialDims] = [(count, rank), (rank,)]
    return answer


def _reorder(op: Op) -> Answer:
    answer: list[PartialDims] = [op.ranked(0, 2), op.ranked(1, 1)]
    return answer


def _reduce(op: Op) -> Answer:
    """A reduction to a dense tensor; the third operand states the shape before it."""
    keep = op.attribute("keep_dims", False)
    (rank,) = op.ranked(2, 1)
    if not isinstance(rank, int):
        raise Undecided("the rank is not known")
    try:
        axes = {normal_axis(axis, rank) for axis in op.numbers(3)}
    except Undecided:
        return (None,) * rank if keep else None
    values = op.operands[2].values
    sizes: list[Dim | None] = [None] * rank if values is None else list(map(_if_size, op.vector(2)))
    if keep:
        return tuple(1 if axis in axes else size for axis, size in enumerate(sizes))
    return tuple(size for axis, size in enumerate(sizes) if axis not in axes)


def _dense_product(op: Op) -> Answer:
    """A sparse matrix, whose shape the third operand states, times a dense one."""
    b = op.ranked(3, 2)
    columns = b[0 if op.attribute("adjoint_b", False) else 1]
    if op.operands[2].values is None:
        return (None, columns)
    a = op.vector(2)
    if len(a) != 2:
        raise ShapeError(f"a matrix has two dimensions, not {len(a)}")
    return (_if_size(a[1 if op.attribute("adjoint_a", False) else 0]), columns)


def _set_operation(op: Op) -> Answer:
    """Has the rank of its operands, of which one may be unknown."""
    rank = len(op.shape(0 if op.operands[0].shape is not None else 1))
    answer: list[PartialDims] = [(None, rank), (None,), (rank,)]
    return answer


def _set_size(op: Op) -> Answer:
    """Has the shape that the third operand states, without its last dimension."""
    (rank,) = op.ranked(2, 1)
    if not isinstance(rank, int) or not rank:
        raise Undecided("the rank is not known")
    return (None,) * (rank - 1) if op.operands[2].values is None else tuple(map(_if_size, op.vector(2)[:-1]))


def _sum(op: Op) -> Answer:
    (rank,) = op.ranked(2, 1)
    answer: list[PartialDims] = [(None, meet_dims(op.ranked(0, 2)[1], rank)), (None,), (rank,)]
    return answer


def _sum_with_dense(op: Op) -> Answer:
    return op.shape(3)


def _as_values(op: Op) -> Answer:
    """Has one value for each position."""
    return meet(op.ranked(1, 1), op.ranked(0, 2)[:1])


def _ragged_range(op: Op) -> Answer:
    """Has row splits and values; operands that are not scalars give the number of rows."""
    rows: Dim | None = None
    for operand in op.operands:
        if operand.shape:
            rows = meet_dims(rows, operand.shape[0])
    splits = None if rows is None else rows + 1
    answer: list[PartialDims] = [(splits,), (None,)]
    return answer


RULES: dict[str, Rule] = {
    "DenseToDenseSetOperation": _set_operation,
    "DynamicPartition": _dynamic_partition,
    "RaggedRange": _ragged_range,
    "SetSize": _set_size,
    "SparseAdd": _sum,
    "SparseTensorDenseAdd": _sum_with_dense,
    "SparseFillEmptyRows": _fill_empty_rows,
    "SparseReduceMax": _reduce,
    "SparseReduceSum": _reduce,
    "SparseReorder": _reorder,
    "SparseReshape": _reshape,
    "SparseTensorDenseMatMul": _dense_product,
    **{
        f"SparseSegment{kind}{form}": _segments
        for kind in ("Mean", "SqrtN", "Sum")
        for form in ("", "Grad", "WithNumSegments")
    },
    **dict.fromkeys(["SparseDenseCwiseAdd", "SparseDenseCwiseDiv", "SparseDenseCwiseMul", "SparseSoftmax"], _as_values),
}
