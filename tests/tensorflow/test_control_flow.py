# pyright: reportUnknownLambdaType=false
"""Loops and branches, in every form that TensorFlow writes them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check, normal, op_counts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.tensorflow.process import TensorFlow


def library_ops(tf: Any, path: str) -> Counter[str]:
    """How often each op stands in the functions of a SavedModel."""
    del tf
    from tensorflow.core.protobuf import (  # pyright: ignore[reportMissingImports]
        saved_model_pb2,  # pyright: ignore[reportUnknownVariableType]
    )

    message: Any = saved_model_pb2.SavedModel()
    with open(f"{path}/saved_model.pb", "rb") as file:  # noqa: PTH123
        message.ParseFromString(file.read())
    return Counter(
        node.op for function in message.meta_graphs[0].graph_def.library.function for node in function.node_def
    )


def assert_uses(tensorflow: TensorFlow, path: Path, op: str) -> None:
    """The SavedModel has this op: the builder tests what its name says."""
    ops = tensorflow.call(library_ops, str(path))
    assert ops[op] > 0, ops


def serving(tf: Any, function: Any, *specs: tuple[str, list[int | None], str]) -> Any:
    """A module that serves ``function``; each spec is an input's name, shape and dtype."""
    module = tf.Module()
    module.serve = tf.function(
        function, input_signature=[tf.TensorSpec(shape, dtype, name=name) for name, shape, dtype in specs]
    )
    return module, {"serving_default": module.serve}


def weights(*shape: int, seed: int = 1) -> Any:
    return (np.random.default_rng(seed).standard_normal(shape) * 0.5).astype(np.float32)


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


def condition(tf: Any, stateful: bool) -> Any:
    module = tf.Module()
    module.kernel = tf.Variable(weights(3, 3))
    module.bias = tf.Variable(weights(3, seed=2))

    def serve(x: Any, flag: Any) -> Any:
        scaled = x * 2.0
        y, n = tf.cond(
            flag,
            lambda: (tf.matmul(x, module.kernel if stateful else weights(3, 3)), tf.constant(1)),
            lambda: (tf.nn.relu(scaled + (module.bias if stateful else weights(3, seed=2))), tf.constant(2)),
        )
        return {"y": y, "n": n, "x": x}

    module.serve = tf.function(
        serve,
        input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x"), tf.TensorSpec([], tf.bool, name="flag")],
    )
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("stateful", [False, True])
def test_cond(tensorflow: TensorFlow, stateful: bool) -> None:
    path = tensorflow.save(condition, stateful)
    assert_uses(tensorflow, path, "If" if stateful else "StatelessIf")
    inputs = [each | {"flag": np.array(flag)} for each in normal({"x": (None, 3)}) for flag in (True, False)]
    result = check(tensorflow, path, inputs)
    counts = op_counts(result.model_bytes)
    assert counts["IF"] == 1
    assert counts["VAR_HANDLE"] == 0


def cond_on_constants(tf: Any) -> Any:
    """Numbers decide: some that shapes are computed from, and some that the engine alone computes."""
    module = tf.Module()
    module.kernel = tf.Variable(weights(3, 3))

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        ratio = tf.cast(tf.shape(x)[1] * 7, tf.float32) / tf.constant(2.0)  # 10.5
        rows = tf.cast(ratio, tf.int32) - 8
        padded = tf.cond(ratio > 10, lambda: tf.pad(x, [[0, 0], [0, rows]]), lambda: tf.concat([x] * 3, 1))
        grown = tf.exp(tf.constant([1.0, 0.5]))
        product = tf.cond(tf.reduce_sum(grown) > 4.0, lambda: tf.matmul(x, module.kernel), lambda: x * 2.0)
        turns = tf.while_loop(
            lambda i, _: i < 2,
            lambda i, y: (
                i + 1,
                tf.cond(tf.exp(tf.constant(0.5)) > 1.0, lambda: tf.matmul(y, module.kernel), lambda: y),
            ),
            [0, x],
        )[1]
        return {"padded": padded, "product": product, "turns": turns}

    module.serve = serve
    return module, {"serving_default": serve}


def test_condition_of_constants(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(cond_on_constants), normal({"x": (None, 3)}))
    assert op_counts(result.model_bytes)["IF"] == 0


def cond_on_number(tf: Any) -> Any:
    """TensorFlow takes any type as a condition: a number is true when it is not zero."""

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32, name="n"), tf.TensorSpec([2], tf.float32, name="x")])
    def serve(n: Any, x: Any) -> Any:
        then = tf.function(lambda x: x + 1.0).get_concrete_function(tf.TensorSpec([2]))
        other = tf.function(lambda x: x * 5.0).get_concrete_function(tf.TensorSpec([2]))
        (y,) = tf.raw_ops.StatelessIf(cond=n, input=[x], Tout=[tf.float32], then_branch=then, else_branch=other)
        return {"y": tf.ensure_shape(y, [2])}

    module = tf.Module()
    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("n", [0, 1, -3])
