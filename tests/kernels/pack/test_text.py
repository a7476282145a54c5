"""WhitespaceTokenizer, Ngrams and SgnnProjection: kernels of strings, in numpy only."""

from __future__ import annotations

import itertools
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from litefuse.errors import KernelError
from litefuse.kernels import PACK, PYTHON_ONLY
from litefuse.kernels.pack.strings.farmhash import fingerprint64
from litefuse.litert.runtime.custom_op import TensorSpec
from litefuse.litert.runtime.interpreter import Interpreter
from tests.kernels.pack.one_op import FORMS, run
from tests.litert.runtime.models import Graph, model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TOKENIZER, NGRAMS, SGNN = "tftext:WhitespaceTokenizer", "tftext:Ngrams", "tftext:custom:SgnnProjection"

# Options as TFLiteConverter writes them, for n-grams of 2 without separator and for ten seeds.
NGRAMS_OPTIONS = bytes.fromhex(
    "776964746800737472696E675F736570617261746F720000006178697300726564756374696F6E5F74797065000B535452494E475F4A4F494E"
    "0004221E373E040104FF152C0204141404082401"
)
SGNN_OPTIONS = bytes.fromhex(
    "686173685F736565640000000A00000071F86A71318B0AA8023F331CD59AC14AC5E7E95CDE35AD68F474A4711A3C5CC2421F5B20AE52EB1F"
    "6275636B6574730002094200030000000100000002000000FFFFFF7F44000000062E0A2601"
)
SEEDS = [
    *(1902835825, -1475704015, 473120514, 1254202069, 1558833093),
    *(1756181982, 1906603252, -1034142694, 542842690, 535515822),
]
BUCKETS = 0x7FFFFFFF
HELLO = [b"^h", b"he", b"el", b"ll", b"lo", b"o$", b"^h", b"hi", b"i$"]


def strings(values: Any) -> Any:
    """Values as the interpreter takes strings: a scalar as an array of numpy's own bytes."""
    return np.array(values) if isinstance(values, bytes) else np.array(values, object)


def direct(op: str, inputs: Sequence[Any], options: Mapping[str, Any] | None = None) -> list[Any]:
    """What the kernel gives without a runtime, which takes its time for each of many models."""
    kernel: Any = PACK[op]()
    given_options = {**(options or {})}
    specs = kernel.prepare(*(TensorSpec(one.shape, one.dtype) for one in inputs), **given_options)
    outputs = [np.empty(spec.shape or 0, spec.dtype) for spec in ([specs] if isinstance(specs, TensorSpec) else specs)]
    kernel.invoke(tuple(inputs), outputs, **given_options)
    return [output.tolist() for output in outputs]


def tokenize(text: Any) -> list[Any]:
    array = strings(text)
    return [part.tolist() for part in run(TOKENIZER, [array], [object] + [np.int64] * array.ndim)]


def ngrams(values: Any, *splits: Sequence[int], width: int = 2, separator: str = "|", **more: Any) -> list[Any]:
    options = {"width": width, "string_separator": separator, "axis": -1, "reduction_type": "STRING_JOIN", **more}
    rows = [np.array(one, np.int64) for one in splits]
    return [part.tolist() for part in run(NGRAMS, [strings(values), *rows], [object] + [np.int64] * len(rows), options)]


def project(values: Any, splits: Any, seeds: Any, buckets: Any = BUCKETS) -> Any:
    return run(SGNN, [strings(values), splits], [np.float32], {"hash_seed": seeds, "buckets": buckets})[0]


TOKENS: list[Any] = [
    (b"a bb  ccc", [[b"a", b"bb", b"ccc"]]),
    (b" \t\r\n ", [[]]),
    ([b"small medium large", b"", b" x "], [[b"small", b"medium", b"large", b"x"], [0, 3, 3, 4]]),
    ([b" "], [[], [0, 0]]),
    ([[b"a b", b"c"], [b"", b"d e"]], [[b"a", b"b", b"c", b"d", b"e"], [0, 2, 4], [0, 2, 3, 3, 5]]),
    ([[b"a", b"b", b" "]], [[b"a", b"b"], [0, 3], [0, 1, 2, 2]]),
    ([b"nul\0stays here\0"], [[b"nul\0stays", b"here\0"], [0, 2]]),
]


