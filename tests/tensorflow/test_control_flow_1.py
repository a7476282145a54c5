# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownVariableType=false
"""Control flow of TensorFlow 1: Switch, Merge, Enter, Exit, NextIteration and LoopCond become If and While."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

import litefuse
from tests.tensorflow.checking import check, difference, op_counts, run_calls

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow


def cond(tf: Any, x: Any) -> Any:
    """One that has a constant, the same value in both branches, and what only one of them needs."""
    bias = tf.constant([1.0, 2.0, 3.0]) * tf.reduce_max(x)
    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * 2.0 + 1.0, lambda: x + bias)


def several_outputs(tf: Any, x: Any) -> Any:
    a, b = tf.cond(tf.reduce_sum(x) > 0.0, lambda: (x, x * 3.0), lambda: (x - 1.0, -x))
    return a + 2.0 * b


def same_predicate_in_a_row(tf: Any, x: Any) -> Any:
    positive = tf.reduce_sum(x) > 0.0
    first = tf.cond(positive, lambda: x * 2.0, lambda: x - 3.0)
    return tf.cond(positive, lambda: tf.exp(-first), lambda: first * first) + first


def nested_cond(tf: Any, x: Any) -> Any:
    def positive() -> Any:
        return tf.cond(tf.reduce_max(x) > 1.0, lambda: x * 2.0, lambda: tf.cond(x[0, 0] > 0.0, lambda: -x, lambda: x))

    return tf.cond(tf.reduce_sum(x) > 0.0, positive, lambda: x - 10.0)


def nested_on_one_predicate(tf: Any, x: Any) -> Any:
    predicate = tf.reduce_sum(x) > 0.0
    inner = lambda scale: lambda: tf.cond(predicate, lambda: x * scale, lambda: x - scale)  # noqa: E731
    return tf.cond(predicate, inner(2.0), inner(3.0))


def case(tf: Any, x: Any) -> Any:
    total = tf.reduce_sum(x)
    return tf.compat.v1.case(
        [(total > 2.0, lambda: x * 2.0), (total > 0.0, lambda: x - 1.0), (total > -2.0, lambda: x / 4.0)],
        default=lambda: x * x,
    )


def loop(tf: Any, x: Any) -> Any:
    """Two variables, one of which nothing reads afterwards, and something that does not change."""
    step = tf.reduce_mean(x)

    def body(i: Any, value: Any, rest: Any) -> Any:
        return i + 1, value * 0.5 + step, rest + value

    return tf.while_loop(lambda i, value, rest: i < 5, body, [0, x, tf.zeros_like(x)])[2]


def swapped(tf: Any, x: Any) -> Any:
    return tf.while_loop(lambda a, b: tf.reduce_sum(a) < 20.0, lambda a, b: (b, a + b + 1.0), [x, x + 1.0])[1]


def growing(tf: Any, x: Any) -> Any:
    shapes = [tf.TensorShape([]), tf.TensorShape([None, 3])]
    body = lambda i, value: (i + 1, tf.concat([value, value[:1] * 2.0], 0))  # noqa: E731
    return tf.while_loop(lambda i, _: i < 3, body, [0, x], shape_invariants=shapes)[1]


def product(tf: Any, x: Any) -> Any:
    weights = tf.constant(np.random.default_rng(3).standard_normal((3, 3)).astype(np.float32) / 3)
    return tf.while_loop(lambda i, value: i < 3, lambda i, value: (i + 1, value @ weights), [0, x])[1]


def nested_loop(tf: Any, x: Any) -> Any:
    def body(i: Any, value: Any) -> Any:
        inner = tf.while_loop(lambda j, _: j < i, lambda j, a: (j + 1, a * 0.9 + x), [0, value])[1]
        return i + 1, inner + 1.0

    return tf.while_loop(lambda i, _: i < 4, body, [0, x])[1]


def cond_in_loop(tf: Any, x: Any) -> Any:
    def body(i: Any, value: Any) -> Any:
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: value + x, lambda: value * 2.0 - tf.cast(i, tf.float32))

    return tf.while_loop(lambda i, _: i < 5, body, [0, x])[1]


def cond_in_condition(tf: Any, x: Any) -> Any:
    def condition(i: Any, value: Any) -> Any:
        return tf.cond(tf.reduce_sum(value) > 0.0, lambda: i < 3, lambda: i < 5)

    return tf.while_loop(condition, lambda i, value: (i + 1, value * 0.5 + x), [0, x])[1]


def loop_in_cond(tf: Any, x: Any) -> Any:
    def positive() -> Any:
        return tf.while_loop(lambda i, _: i < 3, lambda i, value: (i + 1, value + x), [0, x * 2.0])[1]

    return tf.cond(tf.reduce_sum(x) > 0.0, positive, lambda: x)


def deep(tf: Any, x: Any) -> Any:
    """A loop in a branch in a loop in a branch."""

    def inner(i: Any, value: Any) -> Any:
        return tf.while_loop(lambda j, _: j < i + 1, lambda j, a: (j + 1, a + value), [0, tf.zeros_like(value)])[1]

    def body(i: Any, value: Any) -> Any:
        return i + 1, tf.cond(i > 1, lambda: inner(i, value), lambda: value - 0.25)

    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.while_loop(lambda i, _: i < 4, body, [0, x])[1], lambda: x * 7.0)


def assertion(tf: Any, x: Any) -> Any:
    with tf.control_dependencies([tf.compat.v1.Assert(tf.reduce_sum(x) > -1000.0, [x])]):
        return x * 2.0


def assigned_in_branch(tf: Any, x: Any, resource: bool) -> Any:
    """A variable that one branch changes, and that both read."""
    v1 = tf.compat.v1
    total = v1.get_variable("total", initializer=tf.constant([1.0, 2.0, 3.0]), use_resource=resource)

    def positive() -> Any:
        with tf.control_dependencies([v1.assign_add(total, x[0])]):
            return x + 1.0

    chosen = tf.cond(tf.reduce_sum(x) > 0.0, positive, lambda: x * total)
    with tf.control_dependencies([chosen]):
        return chosen + total.read_value()


def assigned_result(tf: Any, x: Any, resource: bool) -> Any:
    """What the branches give out is the variable."""
    v1 = tf.compat.v1
    total = v1.get_variable("total", initializer=tf.constant([1.0, 2.0, 3.0]), use_resource=resource)
    add, subtract = (lambda: v1.assign_add(total, x[0])), (lambda: v1.assign_sub(total, x[0] * 2.0))
    return tf.cond(tf.reduce_sum(x) > 0.0, add, subtract) + x


def assigned_in_loop(tf: Any, x: Any, resource: bool) -> Any:
    v1 = tf.compat.v1
    total = v1.get_variable("total", initializer=tf.constant([1.0, 2.0, 3.0]), use_resource=resource)
    scale = v1.get_variable("scale", initializer=tf.constant([0.5, 0.25, 2.0]), use_resource=resource)

    def body(i: Any, value: Any) -> Any:
        with tf.control_dependencies([v1.assign_add(total, value[0])]):
            return i + 1, value * scale + 1.0

    result = tf.while_loop(lambda i, _: i < 3, body, [0, x], parallel_iterations=1)[1]
    with tf.control_dependencies([result]):
        return result + total.read_value()


def mapped(tf: Any, x: Any) -> Any:
    return tf.map_fn(lambda row: tf.exp(row) * tf.reduce_sum(row), x)


def scanned(tf: Any, x: Any) -> Any:
    return tf.scan(lambda total, row: total * 0.5 + row, x)


def written(tf: Any, x: Any) -> Any:
    """An array that is written and read out of order, in branches of a loop, and one that is split and joined."""
    array = tf.TensorArray(tf.float32, 5, element_shape=[None, 3], clear_after_read=False).write(4, x)

    def body(i: Any, array: Any) -> Any:
        before = array.read(4 - i)
        value = tf.cond(tf.equal(i % 2, 0), lambda: before * 0.5, lambda: before + x)
        return i + 1, array.write(3 - i, value)

    array = tf.while_loop(lambda i, _: i < 4, body, [0, array])[1]
    return array.gather([3, 1]) + array.stack()[:2] + tf.cast(array.size(), tf.float32)


def split_array(tf: Any, x: Any) -> Any:
    """Rows of an array as another array, and back."""
    array = tf.TensorArray(tf.float32, 3, element_shape=[1, 3], infer_shape=False, clear_after_read=False)
    array = array.split(tf.concat([x[:1], x[:1] * 2.0, x[:1] + 1.0], 0), [1, 1, 1])
    return array.concat() + array.read(1)


def dynamic_rnn(tf: Any, x: Any, cell: str, kind: str) -> Any:
    """A layer around a cell, whose number of steps is known, open, or another one for each sequence."""
    legacy = importlib.import_module("tf_keras.src.layers.rnn.legacy_cells")
    sequence = x[tf.newaxis] if kind == "open" else tf.reshape(x, [-1, 3, 1])
    lengths = tf.cast(x[:, 0] > 0.0, tf.int32) + 1 if kind == "lengths" else None
    made = getattr(legacy, cell)(3)
    outputs, state = tf.compat.v1.nn.dynamic_rnn(made, sequence, lengths, dtype=tf.float32)
    return tf.concat([tf.reshape(outputs, [-1, 3]), tf.nest.flatten(state)[-1]], 0)


def training(tf: Any, x: Any) -> Any:
    """A predicate that is a constant once the graph is frozen."""
    is_training = tf.compat.v1.placeholder_with_default(False, [], "is_training")
    return tf.cond(is_training, lambda: tf.exp(x), lambda: x + 0.5)


BUILDERS = [
    cond,
    several_outputs,
    same_predicate_in_a_row,
    nested_cond,
    nested_on_one_predicate,
    case,
    loop,
    swapped,
    growing,
    product,
    nested_loop,
    cond_in_loop,
    cond_in_condition,
    loop_in_cond,
    deep,
    assertion,
    training,
    mapped,
    scanned,
    written,
    split_array,
]


def save(tf: Any, path: str, build: Callable[..., Any], *options: Any) -> list[str]:
    """Write a SavedModel and a frozen graph; the ops that they have."""
    v1 = tf.compat.v1
    enabled = v1.control_flow_v2_enabled()
    v1.disable_control_flow_v2()
    try:
        with tf.Graph().as_default(), v1.Session() as session:
            x = v1.placeholder(tf.float32, [None, 3], "x")
            y = tf.identity(build(tf, x, *options), "y")
            session.run(v1.global_variables_initializer())
            v1.saved_model.simple_save(session, path, {"x": x}, {"y": y})
            frozen = v1.graph_util.convert_variables_to_constants(session, session.graph_def, ["y"])
            Path(f"{path}.pb").write_bytes(frozen.SerializeToString())
            return sorted({node.op for node in session.graph_def.node})
    finally:
        if enabled:
            v1.enable_control_flow_v2()


def inputs() -> list[dict[str, npt.NDArray[np.float32]]]:
    """Sums above and below zero, batches of 1 and 3."""
    random = np.random.default_rng(5)
    made: list[dict[str, npt.NDArray[np.float32]]] = []
    for batch, offset in ((1, 0.6), (3, -0.7), (1, -0.4), (3, 0.3), (3, 0.9)):
        made.append({"x": (random.standard_normal((batch, 3)) * 0.5 + offset).astype(np.float32)})
    return made


@pytest.mark.parametrize("build", BUILDERS)
def test_against_tensorflow(tensorflow: TensorFlow, tmp_path: Path, build: Callable[[Any, Any], Any]) -> None:
    ops = tensorflow.call(save, str(tmp_path / "model"), build)
    assert {"Switch", "Merge"} <= set(ops) or "TensorArrayV3" in ops
    check(tensorflow, tmp_path / "model", inputs())
    frozen = litefuse.convert(tmp_path / "model.pb", graph=litefuse.Graph(outputs=["y"]))
    calls = [("serving_default", each) for each in inputs() for _ in range(2)]
    expected = tensorflow.run_calls(tmp_path / "model", calls)
    for ours, theirs in zip(run_calls(frozen.model_bytes, calls), expected, strict=True):
        assert not difference(ours["y"], theirs["y"], rtol=1e-5)


@pytest.mark.parametrize("resource", [False, True], ids=["reference", "resource"])
@pytest.mark.parametrize("build", [assigned_in_branch, assigned_result, assigned_in_loop])
def test_variables(tensorflow: TensorFlow, tmp_path: Path, build: Callable[..., Any], resource: bool) -> None:
    tensorflow.call(save, str(tmp_path / "model"), build, resource)
    check(tensorflow, tmp_path / "model", inputs())


@pytest.mark.parametrize("kind", ["known", "open", "lengths"])
@pytest.mark.parametrize("cell", ["BasicLSTMCell", "GRUCell", "BasicRNNCell"])
def test_dynamic_rnn(tensorflow: TensorFlow, tmp_path: Path, cell: str, kind: str) -> None:
    tensorflow.call(save, str(tmp_path / "model"), dynamic_rnn, cell, kind)
    result = check(tensorflow, tmp_path / "model", inputs())
    fused = {"BasicLSTMCell": "UNIDIRECTIONAL_SEQUENCE_LSTM", "BasicRNNCell": "UNIDIRECTIONAL_SEQUENCE_RNN"}
    expected = "WHILE" if kind == "lengths" else fused.get(cell, "WHILE")
    assert op_counts(result.model_bytes)[expected] == 1


def test_constant_predicates_leave_one_branch(tensorflow: TensorFlow, tmp_path: Path) -> None:
    tensorflow.call(save, str(tmp_path / "model"), training)
    assert op_counts(litefuse.convert(tmp_path / "model").model_bytes) == {"ADD": 1}


def test_loops_and_conditions_are_those_of_the_stock_converter(tensorflow: TensorFlow, tmp_path: Path) -> None:
    tensorflow.call(save, str(tmp_path / "model"), cond_in_loop)
    ours, stock = (
        op_counts(model)
        for model in (
            litefuse.convert(tmp_path / "model").model_bytes,
            cast("bytes", tensorflow.stock_convert(tmp_path / "model")),
        )
    )
    assert [ours[op] for op in ("WHILE", "IF")] == [stock[op] for op in ("WHILE", "IF")] == [1, 1]


def test_stock_converter_keeps_tensor_arrays(tensorflow: TensorFlow, tmp_path: Path) -> None:
    tensorflow.call(save, str(tmp_path / "model"), scanned)
    assert "TensorArray" in str(tensorflow.stock_convert(tmp_path / "model"))
