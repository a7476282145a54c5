# pyright: reportUnknownLambdaType=false
"""Annotated embedding lookups: EMBEDDING_LOOKUP, or the body and the reason."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import NotFusedError
from tests.tensorflow.checking import check, op_counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.tensorflow.process import TensorFlow


def one_hot_product(tf: Any, table: Any, ids: Any) -> Any:
    return tf.matmul(tf.one_hot(ids, 7), table)


def gathered(tf: Any, table: Any, ids: Any) -> Any:
    return tf.gather(table, ids)


def embedding(
    tf: Any,
    annotation: str,
    body: Callable[[Any, Any, Any], Any],
    ids: tuple[tuple[int | None, ...], str],
    by_value: bool,
) -> Any:
    module = tf.Module()
    module.table = tf.Variable(np.random.default_rng(2).standard_normal([7, 5]).astype(np.float32), name="table")
    lookup = tf.function(lambda table, ids: body(tf, table, ids), experimental_implements=annotation)
    shape, dtype = ids

    @tf.function(input_signature=[tf.TensorSpec(shape, dtype, name="ids")])
    def serve(ids: Any) -> Any:
        return {"rows": lookup(tf.convert_to_tensor(module.table) if by_value else module.table, ids) * 2.0}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("by_value", [True, False], ids=["value", "variable"])
@pytest.mark.parametrize("body", [one_hot_product, gathered])
@pytest.mark.parametrize("annotation", ["embedding_matmul", "embedding_lookup"])
def test_embedding(
    tensorflow: TensorFlow, annotation: str, body: Callable[[Any, Any, Any], Any], by_value: bool
) -> None:
    path = tensorflow.save(embedding, annotation, body, ((None,), "int32"), by_value)
    inputs = [{"ids": np.array(ids, np.int32)} for ids in ([3], [6, 0, 0], [1])]
    result = check(tensorflow, path, inputs, require_fused=True)
    assert op_counts(result.model_bytes) == {"EMBEDDING_LOOKUP": 1, "MUL": 1}
    (composite,) = result.report.composites
    assert (composite.name, composite.outcome, composite.fused_into) == (annotation, "fused", "EMBEDDING_LOOKUP")
    assert [variable.verdict for variable in result.report.variables] == ["frozen"]


@pytest.mark.parametrize(
    ("shape", "dtype", "reason"), [((None, 2), "int32", "rank"), ((None,), "int64", "int64|i64"), ((), "int32", "rank")]
)
def test_embedding_that_the_op_cannot_do_is_inlined(
    tensorflow: TensorFlow, shape: tuple[int | None, ...], dtype: str, reason: str
) -> None:
    path = tensorflow.save(embedding, "embedding_matmul", gathered, (shape, dtype), True)
    random = np.random.default_rng(3)
    inputs = [{"ids": random.integers(0, 7, [n if s is None else s for s in shape]).astype(dtype)} for n in (1, 3, 1)]
    result = check(tensorflow, path, inputs)
    assert op_counts(result.model_bytes)["EMBEDDING_LOOKUP"] == 0
    (composite,) = result.report.composites
    assert composite.outcome == "inlined"
    assert composite.reason is not None
    assert any(word in composite.reason for word in reason.split("|"))
    with pytest.raises(NotFusedError, match="embedding_matmul"):
        litefuse.convert(path, require_fused=True)


def embedding_of_three(tf: Any) -> Any:
    module = tf.Module()
    module.table = tf.Variable(np.random.default_rng(2).standard_normal([7, 5]).astype(np.float32), name="table")
    lookup = tf.function(
        lambda table, ids, scale: tf.gather(table, ids) * scale, experimental_implements="embedding_matmul"
    )

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32, name="ids")])
    def serve(ids: Any) -> Any:
        return {"rows": lookup(module.table, ids, 0.5)}

    module.serve = serve
    return module, {"serving_default": serve}


def test_embedding_with_a_third_argument_is_inlined(tensorflow: TensorFlow) -> None:
    inputs = [{"ids": np.array(ids, np.int32)} for ids in ([3], [6, 0, 0])]
    result = check(tensorflow, tensorflow.save(embedding_of_three), inputs)
    (composite,) = result.report.composites
    assert composite.outcome == "inlined"
    assert composite.reason is not None
    assert "3" in composite.reason
    assert op_counts(result.model_bytes)["EMBEDDING_LOOKUP"] == 0


def embeddings_share_a_table(tf: Any) -> Any:
    """A fused and an inlined call of the same annotation on one table."""
    module = tf.Module()
    module.table = tf.Variable(np.random.default_rng(2).standard_normal([7, 5]).astype(np.float32), name="table")
    lookup = tf.function(lambda table, ids: gathered(tf, table, ids), experimental_implements="embedding_matmul")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.int32, name="ids")])
    def serve(ids: Any) -> Any:
        return {"flat": lookup(module.table, tf.reshape(ids, [-1])), "square": lookup(module.table, ids)}

    module.serve = serve
    return module, {"serving_default": serve}


def test_call_sites_of_one_composite_may_end_differently(tensorflow: TensorFlow) -> None:
    inputs = [{"ids": np.array(ids, np.int32)} for ids in ([[3, 1]], [[6, 0], [0, 2], [5, 5]])]
    result = check(tensorflow, tensorflow.save(embeddings_share_a_table), inputs)
    assert sorted(composite.outcome for composite in result.report.composites) == ["fused", "inlined"]
    counts = op_counts(result.model_bytes)
    assert (counts["EMBEDDING_LOOKUP"], counts["GATHER"]) == (1, 1)


def documented(tf: Any, suffix: tuple[int, ...], ids: int | None, annotated: bool, wrong: bool = False) -> Any:
    """The lookup of TensorFlow's page on operation fusion: an empty tensor, and rows written into it in a loop."""
    names = ("framework.function", "ops.functional_ops", "ops.inplace_ops")
    function, functional_ops, inplace_ops = (importlib.import_module(f"tensorflow.python.{name}") for name in names)
    module = tf.Module()
    rows = np.random.default_rng(2).standard_normal([7, *suffix]).astype(np.float32)
    module.table = tf.Variable(rows, name="table")

    def embedding(table: Any, ids: Any) -> Any:
        number = tf.shape(ids)[0]
        returned = inplace_ops.empty([number, *suffix], tf.float32)

        @function.Defun(tf.int32, tf.float32, tf.int32, tf.float32)
        def step(i: Any, table: Any, ids: Any, returned: Any) -> Any:
            row = tf.reshape(tf.gather(table, tf.gather(ids, i)), [1, *suffix])
            row = row + 1e-3 * tf.cast(i, tf.float32) if wrong else row
            return table, ids, inplace_ops.alias_inplace_update(returned, [i], row)

        _, _, returned = functional_ops.For(start=0, limit=number, delta=1, inputs=[table, ids, returned], body=step)
        return tf.reshape(returned, [number, int(np.prod(suffix))]) if len(suffix) > 1 else returned

    lookup = tf.function(embedding, experimental_implements="embedding_matmul" if annotated else None)

    @tf.function(input_signature=[tf.TensorSpec([ids], tf.int32, name="ids")])
    def serve(ids: Any) -> Any:
        return {"rows": lookup(tf.convert_to_tensor(module.table), ids) * 2.0}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("ids", [None, 3])
