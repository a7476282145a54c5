# pyright: reportUnknownLambdaType=false
"""Loops that a program writes by hand around a cell of Keras, and how each step reads its input."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check, op_counts, op_histogram

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

UNITS, FEATURES = 5, 3
LSTM, RNN = "UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN"

Read = Callable[[Any, Any, Any], Any]
"""From TensorFlow, the inputs and the number of the step to the input of the step."""

# By name: the dimension of time, and how the input is read.
READS: dict[str, tuple[int, Read]] = {
    "time first": (0, lambda _tf, x, t: x[t]),
    "time first, all": (0, lambda _tf, x, t: x[t, :, :]),
    "time first, the rest": (0, lambda _tf, x, t: x[t, ...]),
    "time first, gathered": (0, lambda tf, x, t: tf.gather(x, t)),
    "batch first": (1, lambda _tf, x, t: x[:, t]),
    "batch first, all": (1, lambda _tf, x, t: x[:, t, :]),
    "batch first, the rest": (1, lambda _tf, x, t: x[:, t, ...]),
    "batch first, gathered": (1, lambda tf, x, t: tf.gather(x, t, axis=1)),
}
# What is not every step's own part of the input; and those that leave out or repeat steps.
OTHER_READS: dict[str, tuple[int, Read]] = {
    "the step before": (1, lambda tf, x, t: x[:, tf.maximum(t - 1, 0)]),
    "from the end": (1, lambda _tf, x, t: x[:, -t - 1]),
    "features alone": (1, lambda _tf, x, t: x[:, t, :2]),
    "every other one": (1, lambda _tf, x, t: x[::1, t // 2]),
    "one sequence": (1, lambda tf, x, t: tf.broadcast_to(x[:1, t], tf.shape(x[:, t]))),
}
SHAPES = [(None, None), (None, 6), (2, 6)]


def loop(tf: Any, cell: str, read: tuple[int, Read], sizes: tuple[int | None, int | None], outputs: str) -> Any:
    """A loop over all steps.

    Args:
        tf: TensorFlow.
        cell: The class of the cell.
        read: The dimension of time, and how each step reads its input.
        sizes: Of the batch and of time.
        outputs: ``list``, ``growing`` (a list), ``states`` (no list), ``fewer`` (steps than there are).
    """
    axis, step_input = read
    module = tf.Module()
    module.cell = step = getattr(tf.keras.layers, cell)(UNITS)
    features = 2 if step_input is OTHER_READS["features alone"][1] else FEATURES
    step.build((None, features))
    random = np.random.default_rng(3)
    for weight in step.weights:
        weight.assign(random.normal(0, 0.5, weight.shape))
    shape = [sizes[1], sizes[0], FEATURES] if axis == 0 else [*sizes, FEATURES]

    @tf.function(input_signature=[tf.TensorSpec(shape, tf.float32, name="x")])
    def serve(x: Any) -> dict[str, Any]:
        steps, batch = tf.shape(x)[axis], tf.shape(x)[1 - axis]
        if outputs == "fewer":
            steps = steps - 1
        states: Any = [tf.fill([batch, UNITS], 0.3)] * (2 if cell == "LSTMCell" else 1)
        if outputs == "states":
            for t in tf.range(steps):
                _, states = step(step_input(tf, x, t), states)
                states = [states[0], states[1]]
            return {f"state{number}": state for number, state in enumerate(states)}
        growing = outputs == "growing"
        array = tf.TensorArray(tf.float32, 0 if growing else steps, dynamic_size=growing, element_shape=[None, UNITS])
        for t in tf.range(steps):
            output, states = step(step_input(tf, x, t), states)
            states = [states[0], states[1]] if cell == "LSTMCell" else [states[0]]
            array = array.write(t, output)
        return {"y": array.stack(), **{f"state{number}": state for number, state in enumerate(states)}}

    module.serve = serve
    return module, {"serving_default": serve}


def calls(axis: int, sizes: tuple[int | None, int | None]) -> list[dict[str, Any]]:
    random = np.random.default_rng(1)
    given: list[dict[str, Any]] = []
    for batch, steps in ((3, 7), (1, 4), (5, 6)):
        shape = (sizes[0] or batch, sizes[1] or steps, FEATURES)
        x = random.standard_normal(shape).astype(np.float32)
        given.append({"x": x if axis else x.transpose(1, 0, 2)})
    return given


def saved(tf: Any, name: str, cell: str, sizes: tuple[int | None, int | None], outputs: str) -> Any:
    return loop(tf, cell, {**READS, **OTHER_READS}[name], sizes, outputs)


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize(("cell", "op"), [("LSTMCell", LSTM), ("SimpleRNNCell", RNN)])
def test_the_loop_is_a_layer(tensorflow: TensorFlow, name: str, cell: str, op: str) -> None:
    axis, _ = READS[name]
    result = check(tensorflow, tensorflow.save(saved, name, cell, (None, None), "list"), calls(axis, (None, None)))
    assert op in op_counts(result.model_bytes)
    assert "WHILE" not in op_counts(result.model_bytes)


@pytest.mark.parametrize("sizes", SHAPES)
@pytest.mark.parametrize("outputs", ["list", "growing", "states"])
@pytest.mark.parametrize("name", ["time first", "batch first"])
def test_outputs_and_sizes(
    tensorflow: TensorFlow, name: str, outputs: str, sizes: tuple[int | None, int | None]
) -> None:
    axis, _ = READS[name]
    result = check(tensorflow, tensorflow.save(saved, name, "LSTMCell", sizes, outputs), calls(axis, sizes))
    assert LSTM in op_counts(result.model_bytes)


@pytest.mark.parametrize(
    "name", ["time first", "time first, gathered", "batch first, the rest", "batch first, gathered"]
)
def test_a_gru_stays_a_loop(tensorflow: TensorFlow, name: str) -> None:
    axis, _ = READS[name]
    sizes = (None, None)
    result = check(tensorflow, tensorflow.save(saved, name, "GRUCell", sizes, "list"), calls(axis, sizes))
    (reason,) = [each.reason for each in result.report.loops]
    assert reason.endswith("LiteRT has no op for it; a loop with its input projection hoisted")
    histogram = op_histogram(result.model_bytes)
    (main,) = {graph for graph, op in histogram if op == "WHILE"}
    assert histogram[main, "FULLY_CONNECTED"] == 1
    assert op_counts(result.model_bytes)["FULLY_CONNECTED"] == 2


def from_the_end(tf: Any) -> Any:
    """Steps that begin before 0, which a slice counts from the end."""
    module = tf.Module()
    module.weight = tf.Variable(np.random.default_rng(4).normal(0, 0.5, (FEATURES, UNITS)).astype(np.float32))

    @tf.function(input_signature=[tf.TensorSpec([None, None, FEATURES], tf.float32, name="x")])
    def serve(x: Any) -> dict[str, Any]:
        h = tf.zeros([tf.shape(x)[1], UNITS])
        for t in tf.range(-2, 2):
            h = tf.tanh(h + x[t] @ module.weight)
        return {"h": h}

    module.serve = serve
    return module, {"serving_default": serve}


def test_steps_from_the_end(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(from_the_end), calls(0, (None, None)))
    histogram = op_histogram(result.model_bytes)
    (main,) = {graph for graph, op in histogram if op == "WHILE"}
    assert histogram[main, "FULLY_CONNECTED"] == 0


@pytest.mark.parametrize(
    ("name", "outputs"), [*((name, "list") for name in OTHER_READS), ("time first", "fewer"), ("batch first", "fewer")]
)
def test_other_loops_stay_as_they_are(tensorflow: TensorFlow, name: str, outputs: str) -> None:
    axis, _ = {**READS, **OTHER_READS}[name]
    sizes = (None, None)
    result = check(tensorflow, tensorflow.save(saved, name, "LSTMCell", sizes, outputs), calls(axis, sizes))
    assert "WHILE" in op_counts(result.model_bytes)
    assert not result.report.composites