@pytest.mark.parametrize(("text", "expected"), TOKENS)
def test_tokens(text: Any, expected: list[Any]) -> None:
    assert tokenize(text) == expected


def test_empty_scalar() -> None:
    # The interpreter takes no such string from an array.
    assert direct(TOKENIZER, [strings([b""]).reshape(())]) == [[]]


@pytest.mark.parametrize(
    ("shape", "splits"),
    [((0,), [[0]]), ((0, 3), [[0], [0]]), ((3, 0), [[0, 0, 0, 0], [0]]), ((0, 0), [[0], [0]])],
)
def test_no_text(shape: tuple[int, ...], splits: list[list[int]]) -> None:
    assert tokenize(np.empty(shape, object)) == [[], *splits]


# Unicode's property White_Space; and characters that look like it, or that Python's str.split() splits at.
WHITESPACE = (
    "\t\n\v\f\r \u0085\u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
)
OTHERS = (
    "\0\b\x0e\x1c\x1d\x1e\x1f!\u0084\u0086\u009f\u00a1\u167f\u1681\u180e"
    "\u1fff\u200b\u200c\u2027\u202a\u2060\u2ffe\u3001\ufeff"
)
TEXT = st.text(st.one_of(st.sampled_from(WHITESPACE + OTHERS + "ab漢😀"), st.characters(exclude_categories=["Cs"])))


@pytest.mark.parametrize("character", WHITESPACE, ids=ascii)
def test_whitespace(character: str) -> None:
    assert tokenize([f"ä{character}b{character * 2}".encode()]) == [["ä".encode(), b"b"], [0, 2]]


@pytest.mark.parametrize("character", OTHERS, ids=ascii)
def test_no_whitespace(character: str) -> None:
    text = f"ä{character}b".encode()
    assert tokenize([text]) == [[text], [0, 1]]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (b"\xff \xfe", [b"\xff", b"\xfe"]),
        (b"a\x85b\xa0c", [b"a\x85b\xa0c"]),  # Latin-1
        (b"a\xc0\xa0b", [b"a\xc0\xa0b"]),  # a blank in two bytes
        (b"a\xe2\x80", [b"a\xe2\x80"]),  # cut off
        (b"a\xe2\x80 b", [b"a\xe2\x80", b"b"]),
        (b"a\xe2\xc2\xa0b", [b"a\xe2", b"b"]),
        (b"\xed\xa0\x80 x", [b"\xed\xa0\x80", b"x"]),  # a surrogate
    ],
)
def test_text_that_is_no_utf_8(text: bytes, tokens: list[bytes]) -> None:
    assert tokenize([text])[0] == tokens


def tokens_of(text: str) -> list[str]:
    """Tokens by the definition, character by character."""
    found: list[str] = []
    for white, group in itertools.groupby(text, lambda character: character in WHITESPACE):
        if not white:
            found.append("".join(group))
    return found


@given(st_numpy.arrays(object, st_numpy.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3), elements=TEXT))
def test_any_text(text: Any) -> None:
    texts: list[str] = text.ravel().tolist()
    tokens, *splits = direct(TOKENIZER, [strings([one.encode() for one in texts]).reshape(text.shape)])
    expected = [tokens_of(one) for one in texts]
    assert [token.decode() for token in tokens] == list(itertools.chain(*expected))
    assert splits[-1] == [0, *itertools.accumulate(map(len, expected))]
    for axis, outer in enumerate(splits[:-1]):
        rows = math.prod(text.shape[: axis + 1])
        assert outer == [row * text.shape[axis + 1] for row in range(rows + 1)]


@given(st.binary(max_size=40))
def test_any_bytes(text: bytes) -> None:
    # No byte is lost but those of whitespace characters.
    tokens = direct(TOKENIZER, [strings([text])])[0]
    assert b"" not in tokens
    pattern = b"(?:%s)*" % b"|".join(re.escape(one.encode()) for one in WHITESPACE)
    assert re.fullmatch(pattern + pattern.join(map(re.escape, tokens)) + pattern, text, re.DOTALL)


def test_text_that_is_none() -> None:
    with pytest.raises(KernelError, match="text must be of strings, not int32"):
        run(TOKENIZER, [np.zeros(2, np.int32)], [object, np.int64])