@pytest.mark.parametrize("suffix", [(5,), (2, 3), (2, 1, 3)])
def test_documented_lookup_is_fused_and_checked(
    tensorflow: TensorFlow, suffix: tuple[int, ...], ids: int | None
) -> None:
    path = tensorflow.save(documented, suffix, ids, True)
    inputs = [
        {"ids": np.array(each, np.int32)} for each in ([3, 6, 0], [6, 0], [1], [0, 1, 2]) if ids in {None, len(each)}
    ]
    result = check(tensorflow, path, inputs, require_fused=True)
    counts = op_counts(result.model_bytes)
    assert counts == {"EMBEDDING_LOOKUP": 1, "MUL": 1, **({"RESHAPE": 1} if len(suffix) > 1 else {})}
    (composite,) = result.report.composites
    assert (composite.error, composite.unchecked) == (0.0, None)


@pytest.mark.parametrize("suffix", [(5,), (2, 3)])
def test_documented_lookup_converts_without_an_annotation(tensorflow: TensorFlow, suffix: tuple[int, ...]) -> None:
    path = tensorflow.save(documented, suffix, None, False)
    inputs = [{"ids": np.array(each, np.int32)} for each in ([3], [6, 0, 0], [1, 2, 3, 4, 5, 6, 0, 1])]
    result = check(tensorflow, path, inputs)
    assert op_counts(result.model_bytes)["WHILE"] == 1
    assert result.report.composites == ()


def test_lookup_that_adds_something_is_not_fused(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(documented, (2, 3), None, True, True)
    result = check(tensorflow, path, [{"ids": np.array([3, 1], np.int32)}])
    (composite,) = result.report.composites
    assert composite.outcome == "inlined"
    assert "it computes something else" in (composite.reason or "")


def looked_up_in_no_place(tf: Any) -> Any:
    """What is left of a lookup when there is nothing to read in its result."""
    module, signatures = documented(tf, (2, 3), None, False)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32, name="ids")])
    def serve(ids: Any) -> Any:
        rows = signatures["serving_default"](ids)["rows"]
        return {"shape": tf.shape(rows), "sum": tf.reduce_sum(rows)}

    module.all = serve
    return module, {"serving_default": serve}


def test_documented_lookup_of_no_ids(tensorflow: TensorFlow) -> None:
    inputs = [{"ids": np.array(each, np.int32)} for each in ([], [6, 2], [])]
    check(tensorflow, tensorflow.save(looked_up_in_no_place), inputs)
