"""Calls of the kernels that no test calls by itself, for the fuzzer: an op, its inputs, the dtypes of its outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_TEXT = np.array([b"a b", "ä1".encode(), b"", b"abc"], object)
_ONE = np.array([b"x"], object).reshape(())
_DECODING = {"input_encoding": "UTF-8", "errors": "replace", "replacement_char": 65533, "Tsplits": 9}
_AXIS = np.int32(0)
_SPARSE = (np.array([[0, 0], [1, 0]], np.int64), np.array([3, 4], np.int64), np.array([2, 2], np.int64))

CALLS: Sequence[tuple[str, Sequence[Any], Sequence[Any], Mapping[str, Any]]] = [
    ("ConcatV2", [_TEXT, _TEXT, _AXIS], [object], {}),
    ("DecodeBase64", [np.array([b"YWJj", b""], object)], [object], {}),
    ("EncodeBase64", [_TEXT], [object], {"pad": True}),
    (
        "ExtractImagePatches",
        [np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)],
        [np.float32],
        {"ksizes": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "rates": [1, 1, 1, 1], "padding": "SAME"},
    ),
    ("Pack", [_TEXT, _TEXT], [object], {"axis": 1}),
    ("Pad", [_TEXT, np.array([[1, 2]], np.int32)], [object], {}),
    (
        "RaggedTensorToTensor",
        [np.array([2, 3], np.int64), _TEXT, _ONE, np.array([0, 1, 4], np.int64)],
        [object],
        {"row_partition_types": ["ROW_SPLITS"]},
    ),
    ("RegexFullMatch", [_TEXT, np.array(b"(a|b)+")], [bool], {}),
    ("RegexReplace", [_TEXT, np.array(b"(a|b)+"), np.array(rb"\1x")], [object], {"replace_global": True}),
    ("StaticRegexFullMatch", [_TEXT], [bool], {"pattern": "(a|b)*[^c-e]{0,3}"}),
    ("Select", [np.array([True, False, True, False]), _TEXT, _TEXT], [object], {}),
    ("SelectV2", [np.array([True, False, True, False]), _TEXT, _TEXT], [object], {}),
    (
        "SparseCross",
        [*_SPARSE, np.array([[1], [2]], np.int64)],
        [np.int64, np.int64, np.int64],
        {"N": 1, "hashed_output": True, "num_buckets": 10, "hash_key": 7},
    ),
    (
        "SparseToDense",
        [np.array([[0], [2]], np.int64), np.array([4], np.int64), np.array([b"p", b"q"], object), np.array(b"d")],
        [object],
        {"validate_indices": True},
    ),
    ("StringNGrams", [_TEXT, np.array([0, 3, 4], np.int64)], [object, np.int64], {
        "separator": " ", "ngram_widths": [1, 2], "left_pad": "<", "right_pad": ">", "pad_width": 1,
        "preserve_short_sequences": False,
    }),
    ("StringLength", [_TEXT], [np.int32], {"unit": "UTF8_CHAR"}),
    ("StringSplit", [_TEXT, np.array(b" ")], [np.int64, object, np.int64], {"skip_empty": True}),
    ("StringStrip", [_TEXT], [object], {}),
    ("StringToHashBucket", [_TEXT], [np.int64], {"num_buckets": 7}),
    ("StringToHashBucketStrong", [_TEXT], [np.int64], {"num_buckets": 7, "key": [1, 2]}),
    ("StringUpper", [_TEXT], [object], {"encoding": ""}),
    ("StringUpper", [_TEXT], [object], {"encoding": "utf-8"}),
    ("ReduceJoin", [_TEXT, np.array([0], np.int32)], [object], {"separator": "-", "keep_dims": True}),
    ("UnicodeDecode", [_TEXT], [np.int64, np.int32], _DECODING),
    ("UnicodeDecodeWithOffsets", [_TEXT], [np.int64, np.int32, np.int64], _DECODING),
    ("UnicodeTranscode", [_TEXT], [object], {**_DECODING, "output_encoding": "UTF-16-BE"}),
    ("UnsortedSegmentJoin", [_TEXT, np.array([0, 1, 1, 0], np.int32), np.int32(2)], [object], {"separator": ","}),
]  # fmt: skip
