"""One valid call of each kernel of the pack, for tests of what holds for all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt


@dataclass(frozen=True)
class Call:
    """A call of an op.

    Attributes:
        inputs: Its inputs; strings as arrays of objects, a scalar one as an array of numpy's own bytes.
        outputs: The dtypes of its outputs.
        options: Its options.
    """

    inputs: Sequence[npt.NDArray[Any]]
    outputs: Sequence[npt.DTypeLike]
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


def _texts(*values: bytes) -> npt.NDArray[Any]:
    return np.array(values, object)


def _text(value: bytes) -> npt.NDArray[Any]:
    return np.array(value)  # numpy's own bytes: of a scalar object the interpreter would take the address


def _ints(*values: Any) -> npt.NDArray[Any]:
    return np.array(values, np.int32)


def _longs(*values: Any) -> npt.NDArray[Any]:
    return np.array(values, np.int64)


def _floats(*shape: int) -> npt.NDArray[Any]:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def _spectrum(*shape: int) -> npt.NDArray[Any]:
    return (_floats(*shape) + 1j * _floats(*shape)).astype(np.complex64)


_WORDS = _texts(b"one two", b"", b"three")
_MATRICES = np.array([[[4, 1, 0], [1, 5, 2], [0, 2, 6]], [[3, -1, 1], [-1, 4, 0], [1, 0, 2]]], np.float32)
_POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
_POOL_3D = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "SAME"}
_PATCHES = {"ksizes": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "rates": [1, 1, 1, 1], "padding": "VALID"}
_UNICODE = {"input_encoding": "UTF-8", "errors": "replace", "replacement_char": 65533}
_INT16 = {"out_type": 7}  # the number of int16 among LiteRT's types
# An image of a few pixels in each format; none ends with a NUL, which numpy would drop.
_BMP = bytes.fromhex(
    "424d42000000000000003600000028000000040000000100000001001800000000000c000000c40e0000c40e0000000000000000"
    "00003c2814786450b4a08cf0dcc8"
)
_JPEG = bytes.fromhex(
    "ffd8ffe000104a46494600010100000100010000ffdb004300100b0c0e0c0a100e0d0e1211101318281a181616183123251d283a"
    "333d3c3933383740485c4e404457453738506d51575f626768673e4d71797064785c656763ffc0000b080001000201011100ffc4"
    "0014000100000000000000000000000000000004ffc4001a1000010501000000000000000000000000040001023573b1ffda0008"
    "010100003f001815e3651e32ffd9"
)
_PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000020000000108020000007b40e8dd0000000f49444154789c6360d008a858700200"
    "057f02598f01fedd0000000049454e44ae426082"
)
# A tf.train.Example: a is [1.5, 2.5], b is [7], c is ["xy"].
_EXAMPLE = bytes.fromhex("0a2c0a110a0161120c120a0a080000c03f000020400a0a0a016212051a030a01070a0b0a016312060a040a027879")
_ONE, _ZERO = np.array(1, np.int32), np.array(0, np.int32)

CALLS: Mapping[str, Call] = {
    "AsString": Call([_floats(2, 3)], [object], {"precision": 2}),
    "AvgPool3D": Call([_floats(2, 3, 4, 4, 2)], [np.float32], _POOL_3D),
    "Bincount": Call([_ints(1, 3, 1), np.array(5, np.int32), _floats(3)], [np.float32]),
    "CaseFoldUTF8": Call([_texts(b"A b", "ﬁÉ".encode())], [object]),
    "Cholesky": Call([_MATRICES], [np.float32]),
    "ConcatV2": Call([_WORDS, _WORDS, _ZERO], [object]),
    "Convolution2DTransposeBias": Call(
        [_floats(2, 3, 4, 2), _floats(3, 3, 3, 2), _floats(3)], [np.float32], {"strides": [2, 2], "padding": "SAME"}
    ),
    "CropAndResize": Call(
        [_floats(2, 4, 5, 3), np.array([[0, 0, 1, 1], [0.2, 0.1, 0.9, 0.7]], np.float32), _ints(1, 0), _ints(3, 2)],
        [np.float32],
    ),
    "Cross": Call([_floats(4, 3), _floats(4, 3) + 1], [np.float32]),
    "Cumprod": Call([_floats(3, 4), _ONE], [np.float32]),
    "DecodeBase64": Call([_texts(b"b25l", b"")], [object]),
    "DecodeBmp": Call([_text(_BMP)], [np.uint8], {"channels": 4}),
    "DecodeImage": Call([_text(_BMP)], [np.float32], {"channels": 3, "dtype": 0, "expand_animations": False}),
    "DecodeJpeg": Call([_text(_JPEG)], [np.uint8], {"channels": 3, "ratio": 1, "dct_method": "INTEGER_ACCURATE"}),
    "DecodePaddedRaw": Call([_texts(b"abcd", b"x"), np.array(8, np.int32)], [np.int16], _INT16),
    "DecodePng": Call([_text(_PNG)], [np.uint16], {"channels": 0, "dtype": 16}),
    "DecodeRaw": Call([_texts(b"abcd", b"efgh")], [np.int16], _INT16),
    "DenseBincount": Call([_ints([1, 3], [0, 1]), np.array(4, np.int32), _floats(2, 2)], [np.float32]),
    "DenseImageWarp": Call([_floats(2, 4, 5, 3), _floats(2, 4, 5, 2)], [np.float32]),
    "EncodeBase64": Call([_WORDS], [object], {"pad": True}),
    "Erf": Call([_floats(2, 3)], [np.float32]),
    "ExtractImagePatches": Call([_floats(2, 4, 4, 3)], [np.float32], _PATCHES),
    "IRFFT": Call([_spectrum(2, 5), _ints(8)], [np.float32]),
    "IRFFT2D": Call([_spectrum(2, 4, 5), _ints(4, 8)], [np.float32]),
    "Landmarks2TransformMatrix": Call(
        [_floats(1, 4, 3)],
        [np.float32],
        {
            "subset_idxs": [0, 1],
            "left_rotation_idx": 2,
            "right_rotation_idx": 3,
            "target_rotation_radians": 0.5,
            "output_width": 8,
            "output_height": 6,
            "scale_x": 1.5,
            "scale_y": 2.0,
        },
    ),
    "LinSpace": Call([np.array(1, np.float32), np.array(3, np.float32), np.array(5, np.int32)], [np.float32]),
    "MatrixDeterminant": Call([_MATRICES], [np.float32]),
    "MatrixInverse": Call([_MATRICES], [np.float32]),
    "MatrixSolve": Call([_MATRICES, _floats(2, 3, 4)], [np.float32]),
    "MatrixTriangularSolve": Call([_MATRICES, _floats(2, 3, 4)], [np.float32]),
    "MaxPool3D": Call([_floats(2, 3, 4, 4, 2)], [np.float32], _POOL_3D),
    "MaxPoolWithArgmax": Call([_floats(2, 5, 4, 3)], [np.float32, np.int64], _POOL),
    "MaxPoolingWithArgmax2D": Call(
        [_floats(2, 5, 4, 3)], [np.float32, np.float32], {"pool_size": [2, 2], "strides": [2, 2], "padding": "SAME"}
    ),
    "MaxUnpooling2D": Call(
        [_floats(1, 2, 2, 1), _ints(0, 3, 9, 15).reshape(1, 2, 2, 1)],
        [np.float32],
        {"pool_size": [2, 2], "strides": [2, 2], "padding": "SAME"},
    ),
    "NormalizeUTF8": Call([_texts(b"A b", "ﬁÉ".encode())], [object], {"normalization_form": "NFKD"}),
    "Pack": Call([_WORDS, _WORDS], [object], {"axis": 0}),
    "Pad": Call([_WORDS, _ints([1, 2])], [object]),
    "PadV2": Call([_WORDS, _ints([1, 2]), _text(b"-")], [object]),
    "ParseExample": Call(
        [_texts(_EXAMPLE), _texts(), _text(b"a"), _floats(0)],
        [np.float32],
        {"Nsparse": 0, "Ndense": 1, "sparse_types": [], "Tdense": [0], "dense_shapes": ["2"]},
    ),
    "ParseExampleV2": Call(
        [_texts(_EXAMPLE, _EXAMPLE), _texts(), _texts(b"b"), _texts(b"a", b"a"), _texts(b"c"), _floats(1), _floats(1)],
        [np.int64, np.int64, np.int64, np.float32, np.float32, object, np.int32],
        {
            "num_sparse": 1,
            "sparse_types": [4],
            "Tdense": [0, 0],
            "dense_shapes": ["?", "?x2"],
            "ragged_value_types": [5],
            "ragged_split_types": [2],
        },
    ),
    "ParseSingleExample": Call(
        [_text(_EXAMPLE), _floats(0)],
        [np.int64, np.int64, np.int64, np.float32],
        {
            "num_sparse": 1,
            "sparse_keys": ["b"],
            "dense_keys": ["a"],
            "sparse_types": [4],
            "Tdense": [0],
            "dense_shapes": ["2"],
        },
    ),
    "RaggedTensorToTensor": Call(
        [_longs(2, 3), _WORDS, _text(b"-"), _longs(0, 1, 3)], [object], {"row_partition_types": ["ROW_SPLITS"]}
    ),
    "ReduceJoin": Call([_WORDS, _ints(0)], [object], {"separator": "+"}),
    "RegexFullMatch": Call([_WORDS, _text(b"[a-z]+")], [np.bool_]),
    "RegexReplace": Call([_WORDS, _text(b"e+"), _text(rb"<\0>")], [object], {"replace_global": True}),
    "RegexSplitWithOffsets": Call([_WORDS, _text(rb"(\s|e)"), _text(b"(e)")], [object, np.int64, np.int64, np.int64]),
    "Roll": Call([_floats(3, 4), _ints(1, 2), _ints(0, 1)], [np.float32]),
    "Select": Call([np.array([True, False, True]), _WORDS, _texts(b"x", b"y", b"z")], [object]),
    "SelectV2": Call([np.array([True, False, True]), _WORDS, _text(b"-")], [object]),
    "SparseCross": Call(
        [
            _longs([0, 0], [1, 0]),
            _longs([0, 0], [1, 0]),
            _texts(b"a", b"b"),
            _texts(b"c", b"d"),
            _longs(2, 1),
            _longs(2, 1),
        ],
        [np.int64, object, np.int64],
        {"N": 2, "hashed_output": False, "num_buckets": 0, "hash_key": 1},
    ),
    "SparseToDense": Call([_longs(0, 2), _longs(4), _texts(b"a", b"b"), _text(b"-")], [object]),
    "StaticRegexFullMatch": Call([_WORDS], [np.bool_], {"pattern": "[a-z]+"}),
    "StaticRegexReplace": Call([_WORDS], [object], {"pattern": "e+", "rewrite": r"<\0>", "replace_global": True}),
    "StringJoin": Call([_WORDS, _WORDS], [object], {"separator": "+"}),
    "StringLength": Call([_WORDS], [np.int32], {"unit": "BYTE"}),
    "StringLower": Call([_WORDS], [object], {"encoding": ""}),
    "StringNGrams": Call(
        [_WORDS, _longs(0, 1, 3)],
        [object, np.int64],
        {"separator": " ", "ngram_widths": [2], "left_pad": "<", "right_pad": ">", "pad_width": -1},
    ),
    "StringSplit": Call([_WORDS, _text(b" ")], [np.int64, object, np.int64], {"skip_empty": True}),
    "StringSplitV2": Call([_WORDS, _text(b"")], [np.int64, object, np.int64], {"maxsplit": -1}),
    "StringStrip": Call([_texts(b" a ", b"b")], [object]),
    "StringToHashBucket": Call([_WORDS], [np.int64], {"num_buckets": 100}),
    "StringToHashBucketFast": Call([_WORDS], [np.int64], {"num_buckets": 100}),
    "StringToHashBucketStrong": Call([_WORDS], [np.int64], {"num_buckets": 100, "key": [1, 2]}),
    "StringToNumber": Call([_texts(b"1.5", b"-2")], [np.float32]),
    "StringUpper": Call([_WORDS], [object], {"encoding": ""}),
    "Substr": Call([_WORDS, _ZERO, _ONE], [object], {"unit": "BYTE"}),
    "TransformLandmarks": Call([_floats(2, 4, 3), _floats(2, 4, 4)], [np.float32]),
    "TransformTensorBilinear": Call(
        [_floats(2, 4, 5, 3), np.diag([0.5, 0.5, 1, 1]).astype(np.float32)],
        [np.float32],
        {"output_height": 3, "output_width": 4},
    ),
    "UnicodeDecode": Call([_WORDS], [np.int64, np.int32], _UNICODE),
    "UnicodeDecodeWithOffsets": Call([_WORDS], [np.int64, np.int32, np.int64], _UNICODE),
    "UnicodeEncode": Call([_ints(104, 105, 233), _longs(0, 2, 3)], [object], {"output_encoding": "UTF-8"}),
    "UnicodeScript": Call([_ints([65, 1046], [-1, 32])], [np.int32]),
    "UnicodeScriptTokenizeWithOffsets": Call(
        [_ints(65, 32, 1046, 33), _longs(0, 3, 4)],
        [np.int32, np.int64, np.int64, np.int64, np.int64],
        {"keep_whitespace": True},
    ),
    "UnicodeTranscode": Call([_WORDS], [object], {**_UNICODE, "output_encoding": "UTF-16-BE"}),
    "UnravelIndex": Call([_ints(5, 7), _ints(3, 4)], [np.int32]),
    "UnsortedSegmentJoin": Call([_WORDS, _ints(1, 0, 1), np.array(2, np.int32)], [object], {"separator": "+"}),
    "WordpieceTokenizeWithOffsets": Call(
        [_texts(b"foxes", b"xyz"), _texts(b"fox", b"##es", b"[UNK]")],
        [object, np.int64, np.int64, np.int64],
        {
            "suffix_indicator": "##",
            "max_bytes_per_word": 100,
            "max_chars_per_token": 0,
            "use_unknown_token": True,
            "unknown_token": "[UNK]",
            "split_unknown_characters": False,
            "output_row_partition_type": "row_splits",
        },
    ),
    "TFText>NgramsStringJoin": Call(
        [_WORDS, _longs(0, 1, 3)], [object, np.int64], {"width": 2, "string_separator": "|", "axis": -1}
    ),
    "TFText>WhitespaceTokenizeWithOffsetsV2": Call(
        [_WORDS, _text(b"\0\0\0\0\1")], [object, np.int64, np.int32, np.int32]
    ),
    "tftext:Ngrams": Call(
        [_WORDS, _longs(0, 1, 3)],
        [object, np.int64],
        {"width": 2, "string_separator": "|", "axis": -1, "reduction_type": "STRING_JOIN"},
    ),
    "tftext:WhitespaceTokenizer": Call([_WORDS], [object, np.int64]),
    "tftext:custom:SgnnProjection": Call(
        [_WORDS, _longs(0, 1, 3)], [np.float32], {"hash_seed": [17, -5], "buckets": 2**31 - 1}
    ),
}
