"""What the fusions of text take and refuse, with which reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from litefuse.fusions.fusion import find_fusion
from litefuse.fusions.tftext import random_ragged
from litefuse.ir.mlir import ir, mlir_context
from litefuse.ir.types import TensorType
from tests.fusions.fusing import reason

TOKENIZER, NGRAMS, SGNN = "tftext:WhitespaceTokenizer", "tftext:Ngrams", "tftext:custom:SgnnProjection"
STRING = "!tf_type.string"
WIDTH = {"width": 2, "string_separator": " ", "axis": -1, "reduction_type": "STRING_JOIN"}
SEEDS = {"hash_seed": [5, -7, 11], "buckets": 0x7FFFFFFF}


def types(text: str) -> str:
    """The types with ``s`` for the dtype of strings."""
    return " ".join(one[:-1] + STRING if one[-1:] == "s" else one for one in text.split())


def refused(name: str, arguments: str, results: str, attributes: dict[str, Any] | None = None) -> str:
    found = reason(name, types(arguments), types(results), attributes)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "results"),
    [
        ("s", "?xs"),
        ("1xs", "?xs ?xi64"),
        ("1xs", "?xs 2xi64"),
        ("?xs", "?xs ?xi64"),
        ("?x1xs", "?xs ?xi64 ?xi64"),
        ("3x2xs", "?xs 4xi64 7xi64"),
    ],
)
def test_tokenizer_accepted(text: str, results: str) -> None:
    assert reason(TOKENIZER, types(text), types(results)) is None
    assert reason(TOKENIZER, types(text), types(results), {"tfl_fusable_op": True}) is None


@pytest.mark.parametrize(
    ("arguments", "results", "expected"),
    [
        ("?xs ?xs", "?xs ?xi64", "it has 2 arguments, not 1 (the text)"),
        ("", "?xs", "it has 0 arguments"),
        ("?xi32", "?xs ?xi64", "the text is int32[?]; WhitespaceTokenizer takes string of rank 0, 1 or 2"),
        ("*xs", "?xs ?xi64", "the text is string[*]"),
        ("?x?x?xs", "?xs ?xi64 ?xi64 ?xi64", "the text is string[?,?,?]"),
        ("?xs", "?xs", "it has 1 results, not 2: the tokens of string[?], and row splits"),
        ("s", "?xs ?xi64", "it has 2 results, not 1"),
        ("?x?xs", "?xs ?xi64", "it has 2 results, not 3"),
        ("?xs", "?x?xs ?xi64", "result 0 is string[?,?]; the values of a ragged tensor of strings are string[?]"),
        ("?xs", "?xi64 ?xi64", "result 0 is int64[?]"),
        ("?xs", "*xs ?xi64", "result 0 is string[*]"),
        ("?xs", "3xs ?xi64", "result 0 is string[3]; how many strings there are depends on what is in the arguments"),
        ("?xs", "?xs ?xi32", "result 1 is int32[?]; row splits are int64 of rank 1"),
        ("?x?xs", "?xs ?xi64 ?x?xi64", "result 2 is int64[?,?]; row splits are int64 of rank 1"),
        ("3xs", "?xs 3xi64", "result 1 is int64[3]; the row splits of 3 rows are int64[4]"),
        ("3x2xs", "?xs 4xi64 6xi64", "result 2 is int64[6]; the row splits of 6 rows are int64[7]"),
        ("?xs", "?xs 0xi64", "result 1 is int64[0]; row splits are int64 of rank 1, with one element or more"),
    ],
)
def test_tokenizer_refused(arguments: str, results: str, expected: str) -> None:
    assert expected in refused(TOKENIZER, arguments, results)


def test_tokenizer_has_no_attributes() -> None:
    found = refused(TOKENIZER, "?xs", "?xs ?xi64", {"with_offsets": True})
    assert found == "WhitespaceTokenizer has no attribute with_offsets"


@pytest.mark.parametrize(
    ("arguments", "results"),
    [
        ("?xs", "?xs"),
        ("5xs", "4xs"),
        ("1xs", "0xs"),
        ("?x3x5xs", "?x3x4xs"),
        ("*xs", "*xs"),
        ("?x?xs", "*xs"),
        ("?xs ?xi64", "?xs ?xi64"),
        ("?xs ?xi64 ?xi64", "?xs ?xi64 ?xi64"),
        ("7xs 4xi64", "?xs 4xi64"),
        ("?xs ?xi32", "?xs ?xi32"),
    ],
)
def test_ngrams_accepted(arguments: str, results: str) -> None:
    assert reason(NGRAMS, types(arguments), types(results), WIDTH) is None


@pytest.mark.parametrize(
    ("arguments", "results", "expected"),
    [
        ("", "", "it has 0 arguments and 0 results"),
        ("?xs ?xi64", "?xs", "it has 2 arguments and 1 results; Ngrams gives values and row splits for"),
        ("?xi32", "?xs", "argument 0 is int32[?]; Ngrams without row splits takes and gives string of rank 1 or more"),
        ("s", "s", "argument 0 is string[]"),
        ("?xs", "?xi32", "result 0 is int32[?]"),
        ("?xs", "?x?xs", "result 0 is string[?,?], that of Ngrams of width 2 string[?]"),
        ("5xs", "5xs", "result 0 is string[5], that of Ngrams of width 2 string[4]"),
        ("2x5xs", "3x4xs", "that of Ngrams of width 2 string[2,4]"),
        ("?x?xs ?xi64", "?xs ?xi64", "argument 0 is string[?,?]; the values of a ragged tensor of strings are"),
        ("?xf32 ?xi64", "?xs ?xi64", "argument 0 is float32[?]"),
        ("?xs ?xi64", "?xi64 ?xi64", "result 0 is int64[?]"),
        ("?xs ?xi64", "6xs ?xi64", "result 0 is string[6]; how many strings there are"),
        ("?xs ?xf32", "?xs ?xf32", "argument 1 is float32[?]; row splits are int64 or int32 of rank 1"),
        ("?xs ?xi64 i64", "?xs ?xi64 i64", "argument 2 is int64[]"),
        ("?xs ?xi64", "?xs ?xi32", "result 1 is int32[?]; row splits are int64 of rank 1"),
        ("?xs 4xi64", "?xs 3xi64", "result 1 is int64[3]; the row splits of 3 rows are int64[4]"),
    ],
)
def test_ngrams_refused(arguments: str, results: str, expected: str) -> None:
    assert expected in refused(NGRAMS, arguments, results, WIDTH)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"width": 0}, "the attribute width is 0; Ngrams takes a positive int"),
        ({"width": -1}, "the attribute width is -1"),
        ({"width": True}, "the attribute width is True"),
        ({"width": 2.0}, "the attribute width is 2.0"),
        ({"string_separator": 1}, "the attribute string_separator is 1; Ngrams takes a string of UTF-8"),
        ({"string_separator": b"\xff"}, r"the attribute string_separator is b'\xff'"),
        ({"axis": 0}, "the attribute axis is 0; Ngrams of strings takes -1"),
        ({"axis": "-1"}, "the attribute axis is '-1'"),
        ({"reduction_type": "SUM"}, "the attribute reduction_type is 'SUM'; Ngrams takes STRING_JOIN"),
        ({"pad": 1}, "Ngrams has no attribute pad"),
        ({"width": None}, "it needs the attribute width; it has ['axis', 'reduction_type', 'string_separator']"),
        ({"reduction_type": None}, "it needs the attribute reduction_type"),
        ({"axis": None, "string_separator": None}, "it needs the attribute axis, string_separator"),
    ],
)
def test_ngrams_attributes(change: dict[str, Any], expected: str) -> None:
    attributes = {name: value for name, value in {**WIDTH, **change}.items() if value is not None}
    for parts in ("?xs", "?xs ?xi64"):
        assert expected in refused(NGRAMS, parts, parts, attributes)


@pytest.mark.parametrize(
    ("arguments", "results"),
    [
        ("?xs ?xi64", "?x3xf32"),
        ("?xs ?xi32", "?x3xf64"),
        ("?xs ?xi64", "?x?xf16"),
        ("?xs ?xi64", "?x3xbf16"),
        ("9xs 5xi64", "4x3xf32"),
    ],
)
def test_sgnn_accepted(arguments: str, results: str) -> None:
    assert reason(SGNN, types(arguments), types(results), SEEDS) is None


@pytest.mark.parametrize(
    ("arguments", "results", "expected"),
    [
        ("?xs", "?x3xf32", "it has 1 arguments, not 2 (values, row splits)"),
        ("?xs ?xi64 ?xi64", "?x3xf32", "it has 3 arguments"),
        ("?xs ?xi64", "?x3xf32 ?x3xf32", "it has 2 results, not 1"),
        ("?xi32 ?xi64", "?x3xf32", "argument 0 is int32[?]; the values of a ragged tensor of strings are string[?]"),
        ("?x?xs ?xi64", "?x3xf32", "argument 0 is string[?,?]"),
        ("?xs ?xf32", "?x3xf32", "argument 1 is float32[?]; row splits are int64 or int32 of rank 1"),
        ("?xs ?xi8", "?x3xf32", "argument 1 is int8[?]"),
        ("?xs ?x?xi64", "?x3xf32", "argument 1 is int64[?,?]"),
        ("?xs ?xi64", "?x3xi32", "the result is int32[?,3], that of SgnnProjection float32[?,3]"),
        ("?xs ?xi64", "?x4xf32", "the result is float32[?,4], that of SgnnProjection float32[?,3]"),
        ("?xs ?xi64", "?xf32", "the result is float32[?]"),
        ("?xs ?xi64", "*xf32", "the result is float32[*]"),
        ("?xs 5xi64", "5x3xf32", "the result is float32[5,3], that of SgnnProjection float32[4,3]"),
    ],
)
def test_sgnn_refused(arguments: str, results: str, expected: str) -> None:
    assert expected in refused(SGNN, arguments, results, SEEDS)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"hash_seed": 5}, "the attribute hash_seed is 5; SgnnProjection takes a list of 32-bit ints"),
        ({"hash_seed": []}, "the attribute hash_seed is []"),
        ({"hash_seed": [1, 2.0, 3]}, "the attribute hash_seed is [1, 2.0, 3]"),
        ({"hash_seed": [1, 2, 1 << 31]}, "the attribute hash_seed is [1, 2, 2147483648]"),
        ({"buckets": 1}, "the attribute buckets is 1; SgnnProjection takes a 32-bit int of 2 or more"),
        ({"buckets": 1 << 31}, "the attribute buckets is 2147483648"),
        ({"buckets": "8"}, "the attribute buckets is '8'"),
        ({"buckets": None}, "it needs the attribute buckets; it has ['hash_seed']"),
        ({"hash_seed": None}, "it needs the attribute hash_seed"),
        ({"seed": 1}, "SgnnProjection has no attribute seed"),
    ],
)
def test_sgnn_attributes(change: dict[str, Any], expected: str) -> None:
    attributes = {name: value for name, value in {**SEEDS, **change}.items() if value is not None}
    assert expected in refused(SGNN, "?xs ?xi64", "?x3xf32", attributes)


@pytest.mark.parametrize("name", ["tftext:WordpieceTokenizer", "tftext:ngrams", "tftext:", "tftext:SgnnProjection"])
def test_others_of_tensorflow_text_have_no_fusion(name: str) -> None:
    assert find_fusion(name) is None
    assert find_fusion(name, by_prefix=True) is None


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize(
    "shapes",
    [
        ((None,), (None,)),
        ((None,), (None,), (None,)),
        ((4,), (3,)),
        ((None,), (1,)),
        ((0,), (5,)),
        ((7,), (3,), (None,)),
    ],
)
def test_random_ragged_tensors_are_valid(shapes: tuple[tuple[int | None]], size: int) -> None:
    kinds = [TensorType("string" if place == 0 else "int64", shape) for place, shape in enumerate(shapes)]
    parts = random_ragged(kinds, size, np.random.default_rng(0))
    assert parts is not None
    values, *splits = parts
    ends = [*(len(one) - 1 for one in splits[1:]), len(values)]
    for one, end in zip(splits, ends, strict=True):
        assert (one[0], one[-1]) == (0, end)
        assert (np.diff(one) >= 0).all()
    for part, (known,) in zip(parts, shapes, strict=True):
        assert known is None or len(part) == known


def test_no_random_values_without_rows() -> None:
    kinds = [TensorType("string", (4,)), TensorType("int64", (1,))]
    assert random_ragged(kinds, 3, np.random.default_rng(0)) is None


def test_check_inputs_of_a_scalar_text() -> None:
    # The module keeps the context alive that the types belong to.
    from litefuse.fusions.composite import Composite
    from litefuse.fusions.tftext import WhitespaceTokenizer

    with mlir_context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            kind = ir.Type.parse(f"tensor<{STRING}>")
            value = ir.Operation.create("tf.Placeholder", results=[kind], operands=[], attributes=None).results[0]
        composite = Composite(TOKENIZER, {}, [value], [], "f")
        inputs = WhitespaceTokenizer().check_inputs(composite, 3, np.random.default_rng(0))
    assert inputs is not None
    assert [(one.shape, one.dtype.kind) for one in inputs] == [((), "S")]
