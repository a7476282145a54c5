# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
"""Composites whose conversion code is one function, in formulas over the builder's ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import FusionError
from litefuse.testing import assert_fused, assert_refused
from tests.tensorflow.checking import check, normal
from tests.tensorflow.saved_models import serving

if TYPE_CHECKING:
    from litefuse.fusions.builder import Builder
    from litefuse.ir.tensors import Tensor
    from tests.tensorflow.process import TensorFlow

_RANDOM = np.random.default_rng(8)
_FILTERS = _RANDOM.standard_normal([3, 3, 2, 4]).astype(np.float32)
_MOMENTS = [_RANDOM.uniform(0.5, 2, 4).astype(np.float32) for _ in range(4)]


@litefuse.fusion("conv_bn_relu")
def conv_bn_relu(
    b: Builder,
    x: Annotated[Tensor, "float32[?,?,?,2]"],
    filters: Tensor,
    gamma: Tensor,
    beta: Tensor,
    mean: Tensor,
    variance: Tensor,
    *,
    epsilon: float,
    padding: str = "SAME",
) -> Tensor:
    """A convolution with the normalization folded into its filters."""
    scale = gamma * b.rsqrt(variance + epsilon)
    folded = b.transpose(filters * scale, (3, 0, 1, 2))
    return b.conv_2d(x, folded, beta - mean * scale, padding=padding, activation="RELU")


def _conv_bn_relu(tf: Any) -> Any:
    annotation = litefuse.annotation("conv_bn_relu", epsilon=1e-3, padding="VALID")

    @tf.function(experimental_implements=annotation)
    def composite(x: Any, filters: Any, gamma: Any, beta: Any, mean: Any, variance: Any) -> Any:
        y = tf.nn.conv2d(x, filters, 1, "VALID")
        return tf.nn.relu(tf.nn.batch_normalization(y, mean, variance, beta, gamma, 1e-3))

    weights = [tf.Variable(value) for value in (_FILTERS, *_MOMENTS)]
    model, signatures = serving(tf, lambda x: {"y": composite(x, *weights)}, ("x", [None, 6, 5, 2], "float32"))
    model.weights = weights
    return model, signatures


def test_a_normalization_is_folded_into_a_convolution(tensorflow: TensorFlow) -> None:
    path, cases = tensorflow.save(_conv_bn_relu), normal({"x": (None, 6, 5, 2)})
    check(tensorflow, path, cases, rtol=1e-4)
    assert_fused(path, "conv_bn_relu", into="CONV_2D", ops={"CONV_2D": 1}, cases=cases)


def _folding(tf: Any) -> Any:
    def made(x: Any, y: Any) -> Any:
        return tf.function(lambda x, y: (x + y) * 2.0, experimental_implements="by_operators", autograph=False)(x, y)

    def serve(x: Any) -> Any:
        constant = tf.constant([1.0, 2.0, 3.0, 4.0])
        return {"y": made(x, constant), "z": x - made(constant, constant), "sum": made(tf.abs(x), x)}

    return serving(tf, serve, ("x", [None, 4], "float32"))


def test_the_report_names_the_ops_that_are_left_in_the_file(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(_folding), normal({"x": (None, 4)}))
    became = [composite.fused_into for composite in result.report.composites]
    assert became == ["MUL, ADD", "constants or other ops", "MUL, ADD"]
    assert dict(result.report.op_counts) == {"ABS": 1, "MUL": 2, "ADD": 2, "SUB": 1}


def _scaled(tf: Any, annotation: str) -> Any:
    composite = tf.function(lambda x, y: (x + y) * 2.0, experimental_implements=annotation, autograph=False)

    def serve(x: Any) -> Any:
        return {"z": composite(x, tf.constant([1.0, 2.0, 3.0, 4.0]))}

    return serving(tf, serve, ("x", [None, 4], "float32"))


@litefuse.fusion("by_operators")
def by_operators(b: Builder, x: Tensor, y: Tensor) -> Tensor:
    """Numbers and arrays beside tensors are constants."""
    del b
    return (np.float32(2) * x + np.array([1.0, 1.0, 1.0, 1.0]) * y * 2) * 1.0


@litefuse.fusion("by_value")
def by_value(b: Builder, x: Tensor, y: Tensor) -> Tensor:
    """The second argument is a constant of the model, which is computed with at conversion."""
    assert x.value is None
    if y.value is None:
        raise FusionError("y is not a constant")
    return b.mul(b.add(x, y.value), 2.0)


@litefuse.fusion("by_nothing")
def by_nothing(b: Builder, x: Tensor, y: Tensor) -> Tensor | None:
    del b, x, y
    return None


@litefuse.fusion("wrongly")
def wrongly(b: Builder, x: Tensor, y: Tensor) -> Tensor:
    return b.add(x, y) * 2.01


@pytest.mark.parametrize("name", ["by_operators", "by_value"])
def test_formulas(tensorflow: TensorFlow, name: str) -> None:
    assert_fused(tensorflow.save(_scaled, name), name, cases=normal({"x": (None, 4)}))


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        (
            "by_nothing",
            "by_nothing returned None: return the results, or raise FusionError(reason) to decline; see by_n",
        ),
        (litefuse.annotation("by_value", epsilon=1.0), "its attribute 'epsilon' is unknown; none is"),
        ("wrongly", "it computes something else: the relative error is 0.00"),
    ],
)
def test_what_is_not_fused(tensorflow: TensorFlow, annotation: str, reason: str) -> None:
    assert_refused(tensorflow.save(_scaled, annotation), "*", reason)


def _computed(tf: Any) -> Any:
    composite = tf.function(lambda x, y: (x + y) * 2.0, experimental_implements="by_value", autograph=False)

    def serve(x: Any) -> Any:
        return {"z": composite(x, tf.constant([1.0, 2.0, 3.0, 4.0])), "w": composite(x, tf.constant([1.0] * 4))}

    return serving(tf, serve, ("x", [None, 4], "float32"))


def _of_weights(tf: Any) -> Any:
    composite = tf.function(lambda x, y: (x + y) * 2.0, experimental_implements="by_value", autograph=False)
    weights = tf.Variable(_RANDOM.standard_normal(4000).astype(np.float32))
    model, signatures = serving(tf, lambda x: {"z": composite(x, weights)}, ("x", [None, 4000], "float32"))
    model.weights = weights
    return model, signatures


def test_large_weights_have_a_value(tensorflow: TensorFlow) -> None:
    path, cases = tensorflow.save(_of_weights), normal({"x": (None, 4000)})
    check(tensorflow, path, cases)
    assert_fused(path, "by_value", cases=cases)


def _in_loop(tf: Any) -> Any:
    composite = tf.function(lambda x, y: (x + y) * 2.0, experimental_implements="by_value", autograph=False)

    def serve(x: Any) -> Any:
        start = tf.constant([1.0, 2.0, 3.0, 4.0])
        turns = tf.reduce_sum(tf.cast(x[:1, 0] > 100.0, tf.int32)) + 3
        _, _, z = tf.while_loop(
            lambda i, y, z: i < turns, lambda i, y, z: (i + 1, y * 2.0, composite(z, y)), [0, start, x], name="loop"
        )
        return {"z": z}

    return serving(tf, serve, ("x", [None, 4], "float32"))


def test_loop_variables_have_no_value(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(_in_loop)
    assert_refused(path, "by_value", "y is not a constant")
    check(tensorflow, path, normal({"x": (None, 4)}))


def test_arguments_that_are_other_constants_in_other_calls_have_no_value(tensorflow: TensorFlow) -> None:
    assert_refused(tensorflow.save(_computed), "by_value", "y is not a constant")


@litefuse.fusion("positive", open_results=[(0, 1)])
def positive(b: Builder, x: Tensor, *, wrong: bool) -> list[Tensor]:
    """The largest numbers, and how many of them are positive; the others are anything."""
    values, _ = b.builtin("TOPK_V2", x, np.array(5, np.int32))
    return [values + 1.0 if wrong else values, b.sum(b.cast(x > 0.0, to="int32"), [1])]


def _positive(tf: Any, wrong: bool) -> Any:
    @tf.function(experimental_implements=litefuse.annotation("positive", wrong=wrong))
    def composite(x: Any) -> Any:
        return tf.nn.relu(tf.math.top_k(x, 5).values), tf.reduce_sum(tf.cast(x > 0, tf.int32), 1)

    return serving(tf, lambda x: dict(zip(("values", "count"), composite(x), strict=True)), ("x", [None, 5], "float32"))


def test_results_that_are_open_beyond_a_count(tensorflow: TensorFlow) -> None:
    cases = normal({"x": (None, 5)})
    path = tensorflow.save(_positive, False)
    assert_fused(path, "positive", cases=cases, counts={"values": "count"})
    with pytest.raises(AssertionError, match=r"case 1, output 'values': -.* for 0 at"):
        assert_fused(path, "positive", cases=cases)
    assert_refused(tensorflow.save(_positive, True), "positive", "it computes something else: the relative error of")


@litefuse.fusion("bag_of_rows")
def bag_of_rows(b: Any, ids: Annotated[Any, "int32[?,?]"], table: Any, *, combiner: str) -> Tensor:
    """The engine's dialect lacks the op: it is a custom op until the file is written."""
    places = b.cast(b.where(b.equal(ids, ids)), to="int32")
    flat = b.reshape(ids, [-1])
    weights = b.fill(b.shape(flat), 1.0)
    return b.embedding_lookup_sparse(flat, places, b.shape(ids), weights, table, combiner=combiner.upper())