def test_sizes_change_between_calls() -> None:
    graph = Graph()
    text = graph.input("text", [1], object, signature=[-1])
    tokens, splits = graph.output("tokens", [], object), graph.output("splits", [1], np.int64, signature=[-1])
    graph.custom(TOKENIZER, [text], [tokens, splits])
    interpreter = Interpreter(model(graph))
    for batch in ([b"a b c"], [b"", b"d", b"e f"], [b""], [], [b"g"]):
        interpreter.resize_tensor_input(text, [len(batch)])
        interpreter.allocate_tensors()
        for _ in range(2):
            interpreter.set_tensor(text, strings(batch))
            interpreter.invoke()
            assert interpreter.get_tensor(tokens).tolist() == b" ".join(batch).split()
            assert interpreter.get_tensor(splits).tolist() == [0, *itertools.accumulate(len(t.split()) for t in batch)]


@pytest.mark.parametrize(
    ("values", "splits", "width", "expected"),
    [
        ([b"e", b"f", b"g", b"dd", b"ee"], [[0, 3, 5]], 2, [[b"e|f", b"f|g", b"dd|ee"], [0, 2, 3]]),
        ([b"e", b"f", b"g", b"dd", b"ee"], [[0, 3, 5]], 3, [[b"e|f|g"], [0, 1, 1]]),
        ([b"e", b"f", b"g"], [[0, 3]], 4, [[], [0, 0]]),
        ([b"a", b"b", b"c"], [[0, 0, 1, 1, 3]], 1, [[b"a", b"b", b"c"], [0, 0, 1, 1, 3]]),
        ([b"a", b"b", b"c"], [[0, 2, 2], [0, 2, 3]], 2, [[b"a|b"], [0, 2, 2], [0, 1, 1]]),
        ([], [[0]], 2, [[], [0]]),
        ([], [[0, 0, 0]], 2, [[], [0, 0, 0]]),
        ([b"", b"", b"\xff\0"], [[0, 3]], 2, [[b"|", b"|\xff\0"], [0, 2]]),
    ],
)
def test_ngrams_of_ragged_rows(values: Any, splits: Any, width: int, expected: Any) -> None:
    assert ngrams(values, *splits, width=width) == expected


DENSE_ROWS: list[Any] = [
    ([b"a", b"b", b"c"], 2, [b"a|b", b"b|c"]),
    ([b"a", b"b", b"c"], 1, [b"a", b"b", b"c"]),
    ([b"a"], 2, []),
    ([b"a"], 1 << 30, []),
    ([[b"a", b"b"], [b"c", b"d"]], 2, [[b"a|b"], [b"c|d"]]),
    ([[b"a", b"b"], [b"c", b"d"]], 3, [[], []]),
    ([[[b"a", b"b", b"c"]]], 2, [[[b"a|b", b"b|c"]]]),
]


@pytest.mark.parametrize(("values", "width", "expected"), DENSE_ROWS)
def test_ngrams_of_dense_rows(values: Any, width: int, expected: Any) -> None:
    assert ngrams(values, width=width) == [expected]


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)])
def test_ngrams_of_nothing(shape: tuple[int, ...]) -> None:
    (found,) = run(NGRAMS, [np.empty(shape, object)], [object], {"width": 2})
    assert found.shape == (*shape[:-1], max(shape[-1] - 1, 0))


@pytest.mark.parametrize("separator", ["", " ", "é漢", '"', "\0"])
def test_separators(separator: str) -> None:
    assert ngrams([b"a", b"b"], separator=separator) == [[b"a" + separator.encode() + b"b"]]


def test_ngrams_with_the_options_of_the_stock_converter() -> None:
    values, splits = strings([b"a", b"b", b"c"]), np.array([0, 3])
    found = run(NGRAMS, [values, np.array([0, 1]), splits], [object, np.int64, np.int64], NGRAMS_OPTIONS)
    assert [part.tolist() for part in found] == [[b"ab", b"bc"], [0, 1], [0, 2]]


def test_row_splits_of_32_bits() -> None:
    found = run(NGRAMS, [strings([b"a", b"b"]), np.array([0, 2], np.int32)], [object, np.int32], {"width": 2})
    assert [part.tolist() for part in found] == [[b"a b"], [0, 1]]


