# pyright: reportUnknownLambdaType=false
"""Composites of TensorFlow Text's API for LiteRT in SavedModels: fused, converted, and run with the kernel pack.

The bodies are ops of TensorFlow itself, since TensorFlow Text need not be installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import NotFusedError, UnsupportedOpsError
from litefuse.frontends.saved_model.messages import SavedModel
from tests.tensorflow.checking import check, custom_options, op_counts, run_calls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.tensorflow.process import TensorFlow

SEEDS = [1902835825, -1475704015, 473120514, 7, -1]
BUCKETS = 0x7FFFFFFF
TEXTS = [b"small medium large", b"", b" \t two\nlines ", "übergroß größer".encode(), b"x", b"  "]


def strings(values: Any) -> Any:
    return np.array(values) if isinstance(values, bytes) else np.array(values, object)


def batches(name: str = "text") -> list[dict[str, Any]]:
    return [{name: strings(TEXTS[start : start + size])} for start, size in ((0, 1), (1, 3), (2, 3), (5, 1))]


def serving(tf: Any, function: Any, *specs: Any) -> Any:
    module = tf.Module()
    module.serve = tf.function(function, input_signature=specs)
    return module, {"serving_default": module.serve}


def tokenizer(tf: Any, kind: str = "attributes") -> Any:
    """A whitespace tokenizer: strings split by ``tf.strings.split``, which itself knows ASCII whitespace only."""
    annotation = {"attributes": 'name: "tftext:WhitespaceTokenizer"', "string": "tftext:WhitespaceTokenizer"}[kind]

    @tf.function(experimental_implements=annotation)
    def tokenize(text: Any) -> Any:
        text = tf.strings.regex_replace(text, r"[\pZ\x{85}]", " ")
        if text.shape.rank in {0, 1}:
            return tf.strings.split(text)
        return tf.strings.split(tf.RaggedTensor.from_tensor(text))

    return tokenize


def tokenizing(tf: Any, shape: Sequence[int | None], kind: str) -> Any:
    tokenize = tokenizer(tf, kind)

    def serve(text: Any) -> Any:
        tokens = tokenize(text)
        if len(shape) == 0:
            return {"tokens": tokens}
        splits = {f"splits_{place}": one for place, one in enumerate(tokens.nested_row_splits)}
        return {"tokens": tokens.flat_values, **splits}

    return serving(tf, serve, tf.TensorSpec(shape, tf.string, name="text"))


def ngrams_annotation(width: int, separator: str, axis: int = -1) -> str:
    return (
        f'name: "tftext:Ngrams" attr {{ key: "width" value {{ i: {width} }} }} '
        f'attr {{ key: "axis" value {{ i: {axis} }} }} '
        'attr { key: "reduction_type" value { s: "STRING_JOIN" } } '
        f'attr {{ key: "string_separator" value {{ s: "{separator}" }} }}'
    )


def ngrams(tf: Any, data: Any, width: int, separator: str) -> Any:
    """TensorFlow Text's function for LiteRT: a ragged tensor goes into the composite in its parts."""

    @tf.function(experimental_implements=ngrams_annotation(width, separator))
    def ragged(values: Any, *splits: Any) -> Any:
        rows = tf.RaggedTensor.from_nested_row_splits(values, splits)
        innermost = tf.RaggedTensor.from_row_splits(values, splits[-1])
        joined = tf.strings.ngrams(innermost, width, separator)
        for one in reversed(splits[:-1]):
            joined = tf.RaggedTensor.from_row_splits(joined, one)
        assert joined.ragged_rank == rows.ragged_rank
        return joined

    @tf.function(experimental_implements=ngrams_annotation(width, separator))
    def dense(values: Any) -> Any:
        count = values.shape[-1] - width + 1
        parts = [values[..., at : at + count] for at in range(width)]
        return tf.strings.join(parts, separator)

    if isinstance(data, tf.RaggedTensor):
        return ragged(data.flat_values, *data.nested_row_splits)
    return dense(data)


def joining(tf: Any, width: int, separator: str) -> Any:
    def serve(text: Any) -> Any:
        tokens = tokenizer(tf)(text)
        joined = ngrams(tf, tokens, width, separator)
        return {"values": joined.flat_values, "splits": joined.row_splits}

    return serving(tf, serve, tf.TensorSpec([None], tf.string, name="text"))


def joining_dense(tf: Any, shape: Sequence[int | None], width: int) -> Any:
    def serve(words: Any) -> Any:
        return {"values": ngrams(tf, words, width, "_")}

    return serving(tf, serve, tf.TensorSpec(shape, tf.string, name="words"))


