"""Loops in batches that become larger, in many interpreters: what XNNPACK leaves out depends on addresses."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.tensorflow.checking import difference, run_calls

if TYPE_CHECKING:
    from tests.tensorflow.process import Call, TensorFlow

SIZES = (1, 1, 3, 1, 1, 4)
INTERPRETERS = 80


def gru_both_ways(tf: Any) -> Any:
    """Keras's GRU has two biases in one variable, which each step took apart."""
    keras = importlib.import_module("keras")
    bias = keras.initializers.RandomNormal(seed=1)
    inputs = keras.Input((6, 4), name="x")
    layer = keras.layers.GRU(5, return_sequences=True, bias_initializer=bias)
    model = keras.Model(inputs, keras.layers.Bidirectional(layer)(inputs))

    def serve(x: Any) -> Any:
        return {"y": model(x)}

    return served(tf, model, serve, [None, 6, 4])


def halves_joined(tf: Any) -> Any:
    """Each step concatenates, and takes columns of that."""
    random = np.random.default_rng(4)
    turned = random.permutation(10)

    def step(count: Any, a: Any, b: Any) -> Any:
        angle = tf.reduce_sum(a[:, :5] * a[:, 5:], 1, keepdims=True)
        cosine, sine = tf.cos(angle), tf.sin(angle)
        joined = [
            tf.concat([x[:, :5] * cosine - x[:, 5:] * sine, x[:, :5] * sine + x[:, 5:] * cosine], 1) for x in (a, b)
        ]
        return (count + 1, *(tf.gather(each, turned, axis=1) for each in joined))

    def goes_on(count: Any, *_: Any) -> Any:
        return count < 4

    def serve(x: Any) -> Any:
        _, a, b = tf.while_loop(goes_on, step, (0, x, tf.sin(x)))
        return {"a": a, "b": tf.reshape(b, [-1, 2, 5])}

    return served(tf, tf.Module(), serve, [None, 10])


def eigenvectors(tf: Any) -> Any:
    def serve(x: Any) -> Any:
        values, vectors = tf.linalg.eigh(x)
        return {"values": values, "squares": tf.square(vectors)}

    return served(tf, tf.Module(), serve, [2, None, 5, 5])


def served(tf: Any, holder: Any, function: Any, shape: list[int | None]) -> Any:
    module = tf.Module()
    module.variables_of_model = holder.variables
    spec = tf.TensorSpec(shape, tf.float32, name="x")
    module.serve = tf.function(function, input_signature=[spec], autograph=False)
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize(
    ("model", "shape"), [(gru_both_ways, (-1, 6, 4)), (halves_joined, (-1, 10)), (eigenvectors, (2, -1, 5, 5))]
)
def test_every_interpreter_is_right(tensorflow: TensorFlow, model: Any, shape: tuple[int, ...]) -> None:
    path = tensorflow.save(model)
    converted = litefuse.convert(path, rnn="loop").model_bytes
    random = np.random.default_rng(7)
    shapes = [tuple(size if dim < 0 else dim for dim in shape) for size in SIZES]
    calls: list[Call] = [("serving_default", {"x": random.normal(size=each).astype(np.float32)}) for each in shapes]
    expected = tensorflow.run_calls(path, calls)
    wrong: list[str] = []
    for number in range(INTERPRETERS):
        for call, (ours, theirs) in enumerate(zip(run_calls(converted, calls), expected, strict=True)):
            problems = [difference(ours[name], theirs[name], rtol=1e-4) for name in theirs]
            wrong += [f"interpreter {number}, call {call}: {problem}" for problem in problems if problem]
    assert not wrong, f"{len(wrong)} of {INTERPRETERS * len(SIZES)}: {wrong[:5]}"
