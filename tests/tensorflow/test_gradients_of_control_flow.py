# pyright: reportUnknownLambdaType=false
"""Gradients of branches, and of branches and loops within others: what they keep becomes tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow


def _branch(tf: Any, x: Any) -> Any:
    return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.exp(x) * x, lambda: tf.sin(x) * tf.tanh(x))


def _different_branches(tf: Any, x: Any) -> Any:
    """Their optionals hold values of different dtypes and ranks, and lists."""

    def select() -> Any:
        factor = tf.cast(tf.size(x), tf.float32)
        return tf.where(x > 0, x * x, x[::-1]) * factor + tf.gather(x, tf.argmax(x, 1) % 2)

    def loop() -> Any:
        return tf.while_loop(lambda i, _: i < 3, lambda i, v: (i + 1, tf.sin(v) * x), (0, x))[1]

    which = tf.reduce_sum(tf.cast(x > 0, tf.int32)) % 3
    return tf.switch_case(which, [select, loop, lambda: tf.square(x)])


def _branch_in_branch(tf: Any, x: Any) -> Any:
    def positive() -> Any:
        return tf.cond(x[0, 0] > 0, lambda: tf.exp(x) * x, lambda: x * 3.0) * tf.tanh(x)

    def negative() -> Any:
        return tf.cond(x[0, 1] > 0, lambda: tf.sin(x) * tf.tanh(x), lambda: x * tf.reduce_max(x * x))

    return tf.cond(tf.reduce_sum(x) > 0, positive, negative)


def _branch_in_loop(tf: Any, x: Any) -> Any:
    def double(v: Any) -> Any:
        both = tf.concat([v, v], 1)
        return tf.sin(both)[:, :4] * tf.cos(both)[:, 4:] * x

    def body(i: Any, v: Any) -> Any:
        ordered = tf.gather(v, tf.argsort(v, axis=1), batch_dims=1)
        branches = [(tf.equal(i, 0), lambda: double(v)), (tf.reduce_sum(v) > 0, lambda: tf.where(v > 0, v * v, v))]
        return i + 1, tf.case(branches, default=lambda: ordered * tf.exp(-tf.abs(v)))

    return tf.while_loop(lambda i, _: i < 3, body, (0, x))[1]


def _loop_in_branch_in_loop(tf: Any, x: Any) -> Any:
    def inner(v: Any) -> Any:
        return tf.while_loop(lambda j, _: j < 2, lambda j, w: (j + 1, tf.sin(w) * x), (0, v))[1]

    def body(i: Any, v: Any) -> Any:
        return i + 1, tf.cond(tf.reduce_sum(v) > 0, lambda: inner(v), lambda: v * tf.cos(v))

    return tf.while_loop(lambda i, _: i < 3, body, (0, x))[1]


def _loops_in_loops(tf: Any, x: Any) -> Any:
    def innermost(k: Any, u: Any) -> Any:
        return k + 1, tf.tanh(u) * x

    def inner(j: Any, w: Any) -> Any:
        return j + 1, tf.while_loop(lambda k, _: k < 2, innermost, (0, w))[1] * tf.sin(w)

    def body(i: Any, v: Any) -> Any:
        return i + 1, tf.while_loop(lambda j, _: j < 2, inner, (0, v))[1]

    return tf.while_loop(lambda i, _: i < 3, body, (0, x))[1]


def _map_in_loop(tf: Any, x: Any) -> Any:
    def body(i: Any, v: Any) -> Any:
        return i + 1, tf.map_fn(lambda row: tf.sin(row) * row, v)

    return tf.while_loop(lambda i, _: i < 3, body, (0, x))[1]


def _map_in_map(tf: Any, x: Any) -> Any:
    return tf.map_fn(lambda row: tf.map_fn(lambda element: tf.sin(element) * element, row) * row, x)


def _scan_in_loop(tf: Any, x: Any) -> Any:
    def body(i: Any, v: Any) -> Any:
        return i + 1, tf.scan(lambda carried, row: tf.sin(row) * carried, v)

    return tf.while_loop(lambda i, _: i < 3, body, (0, x))[1]


def _empty_items(tf: Any, x: Any) -> Any:
    """The list of what a batch normalization keeps for GPUs has items without elements."""

    def body(i: Any, v: Any) -> Any:
        images = tf.reshape(v, [-1, 2, 2, 1])
        normal, *_ = tf.compat.v1.nn.fused_batch_norm(images, tf.constant([1.5]), tf.constant([0.5]), epsilon=0.01)
        return i + 1, tf.sin(tf.reshape(normal, tf.shape(v))) * x

    return tf.while_loop(lambda i, _: i < 3, body, (0, x))[1]


_FUNCTIONS = {
    each.__name__.strip("_"): each
    for each in (
        *(_branch, _different_branches, _branch_in_branch, _branch_in_loop, _loop_in_branch_in_loop, _loops_in_loops),
        *(_map_in_loop, _map_in_map, _scan_in_loop, _empty_items),
    )
}


def gradient(tf: Any, name: str, rows: int | None) -> Any:
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([rows, 4], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.square(_FUNCTIONS[name](tf, x)))
        return {"loss": loss, "gradient": tape.gradient(loss, x)}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("rows", [None, 3])
@pytest.mark.parametrize("name", sorted(_FUNCTIONS))
def test_gradient(tensorflow: TensorFlow, name: str, rows: int | None) -> None:
    random = np.random.default_rng(5)
    inputs = [
        {"x": (random.standard_normal((rows or count, 4)) * sign).astype(np.float32)}
        for count in (3, 2)
        for sign in (1, -1, 1)
    ]
    check(tensorflow, tensorflow.save(gradient, name, rows), inputs, rtol=1e-4)  # errors grow from turn to turn


def nested_arrays(tf: Any) -> Any:
    """Arrays that grow without a known size, in an array that does."""
    module = tf.Module()

    @tf.function(
        input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x"), tf.TensorSpec([], tf.int32, name="n")]
    )
    def serve(x: Any, n: Any) -> Any:
        def body(i: Any, v: Any, outer: Any) -> Any:
            array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
            array = tf.while_loop(
                lambda j, _: j < n, lambda j, a: (j + 1, a.write(j, v * tf.cast(j + 1, tf.float32))), (0, array)
            )[1]
            return i + 1, v + 1.0, outer.write(i, array.stack())

        outer = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        return {"y": tf.while_loop(lambda i, *_: i < 3, body, (0, x, outer))[2].stack()}

    module.serve = serve
    return module, {"serving_default": serve}


def test_arrays_of_unknown_size_in_an_array(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(6)
    inputs = [
        {"x": random.standard_normal((rows, 4)).astype(np.float32), "n": np.array(count, np.int32)}
        for rows, count in ((2, 3), (3, 1))
    ]
    check(tensorflow, tensorflow.save(nested_arrays), inputs)