def projection(tf: Any, dtype: str, seeds: Sequence[int] = SEEDS) -> Any:
    """The composite of the SGNN model, from its published formulas."""
    listed = " ".join(f"i: {seed}" for seed in seeds)

    @tf.function(
        experimental_implements=(
            f'name: "tftext:custom:SgnnProjection" attr {{ key: "hash_seed" value {{ list {{ {listed} }} }} }} '
            f'attr {{ key: "buckets" value {{ i: {BUCKETS} }} }}'
        )
    )
    def project(values: Any, splits: Any) -> Any:
        signatures = tf.strings.to_hash_bucket_fast(values, BUCKETS)
        projected = tf.abs(signatures[:, tf.newaxis] * tf.constant(seeds, tf.int64)) % BUCKETS
        projected -= tf.cast(projected > BUCKETS // 2, tf.int64) * BUCKETS
        means = tf.reduce_mean(tf.RaggedTensor.from_row_splits(tf.cast(projected, tf.float64), splits), 1)
        return tf.cast(tf.ensure_shape(means / (BUCKETS // 2), [None, len(seeds)]), dtype)

    return project


def projecting(tf: Any, dtype: str) -> Any:
    """A text's words, their pairs, and the projection of these: a small SGNN."""
    project = projection(tf, dtype)

    def serve(text: Any) -> Any:
        pairs = ngrams(tf, tokenizer(tf)(text), 2, " ")
        projected = project(pairs.flat_values, pairs.row_splits)
        return {"projected": projected, "sum": tf.reduce_sum(tf.cast(projected, tf.float32), 1)}

    return serving(tf, serve, tf.TensorSpec([None], tf.string, name="text"))


@pytest.mark.parametrize(
    ("shape", "kind", "inputs"),
    [
        ([], "attributes", [{"text": strings(text)} for text in TEXTS if text]),
        ([None], "attributes", batches()),
        ([3], "string", [{"text": strings(TEXTS[:3])}, {"text": strings(TEXTS[3:])}]),
        ([None, 2], "attributes", [{"text": strings(TEXTS[:2]).reshape(1, 2)}, {"text": strings(TEXTS).reshape(3, 2)}]),
        ([None, None], "string", [{"text": strings(TEXTS).reshape(3, 2)}, {"text": strings(TEXTS).reshape(2, 3)}]),
    ],
    ids=["scalar", "vector", "fixed", "matrix", "any_matrix"],
)
def test_whitespace_tokenizer(
    tensorflow: TensorFlow, shape: list[int | None], kind: str, inputs: list[dict[str, Any]]
) -> None:
    path = tensorflow.save(tokenizing, shape, kind)
    result = check(tensorflow, path, inputs, kernel_pack=True, require_fused=True)
    assert op_counts(result.model_bytes) == {"tftext:WhitespaceTokenizer": 1}
    (composite,) = result.report.composites
    assert composite.fused_into == "tftext:WhitespaceTokenizer"
    assert (composite.error, composite.unchecked) == (0.0, None)
    assert result.report.custom_ops == result.report.pack_kernels == result.report.python_kernels
    assert "tftext:WhitespaceTokenizer (in litefuse's pack, in Python only)" in result.report.details()


@pytest.mark.parametrize(("width", "separator"), [(1, " "), (2, " "), (3, "漢"), (2, "")])
def test_ngrams_of_tokens(tensorflow: TensorFlow, width: int, separator: str) -> None:
    path = tensorflow.save(joining, width, separator)
    result = check(tensorflow, path, batches(), kernel_pack=True, require_fused=True)
    assert op_counts(result.model_bytes) == {"tftext:WhitespaceTokenizer": 1, "tftext:Ngrams": 1}
    (options,) = custom_options(result.model_bytes)["tftext:Ngrams"]
    assert options == {"width": width, "axis": -1, "reduction_type": "STRING_JOIN", "string_separator": separator}
    assert [(each.error, each.unchecked) for each in result.report.composites] == [(0.0, None)] * 2


@pytest.mark.parametrize(("shape", "width"), [([None, 4], 2), ([None, 4], 4), ([5], 2), ([2, None, 3], 3)])
def test_ngrams_of_a_dense_tensor(tensorflow: TensorFlow, shape: list[int | None], width: int) -> None:
    path = tensorflow.save(joining_dense, shape, width)
    inputs: list[dict[str, Any]] = []
    for batch in (1, 3):
        sizes = [batch if size is None else size for size in shape]
        words = [f"w{number}".encode() * (number % 3) for number in range(int(np.prod(sizes)))]
        inputs.append({"words": strings(words).reshape(sizes)})
    result = check(tensorflow, path, inputs, kernel_pack=True, require_fused=True)
    assert op_counts(result.model_bytes) == {"tftext:Ngrams": 1}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_sgnn_projection(tensorflow: TensorFlow, dtype: str) -> None:
    path = tensorflow.save(projecting, dtype)
    tolerance = {"float16": 2e-3}.get(dtype, 1e-6)
    # A text of less than two words gives not a number, in both; bfloat16 is compared as it is, and NaN not equal.
    inputs = [{"text": strings([TEXTS[0], TEXTS[2]])}] if dtype == "bfloat16" else batches()
    result = check(tensorflow, path, inputs, kernel_pack=True, require_fused=True, rtol=tolerance)
    (options,) = custom_options(result.model_bytes)["tftext:custom:SgnnProjection"]
    assert options == {"hash_seed": SEEDS, "buckets": BUCKETS}
    into = {composite.name: composite.fused_into for composite in result.report.composites}
    cast = "" if dtype == "float32" else ", CAST"
    assert into["tftext:custom:SgnnProjection"] == f"tftext:custom:SgnnProjection{cast}"


def body_of_no_text_op(tf: Any, wrong: bool, width: int) -> Any:
    """A composite whose body LiteRT has the ops for."""

    @tf.function(experimental_implements=ngrams_annotation(width, "_"))
    def func(values: Any) -> Any:
        return values[..., ::-1] if wrong else tf.identity(values)

    return serving(tf, lambda words: {"values": func(words)}, tf.TensorSpec([None, 3], tf.string, name="words"))


WORDS = {"words": strings([[b"a", b"", b"c"], [b"d", b"e", b"f"]])}


def test_body_that_can_be_checked(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(body_of_no_text_op, False, 1)
    result = check(tensorflow, path, WORDS, kernel_pack=True, require_fused=True)
    (composite,) = result.report.composites
    assert (composite.fused_into, composite.error, composite.unchecked) == ("tftext:Ngrams", 0.0, None)


def test_body_that_computes_something_else_is_kept(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(body_of_no_text_op, True, 1)
    result = check(tensorflow, path, WORDS)
    (composite,) = result.report.composites
    assert composite.outcome == "inlined"
    assert "it computes something else" in (composite.reason or "")


def test_refused_composite_is_kept(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(body_of_no_text_op, False, 2)
    result = check(tensorflow, path, WORDS)
    (composite,) = result.report.composites
    assert composite.reason == "result 0 is string[?,3], that of Ngrams of width 2 string[?,2]"
    with pytest.raises(NotFusedError, match="that of Ngrams of width 2"):
        litefuse.convert(path, require_fused=["tftext:Ngrams"])


def other_composite(tf: Any, body_of_text_ops: bool) -> Any:
    @tf.function(experimental_implements='name: "tftext:UnicodeScriptTokenizer"')
    def func(text: Any) -> Any:
        return tf.strings.format("{}", text)[tf.newaxis] if body_of_text_ops else tf.gather(text, [0, 0])

    return serving(tf, lambda text: {"text": func(text)}, tf.TensorSpec([None], tf.string, name="text"))


def test_others_of_tensorflow_text_are_reported(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(other_composite, False)
    result = litefuse.convert(path)
    (composite,) = result.report.composites
    assert composite.outcome == "inlined"
    assert composite.reason == "no fusion is registered for 'tftext:UnicodeScriptTokenizer'"
    path = tensorflow.save(other_composite, True)
    with pytest.raises(UnsupportedOpsError, match="StringFormat"):
        litefuse.convert(path)


def test_form_builtin_cannot_be_had(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(body_of_no_text_op, False, 1)
    result = check(tensorflow, path, WORDS, composites="builtin")
    (composite,) = result.report.composites
    assert composite.reason == "its form was chosen to be builtin, and its fusion gives tftext:Ngrams"


def test_the_same_model_again_and_again(tensorflow: TensorFlow) -> None:
    model = litefuse.convert(tensorflow.save(joining, 2, " ")).model_bytes
    random = np.random.default_rng(3)
    calls: list[Any] = []
    for _ in range(20):
        words = [" ".join(["ab"] * random.integers(0, 5)).encode() for _ in range(random.integers(1, 6))]
        calls.append(("serving_default", {"text": strings(words)}))
    for (_, inputs), outputs in zip(calls, run_calls(model, calls, kernel_pack=True), strict=True):
        counts = [max(len(text.split()) - 1, 0) for text in inputs["text"]]
        assert outputs["splits"].tolist() == [0, *np.cumsum(counts).tolist()]
        assert outputs["values"].tolist() == [b"ab ab"] * sum(counts)


def test_body_of_ops_that_tensorflow_does_not_have(tensorflow: TensorFlow) -> None:
    # As TensorFlow Text's are, whose definitions the SavedModel brings.
    path = tensorflow.save(tokenizing, [None], "attributes")
    file = path / "saved_model.pb"
    model = SavedModel.FromString(file.read_bytes())
    (graph,) = model.meta_graphs
    nodes = [node for function in graph.graph_def.library.function for node in function.node_def]
    splits = [node for node in nodes if node.op == "StringSplitV2"]
    assert splits
    for node in splits:
        node.op = "TFText>Split"
    for op in graph.meta_info_def.stripped_op_list.op:
        if op.name == "StringSplitV2":
            op.name = "TFText>Split"
    file.write_bytes(model.SerializeToString())

    result = litefuse.convert(path)
    (composite,) = result.report.composites
    assert composite.fused_into == "tftext:WhitespaceTokenizer"
    assert "LiteRT has no op for TFText>Split" in (composite.unchecked or "")
    (outputs,) = run_calls(result.model_bytes, [("serving_default", batches()[0])], kernel_pack=True)
    assert outputs["tokens"].tolist() == [b"small", b"medium", b"large"]
