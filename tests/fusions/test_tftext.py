"""What the fusions of text take and refuse, with which reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from litefuse.fusions.fusion import find_fusion
from litefuse.fusions.tftext import random_ragged
from litefuse.ir.mlir import ir, mlir_context
from litefuse.ir.types import TensorType
from litefuse.testing import became

TOKENIZER, NGRAMS, SGNN = "tftext:WhitespaceTokenizer", "tftext:Ngrams", "tftext:custom:SgnnProjection"
WIDTH = {"width": 2, "string_separator": " ", "axis": -1, "reduction_type": "STRING_JOIN"}
SEEDS = {"hash_seed": [5, -7, 11], "buckets": 0x7FFFFFFF}


def refused(name: str, arguments: str, results: str, attributes: dict[str, Any] | None = None) -> str:
    found = became(name, arguments, results, attributes).reason
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "results"),
    [
        ("string[]", "string[?]"),
        ("string[1]", "string[?] int64[?]"),
        ("string[1]", "string[?] int64[2]"),
        ("string[?]", "string[?] int64[?]"),
        ("string[?,1]", "string[?] int64[?] int64[?]"),
        ("string[3,2]", "string[?] int64[4] int64[7]"),
    ],
)
def test_tokenizer_accepted(text: str, results: str) -> None:
    assert became(TOKENIZER, text, results).reason is None
    assert became(TOKENIZER, text, results, {"tfl_fusable_op": True}).reason is None


@pytest.mark.parametrize(
    ("arguments", "results", "expected"),
    [
        ("string[?] string[?]", "string[?] int64[?]", "it has 2 arguments, not 1 (the text)"),
        ("", "string[?]", "it has 0 arguments"),
        ("int32[?]", "string[?] int64[?]", "the text is int32[?]; WhitespaceTokenizer takes string of rank 0, 1 or 2"),
        ("string[*]", "string[?] int64[?]", "the text is string[*]"),
        ("string[?,?,?]", "string[?] int64[?] int64[?] int64[?]", "the text is string[?,?,?]"),
        ("string[?]", "string[?]", "it has 1 results, not 2: the tokens of string[?], and row splits"),
        ("string[]", "string[?] int64[?]", "it has 2 results, not 1"),
        ("string[?,?]", "string[?] int64[?]", "it has 2 results, not 3"),
        (
            "string[?]",
            "string[?,?] int64[?]",
            "result 0 is string[?,?]; the values of a ragged tensor of strings are string[?]",
        ),
        ("string[?]", "int64[?] int64[?]", "result 0 is int64[?]"),
        ("string[?]", "string[*] int64[?]", "result 0 is string[*]"),
        (
            "string[?]",
            "string[3] int64[?]",
            "result 0 is string[3]; how many strings there are depends on what is in the arguments",
        ),
        ("string[?]", "string[?] int32[?]", "result 1 is int32[?]; row splits are int64 of rank 1"),
        ("string[?,?]", "string[?] int64[?] int64[?,?]", "result 2 is int64[?,?]; row splits are int64 of rank 1"),
        ("string[3]", "string[?] int64[3]", "result 1 is int64[3]; the row splits of 3 rows are int64[4]"),
        ("string[3,2]", "string[?] int64[4] int64[6]", "result 2 is int64[6]; the row splits of 6 rows are int64[7]"),
        (
            "string[?]",
            "string[?] int64[0]",
            "result 1 is int64[0]; row splits are int64 of rank 1, with one element or more",
        ),
    ],
)
def test_tokenizer_refused(arguments: str, results: str, expected: str) -> None:
    assert expected in refused(TOKENIZER, arguments, results)


def test_tokenizer_has_no_attributes() -> None:
    found = refused(TOKENIZER, "string[?]", "string[?] int64[?]", {"with_offsets": True})
    assert found == "WhitespaceTokenizer has no attribute with_offsets"


@pytest.mark.parametrize(
    ("arguments", "results"),
    [
        ("string[?]", "string[?]"),
        ("string[5]", "string[4]"),
        ("string[1]", "string[0]"),
        ("string[?,3,5]", "string[?,3,4]"),
        ("string[*]", "string[*]"),
        ("string[?,?]", "string[*]"),
        ("string[?] int64[?]", "string[?] int64[?]"),
        ("string[?] int64[?] int64[?]", "string[?] int64[?] int64[?]"),
        ("string[7] int64[4]", "string[?] int64[4]"),
        ("string[?] int32[?]", "string[?] int32[?]"),
    ],
)
def test_ngrams_accepted(arguments: str, results: str) -> None:
    assert became(NGRAMS, arguments, results, WIDTH).reason is None


@pytest.mark.parametrize(
    ("arguments", "results", "expected"),
    [
        ("", "", "it has 0 arguments and 0 results"),
        ("string[?] int64[?]", "string[?]", "it has 2 arguments and 1 results; Ngrams gives values and row splits for"),
        (
            "int32[?]",
            "string[?]",
            "argument 0 is int32[?]; Ngrams without row splits takes and gives string of rank 1 or more",
        ),
        ("string[]", "string[]", "argument 0 is string[]"),
        ("string[?]", "int32[?]", "result 0 is int32[?]"),
        ("string[?]", "string[?,?]", "result 0 is string[?,?], that of Ngrams of width 2 string[?]"),
        ("string[5]", "string[5]", "result 0 is string[5], that of Ngrams of width 2 string[4]"),
        ("string[2,5]", "string[3,4]", "that of Ngrams of width 2 string[2,4]"),
        (
            "string[?,?] int64[?]",
            "string[?] int64[?]",
            "argument 0 is string[?,?]; the values of a ragged tensor of strings are",
        ),
        ("float32[?] int64[?]", "string[?] int64[?]", "argument 0 is float32[?]"),
        ("string[?] int64[?]", "int64[?] int64[?]", "result 0 is int64[?]"),
        ("string[?] int64[?]", "string[6] int64[?]", "result 0 is string[6]; how many strings there are"),
        (
            "string[?] float32[?]",
            "string[?] float32[?]",
            "argument 1 is float32[?]; row splits are int64 or int32 of rank 1",
        ),
        ("string[?] int64[?] int64[]", "string[?] int64[?] int64[]", "argument 2 is int64[]"),
        ("string[?] int64[?]", "string[?] int32[?]", "result 1 is int32[?]; row splits are int64 of rank 1"),
        ("string[?] int64[4]", "string[?] int64[3]", "result 1 is int64[3]; the row splits of 3 rows are int64[4]"),
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
    for parts in ("string[?]", "string[?] int64[?]"):
        assert expected in refused(NGRAMS, parts, parts, attributes)


@pytest.mark.parametrize(
    ("arguments", "results"),
    [
        ("string[?] int64[?]", "float32[?,3]"),
        ("string[?] int32[?]", "float64[?,3]"),
        ("string[?] int64[?]", "float16[?,?]"),
        ("string[?] int64[?]", "bfloat16[?,3]"),
        ("string[9] int64[5]", "float32[4,3]"),
    ],
)
def test_sgnn_accepted(arguments: str, results: str) -> None:
    assert became(SGNN, arguments, results, SEEDS).reason is None


@pytest.mark.parametrize(
    ("arguments", "results", "expected"),
    [
        ("string[?]", "float32[?,3]", "it has 1 arguments, not 2 (values, row splits)"),
        ("string[?] int64[?] int64[?]", "float32[?,3]", "it has 3 arguments"),
        ("string[?] int64[?]", "float32[?,3] float32[?,3]", "it has 2 results, not 1"),
        (
            "int32[?] int64[?]",
            "float32[?,3]",
            "argument 0 is int32[?]; the values of a ragged tensor of strings are string[?]",
        ),
        ("string[?,?] int64[?]", "float32[?,3]", "argument 0 is string[?,?]"),
        ("string[?] float32[?]", "float32[?,3]", "argument 1 is float32[?]; row splits are int64 or int32 of rank 1"),
        ("string[?] int8[?]", "float32[?,3]", "argument 1 is int8[?]"),
        ("string[?] int64[?,?]", "float32[?,3]", "argument 1 is int64[?,?]"),
        ("string[?] int64[?]", "int32[?,3]", "the result is int32[?,3], that of SgnnProjection float32[?,3]"),
        ("string[?] int64[?]", "float32[?,4]", "the result is float32[?,4], that of SgnnProjection float32[?,3]"),
        ("string[?] int64[?]", "float32[?]", "the result is float32[?]"),
        ("string[?] int64[?]", "float32[*]", "the result is float32[*]"),
        ("string[?] int64[5]", "float32[5,3]", "the result is float32[5,3], that of SgnnProjection float32[4,3]"),
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
    assert expected in refused(SGNN, "string[?] int64[?]", "float32[?,3]", attributes)


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
            kind = ir.Type.parse("tensor<!tf_type.string>")
            value = ir.Operation.create("tf.Placeholder", results=[kind], operands=[], attributes=None).results[0]
        composite = Composite(TOKENIZER, {}, [value], [], "f")
        inputs = WhitespaceTokenizer().check_inputs(composite, 3, np.random.default_rng(0))
    assert inputs is not None
    assert [(one.shape, one.dtype.kind) for one in inputs] == [((), "S")]