WRONG_ROW_SPLITS: list[Any] = [
    ([[1, 3]], "row_splits 0 begins with 1, not 0"),
    ([[0, 2]], "row_splits 0 ends with 2, not with 3, the number of what it splits"),
    ([[0, 4]], "row_splits 0 ends with 4"),
    ([[0, 2, 1, 3]], "row_splits 0 falls from 2 to 1 after position 1"),
    ([[0, 1], [0, 1, 3]], "row_splits 0 ends with 1, not with 2"),
    ([[0, 2], [0, -1, 3]], "row_splits 1 falls from 0 to -1"),
    ([[0, 1 << 40, 3]], "row_splits 0 falls"),
    ([[0, 2**63 - 1, -2, 3]], "row_splits 0 falls from 9223372036854775807 to -2"),
    ([[]], "row_splits 0 must be of rank 1 with one element or more"),
]


@pytest.mark.parametrize(("splits", "message"), WRONG_ROW_SPLITS)
def test_wrong_row_splits(splits: Any, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        ngrams([b"a", b"b", b"c"], *splits)
    with pytest.raises(KernelError, match="row_splits"):
        project([b"a", b"b", b"c"], np.array(splits[-1], np.int64)[:-1], [1])


@pytest.mark.parametrize(
    ("values", "splits", "options", "message"),
    [
        ([b"a"], [], {"width": 0}, "width must be a positive int, not 0"),
        ([b"a"], [], {"width": "2"}, "width must be a positive int, not '2'"),
        ([b"a"], [], {"axis": 0}, "axis must be -1 and reduction_type STRING_JOIN, not 0"),
        ([b"a"], [], {"reduction_type": "SUM"}, "not -1 and 'SUM'"),
        ([b"a"], [], {"separator": 3}, "string_separator must be a string, not 3"),
        (b"a", [], {}, "values must be of rank 1 or more, not a scalar"),
        ([[b"a"]], [[0, 1]], {}, "values of a ragged tensor must be of rank 1"),
    ],
)
def test_wrong_ngrams(values: Any, splits: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(KernelError, match=message):
        ngrams(values, *splits, **options)


def test_ngrams_of_numbers() -> None:
    with pytest.raises(KernelError, match="values must be of strings, not float32"):
        run(NGRAMS, [np.zeros(3, np.float32)], [object], {"width": 2})
    with pytest.raises(KernelError, match="row_splits 0 must be int32 or int64, not float32"):
        run(NGRAMS, [strings([b"a"]), np.zeros(2, np.float32)], [object, np.float32], {"width": 2})
    with pytest.raises(KernelError, match="the model does not give the option 'width'"):
        run(NGRAMS, [strings([b"a"])], [object])


@given(
    st.lists(st.lists(st.lists(st.binary(max_size=3), max_size=4), max_size=3), max_size=3),
    st.integers(1, 4),
    st.text(max_size=2),
)
def test_ngrams_of_any_rows(rows: list[list[list[bytes]]], width: int, separator: str) -> None:
    outer = [0, *itertools.accumulate(map(len, rows))]
    flat = list(itertools.chain(*rows))
    inner = [0, *itertools.accumulate(map(len, flat))]
    expected = [
        [separator.encode().join(window) for window in zip(*(row[at:] for at in range(width)), strict=False)]
        for row in flat
    ]
    values = list(itertools.chain(*flat))
    options = {"width": width, "string_separator": separator}
    found = direct(NGRAMS, [strings(values), np.array(outer), np.array(inner)], options)
    assert found == [list(itertools.chain(*expected)), outer, [0, *itertools.accumulate(map(len, expected))]]


# What tf.strings.to_hash_bucket_fast gives for 2**63 - 1 buckets, by the length of the string.
FINGERPRINTS = [
    (0, 1936946117179621456),
    (1, 5161771770385946686),
    (3, 4662423180930907492),
    (4, 4685977051251400297),
    (7, 8010051901585887497),
    (8, 3403648104430010921),
    (16, 663651183927826905),
    (17, 7736696382783243920),
    (32, 3992320350721670009),
    (33, 3233698670931835598),
    (64, 1859692024977922285),
    (65, 444801980686921533),
    (127, 5926385096735868780),
    (128, 6615484076916436426),
    (129, 5067021833811671751),
    (300, 3886849482814154723),
]


@pytest.mark.parametrize(("size", "expected"), FINGERPRINTS)
def test_fingerprints(size: int, expected: int) -> None:
    text = bytes((7 * place + size) % 256 for place in range(size))
    assert fingerprint64(text) % (2**63 - 1) == expected


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_projection(dtype: Any) -> None:
    # The numbers of the model's own test, https://github.com/tensorflow/models, research/seq_flow_lite/models/sgnn.
    found = project(HELLO, np.array([0, 6, 9], dtype), [5, 7])
    np.testing.assert_allclose(found, [[0.448691, -0.238499], [-0.037561, 0.080748]], atol=1e-6)


def test_projection_with_the_options_of_the_stock_converter() -> None:
    inputs = [strings(HELLO), np.array([0, 6, 9])]
    (found,) = run(SGNN, inputs, [np.float32], SGNN_OPTIONS)
    assert found.shape == (2, 10)
    np.testing.assert_array_equal(found, project(HELLO, np.array([0, 6, 9]), SEEDS))


def by_definition(rows: Sequence[Sequence[bytes]], seeds: Sequence[int], buckets: int) -> Any:
    """The projection in Python's own ints."""

    def value(text: bytes, seed: int) -> int:
        found = abs(fingerprint64(text) % buckets * seed) % buckets
        return found - buckets if found > buckets // 2 else found

    return np.array(
        [
            [sum(value(text, seed) for text in row) / len(row) / (buckets // 2) if row else np.nan for seed in seeds]
            for row in rows
        ],
        np.float32,
    ).reshape(len(rows), len(seeds))


int32 = st.integers(-(2**31), 2**31 - 1)


@given(
    st.lists(st.lists(st.binary(max_size=80), max_size=4), max_size=4),
    st.lists(int32, min_size=1, max_size=4),
    st.one_of(st.integers(2, 9), st.integers(2, 2**31 - 1), st.just(BUCKETS)),
)
def test_any_projection(rows: list[list[bytes]], seeds: list[int], buckets: int) -> None:
    splits = np.array([0, *itertools.accumulate(map(len, rows))], np.int64)
    values = strings(list(itertools.chain(*rows)))
    (found,) = direct(SGNN, [values, splits], {"hash_seed": seeds, "buckets": buckets})
    found = np.array(found, np.float32).reshape(len(rows), len(seeds))
    np.testing.assert_allclose(found, by_definition(rows, seeds, buckets), rtol=1e-6, atol=1e-7)


def test_rows_without_strings_are_nan_and_others_are_not() -> None:
    found = project([b"a"], np.array([0, 0, 1, 1]), [5, 7])
    assert np.isnan(found).tolist() == [[True, True], [False, False], [True, True]]
    assert project([], np.array([0]), [5, 7]).shape == (0, 2)


def test_projections_lie_between_minus_1_and_1() -> None:
    words = [str(number).encode() for number in range(2000)]
    found = project(words, np.arange(2001), SEEDS)
    assert np.abs(found).max() <= 1
    assert abs(found.mean()) < 0.02
    assert found.min() < -0.99 < 0.99 < found.max()


@pytest.mark.parametrize(
    ("seeds", "buckets", "message"),
    [
        ([1], 1, "buckets must be an int from 2 to 2147483647, not 1"),
        ([1], 1 << 31, "buckets must be an int from 2"),
        ([1], "8", "buckets must be an int from 2"),
        ([1 << 31], 8, r"hash_seed must be a list of 32-bit ints, not \[2147483648\]"),
        ([1.5], 8, "hash_seed must be a list of 32-bit ints"),
        (7, 8, "hash_seed must be a list of 32-bit ints, not 7"),
    ],
)
def test_wrong_options_of_projections(seeds: Any, buckets: Any, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        project([b"a"], np.array([0, 1]), seeds, buckets)


@pytest.mark.parametrize(
    ("values", "splits", "message"),
    [
        ([[b"a"]], np.array([0, 1]), "values must be strings of rank 1"),
        ([b"a"], np.array([[0, 1]]), "row_splits must be of rank 1"),
        ([b"a"], np.array([0.0, 1.0]), "row_splits must be int32 or int64, not float64"),
    ],
)
def test_wrong_inputs_of_projections(values: Any, splits: Any, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        project(values, splits, [1])


@pytest.mark.skipif("native" not in FORMS, reason="litefuse was installed without its native kernels")
def test_beside_native_kernels() -> None:
    from litefuse.litert.runtime.native import pack

    library = pack()
    assert library is not None
    assert not PYTHON_ONLY & library.names
    (found,) = run(NGRAMS, [strings([b"a", b"b"])], [object], {"width": 2}, form="native")
    assert found.tolist() == [b"a b"]
