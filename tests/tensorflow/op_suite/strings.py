"""Cases of ops of strings, and of what these are split into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.tensorflow.op_suite.case import Array, Case, Make, Operand, Tensor, integers, one_of

S, I32, I64 = "string", "int32", "int64"
_TEXT = [
    *(b"", b"a", b" Hello,  World! ", b"a,b,,c", "Größe ΑΣ \u212a İ".encode(), b"the end\n", b"tab\tand\x00nul"),
    *(b"x" * 70, "日本 語".encode(), b"123 45", b"-7"),
]
_NO_TEXT = [b"\xff", b"a\xc3", b"\xe2\x82b", b"ok", b"\xf0\x9f\x98\x80\xf0"]


def _of(*values: bytes) -> Make:
    return lambda random, shape: random.choice(np.array([*values, b""], object)[:-1], shape)


def _text(*shape: int | None) -> Tensor:
    return Tensor(S, shape, _of(*_TEXT))


def _in_turn(*values: Any) -> Make:
    """These values, over and over again."""

    def make(_random: np.random.Generator, shape: Sequence[int]) -> Array:
        return np.resize(np.array(values, object if isinstance(values[0], bytes) else None), shape)

    return make


def _splits(*sizes: int) -> Tensor:
    """Row splits of rows of these sizes."""
    ends = np.cumsum([0, *sizes])
    return Tensor(I64, (len(sizes) + 1,), lambda _, __: ends)


def string(value: bytes) -> Array:
    return np.array(value)


def i32(*values: int) -> Array:
    return np.array(values, np.int32)


def _letters() -> list[Case]:
    cases = [
        Case(op, [_text(*shape)], {"encoding": encoding} if encoding is not None else {})
        for op in ("StringLower", "StringUpper")
        for shape, encoding in (((None,), ""), ((2, None), "utf-8"), ((), None))
    ]
    broken = Tensor(S, (5,), _in_turn(*_NO_TEXT))
    cases += [Case("StringLower", [broken], {"encoding": "utf-8"}), Case("StringStrip", [_text(None, 2)])]
    for unit in ("BYTE", "UTF8_CHAR"):
        cases += [Case("StringLength", [_text(None)], {"unit": unit}), Case("StringLength", [broken], {"unit": unit})]
        part = Tensor(S, (None, 3), _of("Größe".encode(), b"abcdefg", "日本語日本語".encode()))
        cases += [
            Case("Substr", [part, np.array(pos, np.int32), np.array(length, np.int32)], {"unit": unit})
            for pos, length in ((1, 2), (-3, 2), (0, 100), (2, -1))
        ]
        pos, length = Tensor(I64, (None, 3), integers(-3, 3)), Tensor(I64, (None, 3), integers(0, 4))
        cases.append(Case("Substr", [part, pos, length], {"unit": unit}))
    cases.append(Case("Substr", [Tensor(S, (), _of(b"abcdef")), i32(0, 1, -2), i32(2, 3, 4)]))
    return cases


def _joins() -> list[Case]:
    cases = [
        Case("StringJoin", [[_text(None), _text(None)]], {"separator": "-"}),
        Case("StringJoin", [[_text(None, 2), _text(None, 2), string(b"/")]]),
        Case("StringJoin", [[_text(), _text(2, None)]], {"separator": "ü"}),
        Case("StringJoin", [[_text(), _text()]]),
        Case("UnsortedSegmentJoin", [_text(4), Tensor(I32, (4,), integers(0, 3)), np.array(4, np.int32)]),
        Case(
            "UnsortedSegmentJoin",
            [_text(3, None), Tensor(I64, (3,), integers(0, 2)), Tensor(I32, (), one_of(2))],
            {"separator": ", "},
        ),
    ]
    cases += [
        Case("ReduceJoin", [_text(None, 3), axes], {"separator": " ", "keep_dims": axes.shape == (2,)})
        for axes in (np.array(0, np.int32), np.array(-1, np.int32), i32(0, 1), i32(1, 0), i32())
    ]
    cases.append(Case("ReduceJoin", [_text(2, None, 3), i32(2, 0)], {"separator": "."}))
    cases.append(Case("ReduceJoin", [_text(2, 3), Tensor(I32, (1,), one_of(1))]))
    return cases


def _splittings() -> list[Case]:
    cases = [
        Case("StringSplitV2", [_text(None), string(sep)], {"maxsplit": maxsplit})
        for sep, maxsplit in ((b"", -1), (b"", 1), (b"", 0), (b" ", -1), (b",", 2), (b", ", -1), ("ö".encode(), -1))
    ]
    cases.append(Case("StringSplitV2", [_text(4), Tensor(S, (), one_of(b"e"))]))
    cases += [
        Case("StringSplit", [_text(None), string(delimiters)], {"skip_empty": skip})
        for delimiters, skip in ((b" ", True), (b", ", False), (b"", True))
    ]
    options: list[dict[str, Any]] = [
        {"ngram_widths": [2], "pad_width": 0, "preserve_short_sequences": False},
        {"ngram_widths": [1, 3], "pad_width": -1, "preserve_short_sequences": False},
        {"ngram_widths": [3], "pad_width": 1, "preserve_short_sequences": True},
        {"ngram_widths": [4], "pad_width": 0, "preserve_short_sequences": True},
    ]
    data = Tensor(S, (7,), _of(*_TEXT))
    for given in options:
        attributes = {"separator": " ", "left_pad": "<", "right_pad": ">", **given}
        cases.append(Case("StringNGrams", [data, _splits(1, 0, 4, 2)], attributes))
    return cases


def _patterns() -> list[Case]:
    punctuation = r'[!"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\']'
    cases = [
        Case("StaticRegexReplace", [_text(None)], {"pattern": pattern, "rewrite": rewrite, "replace_global": every})
        for pattern, rewrite, every in (
            (punctuation, "", True),
            (r"\s+", " ", True),
            (r"(\w)(\w*)", r"\2\1", True),
            (r"(?i)h?e", r"[\0]", True),
            ("", "-", True),
            (r"[[:upper:]]", "", False),
            (r"\pL+$", "ß", True),
            (r"\p{Greek}", "", True),
            (r"\C", "", True),
        )
    ]
    cases += [
        Case("StaticRegexFullMatch", [_text(None, 2)], {"pattern": pattern})
        for pattern in (r"[-\d ]+", r"(?s).*", r"a|\S+")
    ]
    pattern, rewrite = Tensor(S, (), one_of(b"[a-l]+")), Tensor(S, (), one_of(b"\\0\\0"))
    return [
        *cases,
        Case("RegexReplace", [_text(None), pattern, rewrite], {"replace_global": True}),
        Case("RegexReplace", [_text(None), string(b"^."), string(b"")], {"replace_global": False}),
        Case("RegexFullMatch", [_text(None), Tensor(S, (), one_of(b"[a-c,]*"))]),
    ]


def _numbers() -> list[Case]:
    forms = (b"1", b" -2.5e3 ", b"inf", b"nan", b"0x1p-2", b".1", b"16777217.0000001", b"1e-50")
    decimals = Tensor(S, (None, 2), _of(*forms))
    whole = Tensor(S, (None,), _of(b"0", b" 42", b"-17\n", b"+2147483647"))
    cases = [Case("StringToNumber", [decimals], {"out_type": dtype}) for dtype in ("float32", "float64")]
    raw = Tensor(S, (None, 2), _of(b"\x01\x02\x03\x04\x05\x06\x07\x08", b"8 bytes.", b"\0\0\0\0\0\0\0\1"))
    for dtype, order in (("uint8", True), ("int16", False), (I32, True), ("float32", False)):
        given = {"out_type": dtype, "little_endian": order}
        cases += [Case("DecodeRaw", [raw], given), Case("DecodePaddedRaw", [raw, np.array(16, np.int32)], given)]
    cases += [Case("DecodeRaw", [raw], {"out_type": dtype}) for dtype in ("float16", "complex64")]
    cases += [Case("StringToNumber", [whole], {"out_type": dtype}) for dtype in (I32, I64)]
    cases += [
        Case("AsString", [Tensor(dtype, (None,))], attributes)
        for dtype, attributes in (
            (I32, {}),
            (I64, {"width": 6, "fill": "0"}),
            ("int8", {"width": 4, "fill": "-"}),
            ("uint8", {}),
            ("float32", {}),
            ("float32", {"precision": 2, "width": 8, "fill": "+"}),
            ("float32", {"shortest": True}),
            ("float64", {"scientific": True}),
            ("bool", {}),
            ("complex64", {"precision": 1}),
        )
    ]
    odd = Tensor("float32", (6,), _in_turn(np.inf, -np.inf, np.nan, -np.nan, -0.0, 1e30))
    cases += [Case("AsString", [odd], {"width": 9, "fill": fill}) for fill in ("", "0", "+")]
    for op in ("StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong"):
        attributes: dict[str, Any] = {"num_buckets": 2**40 + 1}
        if op.endswith("Strong"):
            attributes["key"] = [133, -137]
        cases.append(Case(op, [_text(None, 7)], attributes))
    cases += [Case("EncodeBase64", [_text(None)], {"pad": pad}) for pad in (False, True)]
    return [*cases, Case("DecodeBase64", [Tensor(S, (None,), _of(b"", b"YQ", b"YWI=", b"_-8w", b"YWJjZA"))])]


def _characters() -> list[Case]:
    broken = Tensor(S, (5,), _in_turn(*_NO_TEXT))
    options: list[dict[str, Any]] = [
        {"input_encoding": "UTF-8"},
        {"input_encoding": "UTF-8", "errors": "ignore", "Tsplits": I32, "replace_control_characters": True},
        {"input_encoding": "UTF-16-BE", "replacement_char": 63},
        {"input_encoding": "latin1"},
    ]
    cases = [Case("UnicodeDecode", [text], given) for given in options for text in (_text(None), broken)]
    pairs = ((_text(None, 2), options[0]), (broken, options[2]))
    cases += [Case("UnicodeDecodeWithOffsets", [text], given) for text, given in pairs]
    codes = Tensor(I32, (6,), _in_turn(72, 0xE9, 0x1F600, 0xD800, -1, 0x65E5))
    cases += [
        Case("UnicodeEncode", [codes, _splits(2, 0, 3, 1)], {"output_encoding": encoding, "errors": errors})
        for encoding, errors in (("UTF-8", "replace"), ("UTF-16-BE", "ignore"), ("UTF-32-BE", "replace"))
    ]
    for given in ({"errors": "replace"}, {"errors": "ignore", "replace_control_characters": True}):
        encodings = {"input_encoding": "UTF-8", "output_encoding": "UTF-16-BE"}
        cases += [Case("UnicodeTranscode", [text], {**encodings, **given}) for text in (_text(None), broken)]
    return [*cases, Case("UnicodeScript", [Tensor(I32, (None,), integers(30, 300))])]


def _moved() -> list[Case]:
    condition = Tensor("bool", (None, 3))
    return [
        Case("ConcatV2", [[_text(None), np.array([b"x", b"y"], object)], np.array(0, np.int32)]),
        Case("Pack", [[_text(), _text(), _text()]], {"axis": 0}),
        Case("SelectV2", [condition, _text(None, 3), string(b"else")]),
        Case("SelectV2", [Tensor("bool", (3,)), _text(None, 1), _text(3)]),
        Case("Select", [condition, _text(None, 3), _text(None, 3)]),
        Case("Select", [Tensor("bool", (None,)), _text(None, 3), _text(None, 3)]),
        Case("PadV2", [_text(None, 2), np.array([[1, 0], [0, 2]], np.int32), string(b"pad")]),
        Case("Pad", [_text(None, 2), np.array([[1, 0], [0, 2]], np.int32)]),
        Case("ZerosLike", [_text(None, 2)]),
        Case("DynamicPartition", [_text(4), Tensor(I32, (4,), _in_turn(0, 1, 1, 0))], {"num_partitions": 2}),
        Case("DynamicStitch", [[i32(0, 2), i32(1, 3)], [_text(2), _text(2)]]),
        Case("Unique", [_text(6)]),
        Case("Unique", [_text(None)], {"out_idx": I64}, open_sizes=(1, 7)),
        Case("UniqueWithCounts", [_text(None)], {"out_idx": I32}, open_sizes=(2, 6)),
        Case("UniqueV2", [_text(6), np.array([0])], {"out_idx": I32}),
        Case("ListDiff", [_text(6), np.array([b"a", b"zz"], object)], {"out_idx": I64}),
        Case("ListDiff", [_text(None), _text(1)], {"out_idx": I32}, open_sizes=(5, 9)),
        Case("ScatterNd", [np.array([[0], [2]], np.int32), _text(2), i32(4)]),
        Case("TensorScatterUpdate", [_text(4), np.array([[0], [2]], np.int32), _text(2)]),
        Case("ReverseSequence", [_text(2, 3), Tensor(I32, (2,), integers(1, 4))], {"seq_dim": 1}),
        Case("SparseToDense", [Tensor(I64, (2, 2), _in_turn(0, 1, 2, 0)), np.array([3, 2]), _text(2), string(b"-")]),
    ]


def _ragged() -> list[Case]:
    values = Tensor(S, (5,), _of(*_TEXT))
    splits = {"row_partition_types": ["ROW_SPLITS"]}
    ids = {"row_partition_types": ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]}
    rows = Tensor(I64, (5,), _in_turn(0, 0, 2, 2, 2))
    inner = Tensor(S, (5, 2), _of(*_TEXT))
    return [
        Case("RaggedTensorToTensor", [np.array([-1, -1]), values, string(b"."), [_splits(2, 0, 3)]], splits),
        Case("RaggedTensorToTensor", [np.array([4, 2]), values, string(b""), [_splits(2, 0, 3)]], splits),
        Case("RaggedTensorToTensor", [np.array([2, -1, 2]), inner, string(b""), [_splits(2, 0, 3)]], splits),
        Case("RaggedTensorToTensor", [np.array(-1), values, string(b"."), [np.array(4), rows]], ids),
        Case(
            "RaggedTensorToTensor",
            [np.array([-1, -1, 2]), values, string(b"."), [_splits(1, 2), _splits(2, 0, 3)]],
            {"row_partition_types": ["ROW_SPLITS", "ROW_SPLITS"]},
        ),
        Case("RaggedGather", [[_splits(2, 0, 3)], values, i32(2, 0, 1, 2)], {"OUTPUT_RAGGED_RANK": 1}),
        Case(
            "RaggedGather",
            [[_splits(1, 2), _splits(2, 0, 3)], Tensor("float32", (5, 2)), Tensor(I64, (None,), integers(0, 2))],
            {"OUTPUT_RAGGED_RANK": 2},
        ),
        *(
            Case(
                "RaggedBincount",
                [_splits(2, 0, 4), Tensor(dtype, (6,), integers(0, 6)), np.array(5, dtype), weights],
                {"binary_output": binary},
            )
            for dtype, weights, binary in _bincounts()
        ),
    ]


def _bincounts() -> list[tuple[str, Operand, bool]]:
    return [
        (I32, np.zeros([0], np.float32), False),
        (I64, np.zeros([0], np.float32), True),
        (I64, Tensor("float32", (6,)), False),
        (I32, Tensor(I64, (6,)), False),
    ]


def _crosses() -> list[Case]:
    hashed = {"hashed_output": True, "num_buckets": 100, "hash_key": 0xDECAFCAFFE, "out_type": I64, "internal_type": S}
    two = [_text(None, 1), _text(None, 2)]
    numbers = Tensor(I64, (None, 2))
    plain = {**hashed, "hashed_output": False, "out_type": S}
    any_number = {**hashed, "num_buckets": 0, "internal_type": I64}
    return [
        Case("SparseCross", [[], [], [], two], hashed),
        Case("SparseCross", [[], [], [], [_text(None, 1), numbers]], any_number),
        Case("SparseCross", [[], [], [], two], plain),
    ]


CASES: tuple[Case, ...] = (
    *_letters(),
    *_joins(),
    *_splittings(),
    *_patterns(),
    *_numbers(),
    *_characters(),
    *_moved(),
    *_ragged(),
    *_crosses(),
)