def test_condition_that_is_a_number(tensorflow: TensorFlow, n: int) -> None:
    inputs = {"n": np.array(n, np.int32), "x": np.array([1.0, -2.0], np.float32)}
    check(tensorflow, tensorflow.save(cond_on_number), inputs)


def nested_cond(tf: Any) -> Any:
    def serve(x: Any, n: Any) -> Any:
        y = tf.cond(
            n > 0,
            lambda: tf.cond(n > 5, lambda: x * 10.0, lambda: x + tf.cast(n, tf.float32)),
            lambda: -x,
        )
        return {"y": y}

    return serving(tf, serve, ("x", [None, 2], "float32"), ("n", [], "int32"))


@pytest.mark.parametrize("n", [-1, 3, 9])
def test_nested_cond(tensorflow: TensorFlow, n: int) -> None:
    inputs = [each | {"n": np.array(n, np.int32)} for each in normal({"x": (None, 2)})]
    check(tensorflow, tensorflow.save(nested_cond), inputs)


def case(tf: Any) -> Any:
    def serve(x: Any) -> Any:
        total = tf.reduce_sum(x)
        y = tf.case(
            [(total > 3.0, lambda: x - 3.0), (total > 1.0, lambda: x - 1.0)], default=lambda: x + 10.0, exclusive=False
        )
        return {"y": y}

    return serving(tf, serve, ("x", [None], "float32"))


def test_case(tensorflow: TensorFlow) -> None:
    inputs = [{"x": np.array(x, np.float32)} for x in ([5.0], [1.0, 0.5, 0.5], [0.0])]
    check(tensorflow, tensorflow.save(case), inputs)


def switch_case(tf: Any, branches: int, stateful: bool) -> Any:
    module = tf.Module()
    module.scales = [tf.Variable(float(i + 2)) for i in range(branches)]

    def branch(i: int, x: Any) -> Any:
        return lambda: (x * (module.scales[i] if stateful else float(i + 2)), tf.constant(i))

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32, name="i"), tf.TensorSpec([None, 2], name="x")])
    def serve(i: Any, x: Any) -> Any:
        y, taken = tf.switch_case(i, [branch(number, x) for number in range(branches)])
        return {"y": y, "taken": taken}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize(
    ("branches", "stateful"), [(1, False), (2, False), (4, False), (4, True)], ids=["1", "2", "4", "4-stateful"]
)
def test_switch_case(tensorflow: TensorFlow, branches: int, stateful: bool) -> None:
    path = tensorflow.save(switch_case, branches, stateful)
    assert_uses(tensorflow, path, "Case" if stateful else "StatelessCase")
    # An index outside the branches takes the last one.
    inputs = [
        each | {"i": np.array(i, np.int32)} for each in normal({"x": (None, 2)}) for i in [*range(branches), -1, 7]
    ]
    check(tensorflow, path, inputs, repeat=1)


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


def repeated_results(tf: Any, rows: int | None) -> Any:
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([rows, 4], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        def twice(function: Any) -> Any:
            y = function(x)
            return y, y, y > 0, y > 0, x, x

        outputs = tf.cond(tf.reduce_sum(x) > 0, lambda: twice(tf.sin), lambda: twice(tf.cos))
        which = tf.reduce_sum(tf.cast(x > 0, tf.int32)) % 3
        outputs += tf.switch_case(which, [lambda: twice(tf.sin), lambda: twice(tf.cos), lambda: twice(tf.exp)])
        return {f"y{number}": output for number, output in enumerate(outputs)}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("rows", [None, 3])
def test_results_that_a_branch_returns_twice(tensorflow: TensorFlow, rows: int | None) -> None:
    random = np.random.default_rng(7)
    inputs = [{"x": random.standard_normal((rows or count, 4)).astype(np.float32)} for count in (2, 3, 2, 3, 1)]
    check(tensorflow, tensorflow.save(repeated_results, rows), inputs)


def many_branches(tf: Any) -> Any:
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        y = tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x - 1)
        y = tf.switch_case(tf.cast(y[0, 0], tf.int32), [lambda: y + 1, lambda: y * y, lambda: -y])
        return {"y": tf.while_loop(lambda z: tf.reduce_sum(z) < 9, lambda z: [z + 1], [y])[0]}

    module.serve = serve
    return module, {"serve": serve}


def test_each_process_writes_the_same_file(tensorflow: TensorFlow, tmp_path: Path) -> None:
    path = tensorflow.save(many_branches)
    files: set[bytes] = set()
    for seed in range(5):  # of hashes; protobuf's is another in each process anyway
        command = [sys.executable, "-m", "litefuse", "convert", str(path), "-o", str(tmp_path / "model.tflite"), "-q"]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": str(seed)})
        files.add((tmp_path / "model.tflite").read_bytes())
    assert len(files) == 1
