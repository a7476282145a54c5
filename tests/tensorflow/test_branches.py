# pyright: reportUnknownLambdaType=false
"""Branches, in every form that TensorFlow writes them."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check, normal, op_counts
from tests.tensorflow.control_flow import assert_uses, weights
from tests.tensorflow.saved_models import serving

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tensorflow.process import TensorFlow


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
