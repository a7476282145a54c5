# pyright: reportUnknownLambdaType=false
"""Branches that fit the sizes of an input only when they are taken: LiteRT prepares both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check, op_counts

if TYPE_CHECKING:
    from tests.tensorflow.process import Arrays, TensorFlow

_KINDS = ("reshape", "nested", "sum", "slice", "join", "product", "split", "loop", "broadcast", "element", "pool")


def branches(tf: Any, kind: str) -> Any:
    """A branch for four rows, which fails for others, and one for all."""
    module = tf.Module()
    module.weight = tf.Variable(np.arange(12, dtype=np.float32).reshape(4, 3))

    def taken(x: Any, other: Any) -> Any:
        if kind == "reshape":
            return tf.reshape(tf.reshape(x * 2.0, [2, 6])[:, ::-1], [4, 3])
        if kind == "nested":
            return tf.cond(tf.size(x) == 12, lambda: tf.reshape(x, [4, 3]), lambda: tf.reshape(x, [2, 9])[:1, :3])
        if kind == "sum":
            return x + module.weight
        if kind == "slice":
            return tf.slice(x, [2, 0], [2, 3]) * 3.0
        if kind == "join":
            return tf.concat([x, module.weight], 1)
        if kind == "product":
            return tf.matmul(module.weight, x, transpose_a=True)
        if kind == "split":
            return tf.split(x, [1, 3], 0)[1]
        if kind == "loop":
            return tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, y * module.weight), [0, x])[1]
        if kind == "element":
            return x[3:, 1:] * x[3, 2] + tf.gather(x, [3])[:, :1]
        if kind == "pool":
            return tf.nn.max_pool1d(x[tf.newaxis], 4, 1, "VALID")[0]
        return tf.broadcast_to(x, [4, 3]) * other

    specs = [tf.TensorSpec([None, 3], tf.float32, name="x"), tf.TensorSpec([], tf.bool, name="fits")]

    # The sizes are known in the call alone, when the condition is.
    @tf.function(input_signature=specs)
    def serve(x: Any, fits: Any) -> Any:
        other = tf.reduce_sum(x)
        kept = tf.boolean_mask(x, tf.reduce_all(x > -100.0, 1))
        y = tf.cond(fits, lambda: taken(kept, other), lambda: kept - other)
        return {"y": y, "n": tf.reduce_sum(y), "rows": tf.shape(y)[0]}

    module.serve = serve
    return module, {"serving_default": serve}


def _rows(count: int, **others: bool) -> Arrays:
    given = {name: np.array(value) for name, value in others.items()}
    return given | {"x": np.random.default_rng(count).normal(size=(count, 3)).astype(np.float32)}


@pytest.mark.parametrize("kind", _KINDS)
def test_a_branch_that_does_not_fit(tensorflow: TensorFlow, kind: str) -> None:
    path = tensorflow.save(branches, kind)
    result = check(tensorflow, path, [_rows(count, fits=count == 4) for count in (4, 3, 6, 4, 1)])
    assert op_counts(result.model_bytes)["IF"] >= 1


def fitting_branches(tf: Any) -> Any:
    module = tf.Module()
    module.weight = tf.Variable(np.ones((3, 5), np.float32))

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        y, rows = x * 2.0, tf.shape(x)[0]
        return tf.cond(
            tf.reduce_sum(x) > 0,
            lambda: tf.reshape(tf.matmul(tf.nn.relu(x + y), module.weight), [rows, 5, 1]),
            lambda: tf.expand_dims(tf.concat([x, y[:, :2]], 1), 2),
        )

    module.serve = serve
    return module, {"serving_default": serve}


def test_branches_that_fit_whatever_the_batch(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(fitting_branches), [_rows(count) for count in (4, 3, 1)])
    assert op_counts(result.model_bytes)["PACK"] == 0  # nothing is put off


def branches_of(tf: Any, dtype: str) -> Any:
    """Branches that only take two elements, of any dtype, among them some that return a value twice."""
    module = tf.Module()
    specs = [tf.TensorSpec([None], dtype, name="x"), tf.TensorSpec([], tf.bool, name="two")]

    @tf.function(input_signature=specs)
    def serve(x: Any, two: Any) -> Any:
        same, reshaped = tf.cond(two, lambda: (x, tf.reshape(x, [2])), lambda: (x, x))
        one, first = tf.cond(two, lambda: (tf.reshape(x, [2])[1], x[0]), lambda: (x[-1], x[-1]))
        third = [lambda: x[:1], lambda: tf.reshape(x, [7]), lambda: tf.reshape(x, [2])]
        return {
            "column": tf.cond(two, lambda: tf.reshape(x, [2, 1]), lambda: tf.expand_dims(x, 1)),
            "case": tf.switch_case(tf.cast(two, tf.int32) * 2, third),
            "same": same,
            "reshaped": reshaped,
            "one": one,
            "first": first,
        }

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("dtype", ["string", "bool", "int64", "complex64"])
def test_branches_of_other_dtypes(tensorflow: TensorFlow, dtype: str) -> None:
    numbers: Any = np.array([b"a", b"", b"c", "\u00e9".encode()], object) if dtype == "string" else np.arange(4)
    x = numbers if dtype == "string" else numbers.astype(dtype)
    calls = [{"x": x[:count], "two": np.array(count == 2)} for count in (2, 3, 1, 2, 4)]
    check(tensorflow, tensorflow.save(branches_of, dtype), calls)
