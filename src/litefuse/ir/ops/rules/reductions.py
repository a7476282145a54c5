"""Reductions, sorting, and counting."""

from __future__ import annotations

from litefuse.ir.ops.combining import broadcast_shapes, meet
from litefuse.ir.ops.dims import Dim, is_size
from litefuse.ir.ops.facts import Answer, Op, PartialDims, Rule, ShapeError, Undecided, normal_axis, text

__all__ = ["RULES"]

_REDUCTIONS = "All Any EuclideanNorm Max Mean Min Prod Sum"


def _reduce(op: Op) -> Answer:
    shape = op.shape(0)
    keep = op.attribute("keep_dims", False)
    try:
        axes = {normal_axis(axis, len(shape)) for axis in op.numbers(1)}
    except Undecided:
        return (None,) * len(shape) if keep else None
    if keep:
        return tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


def _arg_extreme(op: Op) -> Answer:
    shape = op.shape(0)
    try:
        along = op.axis(1, max(len(shape), 1))
    except Undecided:
        return (None,) * (len(shape) - 1)
    return tuple(size for axis, size in enumerate(shape) if axis != along)


def _scalar(_op: Op) -> Answer:
    return ()


def _top_k(op: Op) -> Answer:
    shape = op.shape(0)
    if not shape:
        raise ShapeError("a scalar has no largest elements")
    count = _known_scalar(op, 1)
    if isinstance(count, int) and isinstance(shape[-1], int) and shape[-1] < count:
        raise ShapeError(f"the last dimension of {text(shape)} has fewer than {count} elements")
    result = (*shape[:-1], count)
    return [result, result]


def _if_size(dim: Dim | None) -> Dim | None:
    return dim if dim is not None and is_size(dim) else None


def _known_scalar(op: Op, index: int) -> Dim | None:
    try:
        return _if_size(op.scalar(index))
    except Undecided:
        return None


def _unsorted_segments(op: Op) -> Answer:
    data, ids = op.shape(0), op.shape(1)
    if len(ids) > len(data):
        raise ShapeError(f"the segments {text(ids)} are not a prefix of {text(data)}")
    meet(data[: len(ids)], ids)
    return (_known_scalar(op, 2), *data[len(ids) :])


def _segments(op: Op) -> Answer:
    data = op.shape(0)
    if not data:
        raise ShapeError("a scalar has no segments")
    return (None, *data[1:])


def _nth_element(op: Op) -> Answer:
    return op.shape(0)[:-1]


def _where(op: Op) -> Answer:
    shape = op.operands[0].shape
    return (None, None if shape is None else len(shape))


def _unique(op: Op) -> Answer:
    answer: list[PartialDims] = [(None,), op.ranked(0, 1), (None,)]
    return answer[: len(op.results)]


def _unique_along(op: Op) -> Answer:
    shape = op.operands[0].shape
    values = None if shape is None else (None,) * len(shape)
    # One index for each compared slice.
    answer: list[PartialDims] = [values, shape if shape is not None and len(shape) == 1 else (None,)]
    return answer


def _bincount(op: Op) -> Answer:
    shape = op.operands[0].shape
    if op.name == "DenseBincount" and (shape is None or len(shape) == 2):
        return None if shape is None else (shape[0], _known_scalar(op, 1))
    return (_known_scalar(op, 1),)


def _in_top_k(op: Op) -> Answer:
    return meet(op.operands[1].shape, op.operands[0].shape and op.operands[0].shape[:1])


def _bucketize(op: Op) -> Answer:
    return op.shape(0)


def _top(op: Op) -> Answer:
    shape = op.shape(0)
    if not shape:
        raise ShapeError("a scalar has no largest elements")
    result = (*shape[:-1], op.attribute("k"))
    return [result, result]


def _places(op: Op) -> Answer:
    return op.shape(1)


def _histogram(op: Op) -> Answer:
    return (_known_scalar(op, 2),)


def _losses(op: Op) -> Answer:
    """Has the loss of each row, and the gradient of all logits; labels may be classes, or broadcast."""
    rows, classes = op.ranked(0, 2)
    if op.name == "SoftmaxCrossEntropyWithLogits":
        rows, classes = broadcast_shapes([(rows, classes), op.ranked(1, 2)])
    else:
        (rows,) = meet((rows,), op.operands[1].shape) or (rows,)
    answer: list[PartialDims] = [(rows,), (rows, classes)]
    return answer


RULES: dict[str, Rule] = {
    **dict.fromkeys(_REDUCTIONS.split(), _reduce),
    "ArgMax": _arg_extreme,
    "ArgMin": _arg_extreme,
    "Bincount": _bincount,
    "Bucketize": _bucketize,
    "DenseBincount": _bincount,
    "HistogramFixedWidth": _histogram,
    "InTopK": _in_top_k,
    "InTopKV2": _in_top_k,
    "L2Loss": _scalar,
    "LookupTableSizeV2": _scalar,
    "NthElement": _nth_element,
    "LowerBound": _places,
    "SoftmaxCrossEntropyWithLogits": _losses,
    "SparseSoftmaxCrossEntropyWithLogits": _losses,
    "TopK": _top,
    "TopKV2": _top_k,
    "UpperBound": _places,
    "Unique": _unique,
    "UniqueV2": _unique_along,
    "UniqueWithCounts": _unique,
    "Where": _where,
    **dict.fromkeys(
        ["UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd", "UnsortedSegmentSum"], _unsorted_segments
    ),
    **dict.fromkeys(["SegmentMax", "SegmentMean", "SegmentMin", "SegmentProd", "SegmentSum"], _segments),
}
