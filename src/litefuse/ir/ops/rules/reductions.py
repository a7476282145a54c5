"""Reductions, sorting, and counting."""

from __future__ import annotations

from litefuse.ir.ops.facts import (
    Answer,
    Op,
    PartialDims,
    Rule,
    ShapeError,
    Undecided,
    broadcast_shapes,
    meet,
    normal_axis,
    text,
)

_REDUCTIONS = "All Any EuclideanNorm Max Mean Min Prod Sum"


def reduced(op: Op, sizes: PartialDims, index: int) -> PartialDims:
    """Returns sizes without the axes that an operand names, or with 1 in their places, as ``keep_dims`` says."""
    assert sizes is not None
    keep = op.attribute("keep_dims", False)
    try:
        axes = {normal_axis(axis, len(sizes)) for axis in op.numbers(index)}
    except Undecided:
        return (None,) * len(sizes) if keep else None
    return tuple(1 if axis in axes else size for axis, size in enumerate(sizes) if keep or axis not in axes)


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
    count = op.size(1)
    if isinstance(count, int) and isinstance(shape[-1], int) and shape[-1] < count:
        raise ShapeError(f"the last dimension of {text(shape)} has fewer than {count} elements")
    result = (*shape[:-1], count)
    return [result, result]


def _unsorted_segments(op: Op) -> Answer:
    data, ids = op.shape(0), op.shape(1)
    if len(ids) > len(data):
        raise ShapeError(f"the segments {text(ids)} are not a prefix of {text(data)}")
    meet(data[: len(ids)], ids)
    return (op.size(2), *data[len(ids) :])


def _segments(op: Op) -> Answer:
    data = op.shape(0)
    if not data:
        raise ShapeError("a scalar has no segments")
    return (None, *data[1:])


def _where(op: Op) -> Answer:
    shape = op.operands[0].shape
    return (None, None if shape is None else len(shape))


def _unique(op: Op) -> Answer:
    indices = op.ranked(0, 1)
    return [(None,), indices] if len(op.results) == 2 else [(None,), indices, (None,)]


def _unique_along(op: Op) -> Answer:
    shape = op.operands[0].shape
    values = None if shape is None else (None,) * len(shape)
    # One index for each compared slice.
    return [values, shape if shape is not None and len(shape) == 1 else (None,)]


def _bincount(op: Op) -> Answer:
    shape = op.operands[0].shape
    if op.name == "DenseBincount" and (shape is None or len(shape) == 2):
        return None if shape is None else (shape[0], op.size(1))
    return (op.size(1),)


def _in_top_k(op: Op) -> Answer:
    return meet(op.operands[1].shape, op.operands[0].shape and op.operands[0].shape[:1])


def _top(op: Op) -> Answer:
    shape = op.shape(0)
    if not shape:
        raise ShapeError("a scalar has no largest elements")
    result = (*shape[:-1], op.attribute("k"))
    return [result, result]


def _places(op: Op) -> Answer:
    return op.shape(1)


def _losses(op: Op) -> Answer:
    """Has the loss of each row, and the gradient of all logits; labels may be classes, or broadcast."""
    rows, classes = op.ranked(0, 2)
    if op.name == "SoftmaxCrossEntropyWithLogits":
        rows, classes = broadcast_shapes([(rows, classes), op.ranked(1, 2)])
    else:
        (rows,) = meet((rows,), op.operands[1].shape) or (rows,)
    return [(rows,), (rows, classes)]


RULES: dict[str, Rule] = {
    **dict.fromkeys(_REDUCTIONS.split(), lambda op: reduced(op, op.shape(0), 1)),
    "ArgMax": _arg_extreme,
    "ArgMin": _arg_extreme,
    "Bincount": _bincount,
    "Bucketize": lambda op: op.shape(0),
    "DenseBincount": _bincount,
    "HistogramFixedWidth": lambda op: (op.size(2),),
    "InTopK": _in_top_k,
    "InTopKV2": _in_top_k,
    "L2Loss": _scalar,
    "LookupTableSizeV2": _scalar,
    "NthElement": lambda op: op.shape(0)[:-1],
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
