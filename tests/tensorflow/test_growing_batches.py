"""Batches that become larger, in many interpreters: what XNNPACK leaves out, or takes, depends on addresses."""

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


def graph_network(tf: Any) -> Any:
    """Three steps of messages between atoms, and a mean for each of two molecules, of as many atoms as they have."""
    random = np.random.default_rng(0)
    shapes = ((5, 36), 36, (6, 18), (6, 18), (6, 8))
    edges, bias, message, state, last = (tf.constant(random.normal(0, 0.4, each).astype(np.float32)) for each in shapes)

    def serve(x: Any, bond: Any, pair: Any, molecule: Any) -> Any:
        for _ in range(3):
            weights = tf.reshape(bond @ edges + bias, (-1, 6, 6))
            sent = tf.squeeze(weights @ tf.expand_dims(tf.gather(x, pair[:, 1]), -1), -1)
            received = tf.math.unsorted_segment_sum(sent, pair[:, 0], tf.shape(x)[0]) @ message
            own = x @ state
            update, reset = tf.split(tf.sigmoid(own[:, :12] + received[:, :12]), 2, 1)
            x = update * x + (1 - update) * tf.tanh(received[:, 12:] + reset * own[:, 12:])
        means = [tf.reduce_mean(atoms, 0) for atoms in tf.dynamic_partition(x, molecule, 2)]
        return {"y": tf.stack(means) @ last, "x": x}

    specs = {"x": ([None, 6], tf.float32), "bond": ([None, 5], tf.float32)}
    specs |= {"pair": ([None, 2], tf.int32), "molecule": ([None], tf.int32)}
    module = tf.Module()
    module.serve = tf.function(
        serve, input_signature=[tf.TensorSpec(*spec, name=name) for name, spec in specs.items()], autograph=False
    )
    return module, {"serving_default": module.serve}


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
    check(converted, calls, tensorflow.run_calls(path, calls), interpreters=80)


def test_parts_that_are_prepared_in_a_call(tensorflow: TensorFlow) -> None:
    """What tf.dynamic_partition gives has sizes that are known in the call only, where LiteRT prepares what follows."""
    path = tensorflow.save(graph_network)
    converted = litefuse.convert(path).model_bytes
    random = np.random.default_rng(12)
    calls: list[Call] = []
    for atoms in random.permutation([3, 5, 7, 9, 11]):
        for _ in range(3):  # the fault was in the second and third
            bonds = 3 * atoms - 6
            inputs: dict[str, np.ndarray] = {
                "x": random.normal(size=(atoms, 6)).astype(np.float32),
                "bond": random.normal(size=(bonds, 5)).astype(np.float32),
                "pair": random.integers(0, atoms, (bonds, 2)).astype(np.int32),
                "molecule": np.arange(atoms, dtype=np.int32) % 2,
            }
            calls.append(("serving_default", inputs))
    check(converted, calls, tensorflow.run_calls(path, calls), interpreters=1500)


def check(model: bytes, calls: list[Call], expected: list[dict[str, np.ndarray]], *, interpreters: int) -> None:
    """All calls in a row, in each of many interpreters."""
    wrong: list[str] = []
    for number in range(interpreters):
        for call, (ours, theirs) in enumerate(zip(run_calls(model, calls), expected, strict=True)):
            problems = [difference(ours[name], theirs[name], rtol=1e-4) for name in theirs]
            wrong += [f"interpreter {number}, call {call}: {problem}" for problem in problems if problem]
    assert not wrong, f"{len(wrong)} of {interpreters * len(calls)}: {wrong[:5]}"
