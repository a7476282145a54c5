"""Ops on strings, on the ragged and sparse tensors that these return, and on rows that are partitioned and stitched."""

from __future__ import annotations

from litefuse.ir.ops.dims import Dim, Formula, product
from litefuse.ir.ops.facts import (
    Answer,
    Op,
    PartialDims,
    Rule,
    ShapeError,
    Undecided,
    broadcast_shapes,
    meet,
    meet_dims,
    size_or_none,
    text,
)
from litefuse.ir.ops.rules.reductions import reduced


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


_EACH = (
    "AsString CaseFoldUTF8 DecodeBase64 EncodeBase64 NormalizeUTF8 RegexFullMatch RegexReplace StaticRegexFullMatch "
    "StaticRegexReplace StringLength StringLower StringStrip StringToHashBucket StringToHashBucketFast "
    "StringToHashBucketStrong StringToNumber StringUpper UnicodeScript UnicodeTranscode"
)
# The number of bytes of an element, by MLIR's names of dtypes.
_WIDTHS = {
    **dict.fromkeys(("i1", "i8", "ui8"), 1),
    **dict.fromkeys(("bf16", "f16", "i16", "ui16"), 2),
    **dict.fromkeys(("f32", "i32"), 4),
    **dict.fromkeys(("f64", "i64", "complex<f32>"), 8),
    "complex<f64>": 16,
}
# Indices, values and the shape of a matrix.
_SPARSE_MATRIX: list[PartialDims] = [(None, 2), (None,), (2,)]


def _string_join(op: Op) -> Answer:
    """Has the shape of the operands that are not scalars."""
    result: PartialDims = None
    for operand in op.operands:
        result = meet(result, operand.shape or None)
    if result is None and all(operand.shape == () for operand in op.operands):
        return ()
    return result


def _split(op: Op) -> Answer:
    op.ranked(0, 1)
    return _SPARSE_MATRIX


def _segment_join(op: Op) -> Answer:
    data, ids = op.shape(0), op.shape(1)
    if len(ids) > len(data):
        raise ShapeError("there are segments for more dimensions than the strings have")
    return (op.size(2), *data[len(ids) :])


def _ngrams(op: Op) -> Answer:
    op.ranked(0, 1)
    return [(None,), op.ranked(1, 1)]


def _decode(op: Op) -> Answer:
    shape = op.operands[0].shape
    splits: PartialDims = (None,) if shape is None else (product(shape) + 1,)
    return [splits, *[(None,)] * (len(op.results) - 1)]


def _decode_padded_raw(op: Op) -> Answer:
    length, width = op.size(1), _WIDTHS.get(op.results[0].dtype)
    return (*op.shape(0), length // width if isinstance(length, int) and width else None)


def _encode(op: Op) -> Answer:
    (splits,) = op.ranked(1, 1)
    return (splits - 1,)


def _ragged_bincount(op: Op) -> Answer:
    (splits,) = op.ranked(0, 1)
    return (splits - 1, op.size(2))


def _ragged_gather(op: Op) -> Answer:
    indices, values = op.operands[-1].shape, op.operands[-2].shape
    first: PartialDims = (None,) if indices is None else (product(indices) + 1,)
    inner: PartialDims = None if values is None else (None, *values[1:])
    return [first, *[(None,)] * (len(op.results) - 2), inner]


def _ragged_to_dense(op: Op) -> Answer:
    """Has the stated shape, with the length of the longest row for a negative size; then the values' inner sizes."""
    stated, values = op.operands[0], op.operands[1].shape
    levels = len(op.operands) - 3 - (op.attribute("row_partition_types", [""])[0] == "FIRST_DIM_SIZE")
    inner: PartialDims = None if values is None else (*(None,) * (levels + 1), *values[1:])
    if stated.values is None or stated.values.ndim != 1:
        return inner
    sizes = op.vector(0)
    return meet(inner, tuple(None if isinstance(size, Formula) or size < 0 else size for size in sizes))


def _image(op: Op) -> Answer:
    return (None, None, op.attribute("channels", 0) or None)


def _whitespace_tokens(op: Op) -> Answer:
    (count,) = op.ranked(0, 1)
    return [(None,), (count + 1,), (None,), (None,)]


def _script_tokens(op: Op) -> Answer:
    splits: PartialDims = op.ranked(1, 1)
    return [*[(None,)] * 4, splits]


def _wordpieces(op: Op) -> Answer:
    (count,) = op.ranked(0, 1)
    splits = op.attribute("output_row_partition_type", "row_lengths") == "row_splits"
    return [(None,), (count + 1 if splits else count,), (None,), (None,)]


def _joined_ngrams(op: Op) -> Answer:
    """The row splits keep their sizes; only without them is the number of n-grams known."""
    shape = op.shape(0)
    if len(op.operands) > 1:
        answer: list[PartialDims] = [(None,), *(operand.shape for operand in op.operands[1:])]
        return answer
    size, width = shape[-1], op.attribute("width", 1)
    return (*shape[:-1], max(size - width + 1, 0) if isinstance(size, int) else None)


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
    **dict.fromkeys(_EACH.split(), lambda op: op.shape(0)),
    **dict.fromkeys(("DecodeBmp", "DecodeJpeg", "DecodePng"), _image),
    "DecodePaddedRaw": _decode_padded_raw,
    "DecodeRaw": lambda op: (*op.shape(0), None),
    "RaggedBincount": _ragged_bincount,
    "RaggedGather": _ragged_gather,
    "RaggedTensorToTensor": _ragged_to_dense,
    "ReduceJoin": lambda op: reduced(op, op.shape(0), 1),
    "SparseCross": lambda _: _SPARSE_MATRIX,
    "StringJoin": _string_join,
    "StringNGrams": _ngrams,
    "StringSplit": _split,
    "StringSplitV2": _split,
    "Substr": lambda op: broadcast_shapes([op.shape(0), op.shape(1)]),
    "UnicodeDecode": _decode,
    "UnicodeDecodeWithOffsets": _decode,
    "UnicodeEncode": _encode,
    "UnsortedSegmentJoin": _segment_join,
    # Of TensorFlow Text:
    "RegexSplitWithOffsets": lambda op: [(None,), (None,), (None,), (product(op.shape(0)) + 1,)],
    "TFText>NgramsStringJoin": _joined_ngrams,
    "TFText>WhitespaceTokenizeWithOffsetsV2": _whitespace_tokens,
    "UnicodeScriptTokenizeWithOffsets": _script_tokens,
    "WordpieceTokenizeWithOffsets": _wordpieces,
}
