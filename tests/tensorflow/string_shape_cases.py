"""As ``shape_cases``, for ops of strings and of what these are split into."""

from __future__ import annotations

from collections.abc import Iterator

from tests.tensorflow.shape_cases import Case, Operand, n


def s(*shape: int) -> Operand:
    return Operand("string", shape)


def wide(*shape: int) -> Operand:
    return Operand("int64", shape)


def _of_each() -> Iterator[Case]:
    for name in ("DecodeBase64", "EncodeBase64", "StringLength", "StringLower", "StringStrip", "StringUpper"):
        yield Case(name, [s(2, 3)])
    for name in ("StringToHashBucket", "StringToHashBucketFast"):
        yield Case(name, [s(2, 3)], {"num_buckets": 5})
    yield Case("StringToHashBucketStrong", [s(2, 3)], {"num_buckets": 5, "key": [1, 2]})
    yield Case("StringToNumber", [s(2, 3)])
    yield Case("AsString", [Operand("float32", (2, 3))])
    yield Case("StaticRegexReplace", [s(2, 3)], {"pattern": "a", "rewrite": ""})
    yield Case("StaticRegexFullMatch", [s(2, 3)], {"pattern": "a"})
    yield Case("RegexReplace", [s(2, 3), s(), s()])
    yield Case("RegexFullMatch", [s(2, 3), s()])
    yield Case("DecodeRaw", [s(2, 3)], {"out_type": "int16"})
    yield Case("DecodePaddedRaw", [s(2, 3), n(8)], {"out_type": "int32"})
    for name in ("DecodeBmp", "DecodeJpeg", "DecodePng"):
        yield Case(name, [s()])
        yield Case(name, [s()], {"channels": 3})
    yield Case("UnicodeScript", [Operand("int32", (2, 3))])
    encodings = {"input_encoding": "UTF-8", "output_encoding": "UTF-8"}
    yield Case("UnicodeTranscode", [s(2, 3)], encodings)
    yield Case("Substr", [s(2, 3), n([[0], [1]]), n([[1], [1]])])
    yield Case("Substr", [s(2, 3), n(0), n(1)])


def _of_several() -> Iterator[Case]:
    yield Case("StringJoin", [[s(2, 3), s(), s(2, 3)]])
    yield Case("StringJoin", [[s(), s()]])
    for axes in ([1], [0, -1], []):
        yield Case("ReduceJoin", [s(2, 3, 4), n(axes)])
        yield Case("ReduceJoin", [s(2, 3, 4), n(axes)], {"keep_dims": True})
    yield Case("UnsortedSegmentJoin", [s(2, 3), Operand("int32", (2,)), n(4)])
    yield Case("StringSplit", [s(3), s()])
    yield Case("StringSplitV2", [s(3), s()])
    padding = {"separator": " ", "left_pad": "", "right_pad": "", "pad_width": 0, "preserve_short_sequences": False}
    yield Case("StringNGrams", [s(5), wide(3)], {"ngram_widths": [2], **padding})
    for name in ("UnicodeDecode", "UnicodeDecodeWithOffsets"):
        yield Case(name, [s(2, 3)], {"input_encoding": "UTF-8"})
    yield Case("UnicodeEncode", [Operand("int32", (5,)), wide(3)], {"output_encoding": "UTF-8"})
    crossed = {"hashed_output": True, "num_buckets": 9, "hash_key": 1, "out_type": "int64", "internal_type": "string"}
    yield Case("SparseCross", [[], [], [], [s(2, 1), s(2, 3)]], crossed)


def _of_rows() -> Iterator[Case]:
    yield Case("RaggedBincount", [wide(4), wide(5), n(7, "int64"), Operand("float32", (0,))])
    splits, ids = {"row_partition_types": ["ROW_SPLITS"]}, {"row_partition_types": ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]}
    for stated in ([-1, -1], [4, -1], [4, 3]):
        yield Case("RaggedTensorToTensor", [n(stated, "int64"), s(5), s(), [wide(4)]], splits)
        yield Case("RaggedTensorToTensor", [n([*stated, 2], "int64"), s(5, 2), s(), [wide(), wide(5)]], ids)
    yield Case("RaggedGather", [[wide(4)], s(5), n([2, 0])], {"OUTPUT_RAGGED_RANK": 1})
    yield Case("RaggedGather", [[wide(3), wide(4)], s(5, 2), wide(3)], {"OUTPUT_RAGGED_RANK": 2})
    yield Case("RaggedTensorToTensor", [n(-1, "int64"), s(5), s(), [wide(4)]], splits)


STRING_CASES = [case for family in (_of_each, _of_several, _of_rows) for case in family()]
