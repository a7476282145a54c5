"""String ops, and ops on the ragged and sparse tensors that they return."""

from __future__ import annotations

from litefuse.ir.ops.dims import Formula, product
from litefuse.ir.ops.facts import Answer, Op, PartialDims, Rule, ShapeError, broadcast_shapes, meet
from litefuse.ir.ops.rules.reductions import reduced

__all__ = ["RULES"]

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
