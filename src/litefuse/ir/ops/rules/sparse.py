"""Ops on sparse and ragged tensors, and on rows that are partitioned and stitched."""

from __future__ import annotations

from litefuse.ir.ops.dims import Dim
from litefuse.ir.ops.facts import Answer, Op, Rule, ShapeError, Undecided, meet, meet_dims, size_or_none, text
from litefuse.ir.ops.rules.reductions import reduced

__all__ = ["RULES"]


def _dynamic_partition(op: Op) -> Answer:
    data, partitions = op.shape(0), op.shape(1)
    if len(partitions) > len(data):
        raise ShapeError(f"the partitions {text(partitions)} are not a prefix of {text(data)}")
    meet(data[: len(partitions)], partitions)
    return [(None, *data[len(partitions) :]) for _ in op.results]


def _segments(op: Op) -> Answer:
    """Reduces segments of gathered rows; the last id determines the number of segments, or an operand.

    In a gradient, that operand determines the number of rows.
    """
    data = op.shape(0)
    if not data:
        raise ShapeError("a scalar has no rows")
    if not op.name.endswith(("WithNumSegments", "Grad")):
        return (None, *data[1:])
    return (op.size(3), *data[1:])


def _fill_empty_rows(op: Op) -> Answer:
    """Has indices, values, flags of empty rows, and the position of each input element in the result."""
    (count,), (rank,) = op.ranked(1, 1), op.ranked(2, 1)
    indices, size = meet(op.operands[0].shape, (count, rank)), op.operands[2].values
    assert indices is not None
    rows = None if size is None else size[0]
    return [(None, indices[1]), (None,), (size_or_none(rows),), (indices[0],)]


def _reshape(op: Op) -> Answer:
    (count, _), (rank,) = op.ranked(0, 2), op.ranked(2, 1)
    return [(count, rank), (rank,)]


def _reduce(op: Op) -> Answer:
    """A reduction to a dense tensor; the third operand states the shape before it."""
    (rank,) = op.ranked(2, 1)
    if not isinstance(rank, int):
        raise Undecided("the rank is not known")
    sizes = (None,) * rank if op.operands[2].values is None else tuple(map(size_or_none, op.vector(2)))
    return reduced(op, sizes, 3)


def _dense_product(op: Op) -> Answer:
    """A sparse matrix, whose shape the third operand states, times a dense one."""
    b = op.ranked(3, 2)
    columns = b[0 if op.attribute("adjoint_b", False) else 1]
    if op.operands[2].values is None:
        return (None, columns)
    a = op.vector(2)
    if len(a) != 2:
        raise ShapeError(f"a matrix has two dimensions, not {len(a)}")
    return (size_or_none(a[1 if op.attribute("adjoint_a", False) else 0]), columns)


def _set_operation(op: Op) -> Answer:
    """Has the rank of its operands, of which one may be unknown."""
    rank = len(op.shape(0 if op.operands[0].shape is not None else 1))
    return [(None, rank), (None,), (rank,)]


def _set_size(op: Op) -> Answer:
    """Has the shape that the third operand states, without its last dimension."""
    (rank,) = op.ranked(2, 1)
    if not isinstance(rank, int) or not rank:
        raise Undecided("the rank is not known")
    return (None,) * (rank - 1) if op.operands[2].values is None else tuple(map(size_or_none, op.vector(2)[:-1]))


def _sum(op: Op) -> Answer:
    (rank,) = op.ranked(2, 1)
    return [(None, meet_dims(op.ranked(0, 2)[1], rank)), (None,), (rank,)]


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
    return [(splits,), (None,)]


RULES: dict[str, Rule] = {
    "DenseToDenseSetOperation": _set_operation,
    "DynamicPartition": _dynamic_partition,
    "RaggedRange": _ragged_range,
    "SetSize": _set_size,
    "SparseAdd": _sum,
    "SparseTensorDenseAdd": lambda op: op.shape(3),
    "SparseFillEmptyRows": _fill_empty_rows,
    "SparseReduceMax": _reduce,
    "SparseReduceSum": _reduce,
    "SparseReorder": lambda op: [op.ranked(0, 2), op.ranked(1, 1)],
    "SparseReshape": _reshape,
    "SparseTensorDenseMatMul": _dense_product,
    **{
        f"SparseSegment{kind}{form}": _segments
        for kind in ("Mean", "SqrtN", "Sum")
        for form in ("", "Grad", "WithNumSegments")
    },
    **dict.fromkeys(["SparseDenseCwiseAdd", "SparseDenseCwiseDiv", "SparseDenseCwiseMul", "SparseSoftmax"], _as_values),
}
