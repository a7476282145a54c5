# pyright: reportUnknownLambdaType=false
"""Loops, in every form that TensorFlow writes them, and branches within them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check, normal, op_counts
from tests.tensorflow.control_flow import assert_uses, weights
from tests.tensorflow.saved_models import serving

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.tensorflow.process import TensorFlow


def while_with_captures(tf: Any) -> Any:
    kernel, bias = tf.Variable(weights(4, 4)), tf.Variable(weights(4, seed=2))

    def serve(x: Any) -> Any:
        offset = tf.reduce_mean(x, keepdims=True)
        steps, y, total = tf.while_loop(
            lambda step, _y, _total: step < 5,
            lambda step, y, total: (step + 1, tf.tanh(tf.matmul(y, kernel) + bias) - offset, total + tf.reduce_sum(y)),
            [tf.constant(0), x, tf.constant(0.25)],
        )
        return {"steps": steps, "y": y, "total": total}

    module, signatures = serving(tf, serve, ("x", [None, 4], "float32"))
    module.variables_ = [kernel, bias]
    return module, signatures


def test_while_with_several_variables_and_captured_weights(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(while_with_captures)
    assert_uses(tensorflow, path, "While")
    result = check(tensorflow, path, normal({"x": (None, 4)}))
    counts = op_counts(result.model_bytes)
    assert counts["WHILE"] == 1
    assert counts["VAR_HANDLE"] == 0


def stateless_while(tf: Any) -> Any:
    def serve(x: Any, n: Any) -> Any:
        _, y = tf.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, y * 1.5 - x), [tf.constant(0), x])
        return {"y": y}

    return serving(tf, serve, ("x", [None, 3], "float32"), ("n", [], "int32"))


@pytest.mark.parametrize("n", [0, 1, 4])
def test_stateless_while_with_bound_from_an_input(tensorflow: TensorFlow, n: int) -> None:
    path = tensorflow.save(stateless_while)
    assert_uses(tensorflow, path, "StatelessWhile")
    check(tensorflow, path, [each | {"n": np.array(n, np.int32)} for each in normal({"x": (None, 3)})])


def nested_while(tf: Any) -> Any:
    kernel = tf.Variable(weights(3, 3))

    def serve(x: Any) -> Any:
        def outer(i: Any, y: Any) -> Any:
            def inner(j: Any, z: Any) -> Any:
                return j + 1, tf.sigmoid(tf.matmul(z, kernel)) + tf.cast(i, tf.float32) * x

            _, z = tf.while_loop(lambda j, _: j < i + 1, inner, [tf.constant(0), y])
            return i + 1, z - y

        return {"y": tf.while_loop(lambda i, _: i < 3, outer, [tf.constant(0), x])[1]}

    module, signatures = serving(tf, serve, ("x", [None, 3], "float32"))
    module.kernel = kernel
    return module, signatures


def test_nested_while(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(nested_while), normal({"x": (None, 3)}))
    assert op_counts(result.model_bytes)["WHILE"] == 2


def for_range(tf: Any, x: Any) -> Any:
    y = x
    for i in tf.range(4):
        y = y * 0.5 + tf.cast(i, tf.float32)
    return {"y": y}


def while_condition(tf: Any, x: Any) -> Any:
    y, steps = x, tf.constant(0)
    while tf.reduce_max(tf.abs(y)) > 0.1 and steps < 10:
        y = y * 0.5
        steps += 1
    return {"y": y, "steps": steps}


def break_and_continue(tf: Any, x: Any) -> Any:
    y, count = x, tf.constant(0)
    for i in tf.range(10):
        if i % 3 == 1:
            continue
        y += tf.cast(i, tf.float32)
        count += 1
        if tf.reduce_sum(y) > 40.0:
            break
    return {"y": y, "count": count}


def over_rows(tf: Any, x: Any) -> Any:
    total = tf.zeros([3])
    for row in x:
        total = total * 0.5 + row
    return {"total": total}


def if_in_while(tf: Any, x: Any) -> Any:
    y = x
    for i in tf.range(5):
        if tf.reduce_mean(y) > 0.0:  # noqa: SIM108 - the statement is what is tested
            y = y - 1.0
        else:
            y = y + tf.cast(i, tf.float32)
    return {"y": y}


def while_in_if(tf: Any, x: Any) -> Any:
    y = x
    if tf.reduce_sum(x) > 0.0:
        for _ in tf.range(3):
            y = tf.tanh(y + x)
    else:
        y = -x
    return {"y": y}


def autograph(tf: Any, form: Callable[[Any, Any], Any]) -> Any:
    return serving(tf, lambda x: form(tf, x), ("x", [None, 3], "float32"))


@pytest.mark.parametrize(
    ("form", "op"),
    [
        (for_range, "StatelessWhile"),
        (while_condition, "StatelessWhile"),
        (break_and_continue, "StatelessIf"),
        (over_rows, "StatelessWhile"),
        (if_in_while, "StatelessIf"),
        (while_in_if, "StatelessWhile"),
    ],
)
def test_autograph(tensorflow: TensorFlow, form: Callable[[Any, Any], Any], op: str) -> None:
    inputs = normal({"x": (None, 3)}, batches=(1, 3, 1, 4), seed=11)
    assert len({bool(each["x"].sum() > 0) for each in inputs}) == 2  # both branches are taken
    path = tensorflow.save(autograph, form)
    assert_uses(tensorflow, path, op)
    check(tensorflow, path, inputs)


def scalars(tf: Any) -> Any:
    def serve(start: Any, limit: Any) -> Any:
        value, steps = tf.while_loop(
            lambda value, _: value < limit, lambda value, steps: (value * 2 + 1, steps + 1), [start, tf.constant(0)]
        )
        return {"value": value, "steps": steps}

    return serving(tf, serve, ("start", [], "int32"), ("limit", [], "int32"))


@pytest.mark.parametrize(("start", "limit"), [(1, 100), (5, 5), (0, 3)])
def test_while_of_scalars(tensorflow: TensorFlow, start: int, limit: int) -> None:
    check(
        tensorflow, tensorflow.save(scalars), {"start": np.array(start, np.int32), "limit": np.array(limit, np.int32)}
    )


def growing(tf: Any) -> Any:
    def serve(x: Any) -> Any:
        _, y = tf.while_loop(
            lambda i, _: i < 3,
            lambda i, y: (i + 1, tf.concat([y, x + tf.cast(i, tf.float32)], 0)),
            [tf.constant(0), x],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])],
        )
        return {"y": y}

    return serving(tf, serve, ("x", [None, 2], "float32"))


def test_while_that_grows_a_tensor(tensorflow: TensorFlow) -> None:
    check(tensorflow, tensorflow.save(growing), normal({"x": (None, 2)}))


def swapping(tf: Any) -> Any:
    def serve(a: Any, b: Any) -> Any:
        _, a, b, same = tf.while_loop(
            lambda i, *_: i < 3, lambda i, a, b, same: (i + 1, b, a + b, same), [tf.constant(0), a, b, a]
        )
        return {"a": a, "b": b, "same": same}

    return serving(tf, serve, ("a", [None], "float32"), ("b", [None], "float32"))


def test_while_that_swaps_and_passes_through(tensorflow: TensorFlow) -> None:
    check(tensorflow, tensorflow.save(swapping), normal({"a": (None,), "b": (None,)}))


def condition_with_weights(tf: Any) -> Any:
    kernel = tf.Variable(weights(3, 3))

    def serve(x: Any) -> Any:
        _, y = tf.while_loop(
            lambda i, y: tf.logical_and(i < 6, tf.reduce_sum(tf.abs(tf.matmul(y, kernel))) > 0.5),
            lambda i, y: (i + 1, y * 0.6),
            [tf.constant(0), x],
        )
        return {"y": y}

    module, signatures = serving(tf, serve, ("x", [None, 3], "float32"))
    module.kernel = kernel
    return module, signatures


def test_while_condition_that_captures_weights(tensorflow: TensorFlow) -> None:
    check(tensorflow, tensorflow.save(condition_with_weights), normal({"x": (None, 3)}))


def tensor_array(tf: Any, batch: int | None) -> Any:
    kernel = tf.Variable(weights(3, 3))

    def serve(x: Any) -> Any:
        steps = tf.transpose(x, [1, 0, 2])
        array = tf.TensorArray(tf.float32, size=5, element_shape=[batch, 3])
        state = tf.zeros_like(steps[0])
        for i in tf.range(5):
            state = tf.tanh(tf.matmul(state, kernel) + steps[i])
            array = array.write(i, state)
        return {"states": array.stack(), "last": state}

    module, signatures = serving(tf, serve, ("x", [batch, 5, 3], "float32"))
    module.kernel = kernel
    return module, signatures


def test_while_that_writes_a_tensor_array(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(tensor_array, 2)
    assert_uses(tensorflow, path, "TensorListReserve")
    check(tensorflow, path, normal({"x": (2, 5, 3)}))


def test_while_that_writes_a_tensor_array_of_open_batch(tensorflow: TensorFlow) -> None:
    check(tensorflow, tensorflow.save(tensor_array, None), normal({"x": (None, 5, 3)}))


def called_twice(tf: Any) -> Any:
    """One function with a loop, called from two places with other shapes of the same rank."""

    @tf.function
    def power(x: Any) -> Any:
        y = x
        for _ in tf.range(2):
            y = y * x
        return y

    def serve(x: Any) -> Any:
        return {"y": power(x), "z": power(tf.reduce_sum(x, axis=1, keepdims=True))}

    return serving(tf, serve, ("x", [None, 3], "float32"))


def test_loop_in_a_function_that_is_called_twice(tensorflow: TensorFlow) -> None:
    check(tensorflow, tensorflow.save(called_twice), normal({"x": (None, 3)}))


def moved_variables(tf: Any) -> Any:
    """Loop variables that the body hands on in other places; the runtime writes one after the other."""

    def serve(n: Any, x: Any) -> Any:
        def body(i: Any, a: Any, b: Any, c: Any, flag: Any, other: Any) -> Any:
            return i + 1, a * 2.0, a, b, tf.logical_not(flag), flag

        start = (tf.constant(0), x, x + 1.0, x + 2.0, tf.constant(True), tf.constant(False))
        _, a, b, c, flag, other = tf.while_loop(lambda i, *_: i < n, body, start)
        return {"a": a, "b": b, "c": c, "flag": flag, "other": other}

    return serving(tf, serve, ("n", [], "int32"), ("x", [None, 2], "float32"))


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_loop_variables_that_move(tensorflow: TensorFlow, n: int) -> None:
    inputs = [each | {"n": np.array(n, np.int32)} for each in normal({"x": (None, 2)})]
    check(tensorflow, tensorflow.save(moved_variables), inputs)
