"""Kernels of strings, as they are called, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter, load_delegate

from litefuse.errors import KernelError
from litefuse.kernels import PYTHON_ONLY, native_library
from litefuse.kernels.pack.strings import regular_expressions
from litefuse.kernels.pack.strings.regular_expressions import expression
from litefuse.kernels.pack.supported import refusal
from litefuse.litert.runtime.custom_op import is_beyond_native
from tests.every import every
from tests.kernels.pack.one_op import FORMS, run
from tests.litert.runtime.models import Graph, model


def strings(*values: bytes) -> Any:
    array = np.empty(len(values), object)
    array[:] = values
    return array


@pytest.mark.parametrize("form", FORMS)
def test_splits_of_several_rows(form: str) -> None:
    inputs, options = [strings(b"a,bb", b"", b"c"), np.array(b",")], {"maxsplit": -1}
    places, values, shape = run("StringSplitV2", inputs, [np.int64, object, np.int64], options, form=form)
    assert places.tolist() == [[0, 0], [0, 1], [1, 0], [2, 0]]
    assert values.tolist() == [b"a", b"bb", b"", b"c"]
    assert shape.tolist() == [3, 2]


GROESSE, UTF_8 = "größe".encode(), {"output_encoding": "UTF-8"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("op", "inputs", "dtype", "options", "expected"),
    [
        ("StringLower", [strings("ÄB".encode())], object, {}, ["Äb".encode()]),
        ("StringLower", [strings("ÄB".encode())], object, {"encoding": "utf-8"}, ["äb".encode()]),
        ("StringJoin", [strings(b"a", b"b"), np.array(b"-")], object, {"separator": "+"}, [b"a+-", b"b+-"]),
        ("Substr", [strings(GROESSE), np.int32(2), np.int32(2)], object, {"unit": "UTF8_CHAR"}, ["öß".encode()]),
        ("StringToNumber", [strings(b" 1e3", b"-inf")], np.float32, {"out_type": 0}, [1000.0, -np.inf]),
        ("DecodeRaw", [strings(b"\0\1\2\3")], np.int16, {"out_type": 7, "little_endian": False}, [[1, 515]]),
        ("DecodePaddedRaw", [strings(b"abc"), np.int32(4)], np.int32, {"out_type": 2}, [[0x636261]]),
        ("AsString", [np.array([7, -1])], object, {"width": 3, "fill": "0"}, [b"007", b"-01"]),
        ("StringToHashBucketFast", [strings(b"Hello", b"2.x")], np.int64, {"num_buckets": 3}, [0, 2]),
        ("StaticRegexReplace", [strings(b"a\xffb")], object, {"pattern": ".", "rewrite": r"<\0>"}, [b"<a>\xff<b>"]),
        ("PadV2", [strings(b"a"), np.array([[1, 2]]), np.array(b"-")], object, {}, [b"-", b"a", b"-", b"-"]),
        ("UnicodeEncode", [np.array([72, 105], np.int32), np.array([0, 1, 2])], object, UTF_8, [b"H", b"i"]),
    ],
)  # fmt: skip
def test_one_op(
    op: str, inputs: list[Any], dtype: Any, options: dict[str, Any], expected: list[Any], form: str
) -> None:
    # Where there is no native kernel, or not of these options, the interpreter runs that in Python.
    (output,) = run(op, inputs, [dtype], options, form=form)
    assert output.tolist() == expected


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("op", "inputs", "options", "message"),
    [
        ("StringLower", [strings(b"a")], {"encoding": "latin1"}, "encoding must be empty or utf-8, not 'latin1'"),
        ("StringStrip", [np.array([1])], {}, "input (must be of strings, not int64|is of int64, not of string)"),
        ("StringJoin", [strings(b"a"), strings(b"a", b"b")], {}, r"one shape or scalars, not [\[(]1,?[\])] and [\[(]2"),
        ("Substr", [strings(b"abc"), np.int32(4), np.int32(1)], {}, "pos must lie within its string, but 4 is outside"),
        ("StringToNumber", [strings(b"1_0")], {"out_type": 0}, "'1_0' is not a number of float32"),
        ("DecodeRaw", [strings(b"abc")], {"out_type": 0}, "3 bytes are not a whole number of float32"),
        ("DecodeRaw", [strings(b"abcd", b"")], {"out_type": 0}, "must have one length, not"),
        ("DecodePaddedRaw", [strings(b"a"), np.int32(6)], {"out_type": 0}, "positive multiple of 4, .*not 6"),
        ("AsString", [np.array([1])], {"precision": 2}, "do not belong to int64"),
        ("StaticRegexReplace", [strings(b"a")], {"pattern": "(", "rewrite": ""}, r"is not closed|missing \)"),
        ("StaticRegexReplace", [strings(b"a")], {"pattern": "a", "rewrite": r"\x"}, "behind a backslash stands"),
        ("ReduceJoin", [strings(b"a"), np.array([1], np.int32)], {}, "reduction_indices must be from -1 to 0, not 1"),
        ("DecodeBase64", [strings(b"a")], {}, "is not Base64"),
        ("Pack", [strings(b"a"), strings(b"a", b"b")], {}, "inputs must be of one shape"),
        ("StringToHashBucketFast", [strings(b"a")], {"num_buckets": 0}, "num_buckets must be positive"),
    ],
)  # fmt: skip
def test_what_is_refused(op: str, inputs: list[Any], options: dict[str, Any], message: str, form: str) -> None:
    numbers = dict.fromkeys(("DecodePaddedRaw", "DecodeRaw", "StringToNumber"), np.float32)
    dtype = {**numbers, "StringToHashBucketFast": np.int64}.get(op, object)
    with pytest.raises(KernelError, match=message):
        run(op, inputs, [dtype], options, form=form)


@pytest.mark.parametrize(
    ("pattern", "rewrite", "text", "expected"),
    [
        ("x*", "-", "abxd", "-a-b-d-"),  # Python's own re.sub replaces the empty match behind x as well
        ("x*", "-", "éxüx", "-é-ü-"),
        ("a$", "", "a\n", "a\n"),
        (r"[^\W\d]+", "w", "ab12 é", "w12 é"),
        (r"(?i)straße|k", "!", "STRAßE \u212a", "! !"),
        ("a{,2}", "", "a{,2}a", "a"),
        (r"(a)(b)?", r"\2\1", "aab", "aba"),
        (r"(a)", r"\2", "aa", "aa"),
        (r"\pL+", r"<\0>\\ü", "éa 1", r"<éa>\ü 1"),
        (r"^a|b", "", "aab", "a"),
        (r"\p{Greek}+", "", "aΩβ", "a"),
        (r"b(a?)*", r"<\1>", "ba", "<a>"),  # Python puts in the last, empty turn
    ],
)
def test_expressions_mean_what_they_mean_in_re2(pattern: str, rewrite: str, text: str, expected: str) -> None:
    known = expression(pattern.encode())

    assert known.replaced(rewrite.encode(), text.encode(), every=True).decode() == expected
    assert known.replaced(rewrite.encode(), b"", every=False) == (b"-" if pattern == "x*" else b"")


def test_a_match_is_one_of_the_whole_text() -> None:
    known = expression("a|é+".encode())

    assert [known.matches(text.encode()) for text in ("a", "éé", "aé", "", "a\n")] == [True, True, False, False, False]


def test_bytes_that_are_no_text_stay() -> None:
    assert expression(rb"(?s).|[^a]|\D").replaced(b"", b"a\xffb\xc3", every=True) == b"\xff\xc3"
    assert expression(b"x*").replaced(b"\xfe", b"\xffa", every=True) == b"\xfe\xff\xfea\xfe"
    assert not expression(b".").matches(b"\xff")


@pytest.mark.parametrize("pattern", [b"(", b"a**", b"\xff", b"[b-a]", b"a{1001}", rb"\8"])
def test_expressions_that_are_none(pattern: bytes) -> None:
    with pytest.raises(KernelError, match="regular expression"):
        expression(pattern)


def test_rewritings_that_are_none() -> None:
    with pytest.raises(KernelError, match="behind a backslash stands a digit or another one"):
        expression(b"a").replaced(b"\\\xff", b"a", every=True)


def test_an_expression_that_takes_python_an_age() -> None:
    """A minute for these characters, and twice that for one more."""
    text = np.array([b"x" * 60], object)

    (matches,) = run("StaticRegexFullMatch", [text], [np.bool_], {"pattern": "(?i)(x+x+)+y"})

    assert matches.tolist() == [False]


def test_without_google_re2_a_kernel_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regular_expressions, "google_re2", lambda: None)
    expression.cache_clear()
    options = {"pattern": "(?i)b+", "rewrite": "-"}

    with pytest.raises(KernelError, match="google-re2") as raised:
        run("StaticRegexReplace", [strings(b"aBc")], [object], options)
    assert "pip install 'litefuse[text]'" in str(raised.value)


def test_a_conversion_without_google_re2_takes_all_expressions(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal("StaticRegexFullMatch", ["bool"], {"pattern": "("}) == "regular expression '(': missing ): ("

    monkeypatch.setattr(regular_expressions, "google_re2", lambda: None)

    assert refusal("StaticRegexFullMatch", ["bool"], {"pattern": "("}) is None


def test_forms_that_the_pack_has_no_kernel_for() -> None:
    assert refusal("ConcatV2", ["string"], {}) is None
    assert refusal("ConcatV2", ["complex128"], {}) == ""
    assert refusal("StaticRegexReplace", ["string"], {"pattern": r"\w+"}) is None
    assert "\\p{Hun}" in (refusal("StaticRegexFullMatch", ["bool"], {"pattern": r"\p{Hun}"}) or "")
    assert "not SHIFT_JIS" in (refusal("UnicodeDecode", ["int64", "int32"], {"input_encoding": "SHIFT_JIS"}) or "")
    assert refusal("StringLower", ["string"], {}) is None


def test_what_is_beyond_the_kernels_in_cpp() -> None:
    assert not {"StringLower", "StaticRegexReplace"} & PYTHON_ONLY
    assert not is_beyond_native("StringLower", {"encoding": ""})
    assert is_beyond_native("StringLower", {"encoding": "utf-8"})
    beyond = [r"\pL", r"\C", r"[\p{Lu}]", "(?i)a", "a(?s:.)", "(?U)a+"]
    assert every(is_beyond_native("StaticRegexReplace", {"pattern": pattern}) for pattern in beyond)
    within = [r"[!-/\[\]^_`{|}~']+", r"(?:a|b)*", r"(?P<name>\w+)$", "[[:alpha:]]"]
    assert not any(is_beyond_native("StaticRegexReplace", {"pattern": pattern}) for pattern in within)


@pytest.mark.skipif("native" not in FORMS, reason="there is no native library")
@pytest.mark.parametrize(
    "pattern",
    ["(" * 300 + ")" * 300, *(f"(?:(?:(?:(?:{part}{{1000}}){{1000}}){{1000}}){{1000}})" for part in ("a", "(?:)"))],
    ids=["deep", "large", "empty"],
)
def test_expressions_that_are_too_large_for_the_kernel_in_cpp(pattern: str) -> None:
    with pytest.raises(KernelError, match=r"too (large|deep)"):
        run("StaticRegexReplace", [strings(b"a")], [object], {"pattern": pattern, "rewrite": ""}, form="native")


@pytest.mark.skipif("native" not in FORMS, reason="there is no native library")
@pytest.mark.parametrize(
    "header", [[2, 12, 12], [1, 12, 99], [1, -4, 12], [1, 13, 12], [1]], ids=["count", "end", "begin", "order", "short"]
)
def test_a_damaged_tensor_of_strings_is_refused_in_cpp(header: list[int]) -> None:
    graph = Graph()
    text = graph.tensor("text", (1,), object, value=[b""])
    graph.tensors[text] = (graph.tensors[text][0], np.array(header, "<i4").tobytes())
    graph.custom("StringStrip", [text], [graph.output("y", (1,), object)])
    # The stock interpreter, on a device too, does not look at them; litefuse's refuses the model.
    library = load_delegate(str(native_library()))
    interpreter = Interpreter(model_content=model(graph), experimental_delegates=[library])
    interpreter.allocate_tensors()
    with pytest.raises(RuntimeError, match=r"input (is not a tensor of 1 strings|has a string outside of its buffer)"):
        interpreter.invoke()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sizes", [(-1, -1, -1), (2, 3, 2), (4, -1, 3), (-1, 1, 4), (3, 2, -1)])
def test_rows_of_rows_in_a_tensor(form: str, sizes: tuple[int, ...]) -> None:
    rows = [[[b"a", b"b"], [b"c"], []], [], [[b"d", b"e", b"f"]]]
    outer = np.cumsum([0, *map(len, rows)])
    inner = np.cumsum([0, *(len(row) for part in rows for row in part)])
    values = strings(*(value for part in rows for row in part for value in row))
    inputs = [np.array(sizes), values, np.array(b"-"), outer, inner]
    options = {"row_partition_types": ["ROW_SPLITS", "ROW_SPLITS"]}
    (tensor,) = run("RaggedTensorToTensor", inputs, [object], options, form=form)
    shape = [longest if size < 0 else size for size, longest in zip(sizes, (3, 3, 3), strict=True)]
    padded = [[[*row, *[b"-"] * 4][: shape[2]] for row in [*part, [], [], []][: shape[1]]] for part in [*rows, []]]
    assert tensor.tolist() == padded[: shape[0]]