def _bag_of_rows(tf: Any) -> Any:
    bag = litefuse.annotation("bag_of_rows", combiner="mean")

    @tf.function(experimental_implements=bag)
    def composite(ids: Any, table: Any) -> Any:
        return tf.reduce_mean(tf.gather(table, ids), 1)

    table = tf.Variable(_RANDOM.standard_normal([3000, 8]).astype(np.float32))
    model, signatures = serving(tf, lambda ids: {"y": composite(ids, table)}, ("ids", [None, 5], "int32"))
    model.table = table
    return model, signatures


@pytest.mark.parametrize("options", [{}, {"composites": "builtin"}, {"quantize": "weights"}])
def test_an_op_that_the_engine_lacks(tensorflow: TensorFlow, options: dict[str, Any]) -> None:
    inputs = [{"ids": _RANDOM.integers(0, 3000, (batch, 5), np.int32)} for batch in (2, 1, 4)]
    result = check(tensorflow, tensorflow.save(_bag_of_rows), inputs, **options)
    (composite,) = result.report.composites
    assert (composite.outcome, composite.reason, composite.unchecked) == ("fused", None, None)
    assert "EMBEDDING_LOOKUP_SPARSE" in (composite.fused_into or "")
    assert not result.report.custom_ops
    assert result.report.op_counts["EMBEDDING_LOOKUP_SPARSE"] == 1
