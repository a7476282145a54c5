"""Keras models that are trained for integers on either backend, and the checks of the files that they become."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import litefuse
from litefuse.frontends.source_of import source_of
from tests.tensorflow.checking import interpreter, run_calls
from tests.tensorflow.spoiled_models import spoiled

CLASSES = 4


def data(shape: tuple[int, ...], count: int, seed: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Patterns of four classes in noise, and the classes."""
    patterns = np.random.default_rng(0).normal(size=(CLASSES, *shape))
    random = np.random.default_rng(seed)
    labels = random.integers(0, CLASSES, count)
    x = (0.4 * patterns[labels] + random.normal(size=(count, *shape))).astype(np.float32)
    if len(shape) == 2:  # sequences, some of which are short
        x[::3, shape[0] - 4 :] = 0
    return x, labels


def network(keras: Any) -> Any:
    """A small convolutional network."""
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((12, 12, 1), name="x"),
            layers.Conv2D(8, 3, padding="same", use_bias=False, name="first"),
            layers.BatchNormalization(name="first_norm"),
            layers.ReLU(),
            layers.DepthwiseConv2D(3, padding="same", name="depthwise"),
            layers.ReLU(6.0),
            layers.Conv2D(12, 3, strides=2, activation="relu", name="second"),
            layers.MaxPooling2D(2),
            layers.Dropout(0.1),
            layers.Flatten(),
            layers.Dense(CLASSES, name="head"),
        ]
    )


def spotter(keras: Any) -> Any:
    """A keyword spotter: separable convolutions along time, with a residual and a concatenation."""
    layers = keras.layers
    x = spectrogram = keras.Input((20, 8), name="x")
    x = layers.Conv1D(12, 5, strides=2, padding="same", use_bias=False, name="first")(x)
    x = layers.Activation("relu")(layers.BatchNormalization(name="first_norm")(x))
    y = layers.SeparableConv1D(12, 3, padding="same", name="second")(x)
    x = layers.Add()([x, layers.Activation("relu")(layers.BatchNormalization()(y))])
    x = layers.Concatenate()([x, layers.Conv1D(6, 1, activation="relu6")(x)])
    x = layers.Flatten()(layers.MaxPooling1D(2)(x))
    return keras.Model(spectrogram, layers.Dense(CLASSES, name="head")(x))


def subclassed(keras: Any) -> Any:
    """A model whose call is code, with weights of its own, a custom layer, and activations that are not fused."""
    layers, ops = keras.layers, keras.ops

    class Gate(layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.dense = layers.Dense(8, activation="tanh")

        def build(self, shape: Any) -> None:
            self.dense.build(shape)
            self.gain = self.add_weight(shape=(8,), initializer="ones", name="gain")

        def call(self, x: Any) -> Any:
            return ops.sigmoid(self.dense(x)) * self.gain + x

    @keras.saving.register_keras_serializable("tests")
    class Model(keras.Model):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.stem, self.norm, self.gate = layers.Conv2D(8, 3, strides=2), layers.BatchNormalization(), Gate()
            self.late_norm, self.widen = layers.BatchNormalization(), layers.Conv2DTranspose(6, 3)
            self.drop, self.head = layers.Dropout(0.1), layers.Dense(CLASSES)

        def call(self, x: Any, training: bool = False) -> Any:
            x = ops.silu(self.norm(self.stem(x), training=training))
            x = self.widen(self.late_norm(self.gate(x), training=training))
            x = ops.mean(ops.concatenate([x, -1.0 * x], -1), axis=1)
            return self.head(self.drop(ops.reshape(x, (-1, 84)), training=training))

    model = Model()
    model(np.zeros((2, 12, 12, 1), np.float32))
    return model


def recurrent(keras: Any) -> Any:
    """Recurrent layers of masked sequences: in both directions, and with dropout."""
    layers = keras.layers
    x = sequences = keras.Input((10, 8), name="x")
    x = layers.Masking()(x)
    x = layers.Bidirectional(layers.GRU(8, return_sequences=True))(x)
    x = layers.LSTM(8, dropout=0.1)(x)
    return keras.Model(sequences, layers.Dense(CLASSES, name="head")(x))


MODELS: Mapping[str, Callable[[Any], Any]] = {
    "network": network,
    "recurrent": recurrent,
    "spotter": spotter,
    "subclassed": subclassed,
}
_SHAPES = {"recurrent": (10, 8), "spotter": (20, 8)}
# By how many steps of the output it may differ: at most, for 99 of 100 numbers, and on average. A sum close to a half
# may be rounded otherwise, since biases are int32 in the file. That is amplified by the small channels of the network,
# which count most, and in each step of time: XNNPACK and LiteRT's own kernels are 0.7 steps apart there on average.
_STEPS = {"network": (6, 1, 0.3), "recurrent": (15, 5, 0.8)}


def _with_state(layers: Any, x: Any) -> Any:
    state = layers.Dense(6)(layers.Flatten()(x))
    x, state = layers.GRU(6, return_state=True)(x, initial_state=state)
    return layers.Concatenate()([x, state])


def _delayed(layers: Any, x: Any) -> Any:
    ops: Any = importlib.import_module("keras").ops

    class Cell(layers.Layer):
        """Adds what it gave two steps ago: one state becomes what the other one was."""

        def __init__(self) -> None:
            super().__init__()
            self.state_size, self.output_size = [5, 5], 5
            self.dense = layers.Dense(5, activation="hard_sigmoid")

        def build(self, shape: Any) -> None:
            self.dense.build((shape[0], shape[1] + 5))

        def call(self, x: Any, states: Any) -> Any:
            last, before = states
            y = self.dense(ops.concatenate([x, last], axis=-1))
            return y + before, [y, last]

    return layers.RNN(Cell())(x)


#: What a small model computes of sequences of 6 steps of 4 numbers, by a name.
LOOPS: Mapping[str, Callable[[Any, Any], Any]] = {
    "backwards": lambda layers, x: layers.SimpleRNN(6, activation="relu", go_backwards=True)(x),
    "cells": lambda layers, x: layers.RNN([layers.GRUCell(6), layers.LSTMCell(5)])(x),
    "delayed": _delayed,
    "images": lambda layers, x: layers.Flatten()(layers.ConvLSTM1D(3, 2)(layers.Reshape((6, 4, 1))(x))),
    "reset_before": lambda layers, x: layers.GRU(6, implementation=1, reset_after=False)(x),
    "unrolled": lambda layers, x: layers.LSTM(6, unroll=True, return_sequences=True)(x),
    "with_state": _with_state,
}


def train_loop(keras: Any, name: str, folder: Path) -> None:
    """Trains a model of ``LOOPS`` for a moment; writes it as a SavedModel, inputs, and what it gives for them."""
    keras.utils.set_random_seed(1)
    x = sequences = keras.Input((6, 4), name="x")
    x = keras.layers.Flatten()(LOOPS[name](keras.layers, x))
    model = keras.Model(sequences, keras.layers.Dense(CLASSES)(x))
    for weight in model.weights:  # biases that are not zero
        weight.assign(keras.random.normal(weight.shape, stddev=0.3))
    aware = litefuse.quantization_aware(model)
    aware.compile("adam", "mse", jit_compile=keras.config.backend() == "jax")
    inputs, _ = data((6, 4), 100, seed=1)
    aware.fit(inputs, np.zeros((100, CLASSES)), batch_size=50, verbose=0)
    outputs = aware.predict(inputs, verbose=0)
    source = source_of(aware)
    assert source.write is not None
    source.write(folder / f"{name}.trained")
    *_, last = aware.layers[-1].ranges
    ends = [float(np.asarray(end.value)) for end in (last.low, last.high)]
    np.savez(folder / f"{name}.npz", allow_pickle=False, x=inputs, outputs=outputs, step=np.ptp(ends) / 255)


def make(keras: Any, name: str, folder: Path) -> None:
    """Makes what a test of a model in ``MODELS`` or ``LOOPS`` checks."""
    (train if name in MODELS else train_loop)(keras, name, folder)


def check_loop(folder: Path, name: str) -> None:
    """Checks that the file computes in integers alone what the model gives; one with a wrong weight does not."""
    arrays = dict(np.load(folder / f"{name}.npz"))
    result = litefuse.convert(folder / f"{name}.trained", quantize="qat")
    assert result.report.quantization is not None
    assert result.report.quantization.floats == ()
    errors = np.abs(_outputs(result.model_bytes, arrays["x"]) - arrays["outputs"]) / arrays["step"]
    assert errors.mean() < 0.2
    assert errors.max() < 5.01
    on_micro = litefuse.Quantization("qat", io=True, require_integer=True)
    assert litefuse.convert(folder / f"{name}.trained", target="micro", quantize=on_micro).report.size < 60_000
    wrong, _ = spoiled(result.model_bytes, "channel", -1.0, 0.4)
    assert np.abs(_outputs(wrong, arrays["x"]) - arrays["outputs"]).mean() > arrays["step"]


def spread(model: Any) -> None:
    """Scales the channels behind the first convolution, and what takes them in, so that the outputs stay.

    Training often leaves such channels behind; one step of int8 for all is too coarse for the small ones.
    """
    norm = model.get_layer("first_norm")
    factors = 2.0 ** np.linspace(-7, 2, norm.gamma.shape[0])
    for weight in (norm.gamma, norm.beta):
        weight.assign(np.asarray(weight) * factors)
    following = model.get_layer("depthwise").kernel
    following.assign(np.asarray(following) / factors.reshape(1, 1, -1, 1))


def train(keras: Any, name: str, folder: Path) -> None:
    """Trains a model in floats, then for integers; writes both as SavedModels, samples, and what the second gives."""
    keras.utils.set_random_seed(1)
    model = MODELS[name](keras)
    shape = _SHAPES.get(name, (12, 12, 1))
    x, labels = data(shape, 1200, seed=1)
    compiled = {
        "loss": keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        "jit_compile": keras.config.backend() == "jax",
    }
    model.compile(keras.optimizers.Adam(0.005), **compiled)
    model.fit(x, labels, batch_size=50, epochs=4, verbose=0)
    if name == "network":
        spread(model)
        source = source_of(model)
        assert source.write is not None
        source.write(folder / f"{name}.floats")
    tests, answers = data(shape, 1000, seed=2)
    before = model.predict(tests, verbose=0)
    aware = litefuse.quantization_aware(model)
    aware.compile(keras.optimizers.Adam(0.005), **compiled)
    aware.fit(x, labels, batch_size=50, epochs=5, verbose=0)
    path = folder / f"{name}.keras"
    aware.save(path)
    loaded = keras.saving.load_model(path)
    source = source_of(loaded)
    assert source.write is not None
    source.write(folder / f"{name}.trained")
    ranges = np.array(
        [[float(np.asarray(end.value)) for end in (grid.low, grid.high)] for grid in aware.layers[-1].ranges]
    )
    outputs = aware.predict(tests, verbose=0)
    np.savez(
        folder / f"{name}.npz",
        allow_pickle=False,
        x=tests,
        labels=answers,
        outputs=outputs,
        loaded=loaded.predict(tests, verbose=0),
        ranges=ranges,
        samples=x[:200],
        before=before,
    )


def check(folder: Path, name: str) -> None:
    """Checks that the file of a trained model has its outputs within one step, and in the network its accuracy."""
    arrays = dict(np.load(folder / f"{name}.npz"))
    np.testing.assert_array_equal(arrays["loaded"], arrays["outputs"])
    result = litefuse.convert(folder / f"{name}.trained", quantize="qat")
    assert result.report.quantization is not None
    assert result.report.quantization.floats == ()
    outputs = _outputs(result.model_bytes, arrays["x"])
    step = float(np.ptp(arrays["ranges"][-1])) / 255
    errors = np.abs(outputs - arrays["outputs"])
    most, usual, average = _STEPS.get(name, (2, 1, 0.3))
    assert np.quantile(errors, 0.99) < (usual + 0.01) * step
    assert errors.max() < (most + 0.01) * step
    assert errors.mean() < average * step
    assert np.ptp(arrays["outputs"]) > 20 * step, "or the check says yes to anything"
    before = _accuracy(arrays["before"], arrays)
    assert _accuracy(outputs, arrays) >= before - 0.005
    if name == "network":
        quantization = litefuse.Quantization("int8", samples=[{"x": sample[None]} for sample in arrays["samples"]])
        after_training = litefuse.convert(folder / f"{name}.floats", quantize=quantization).model_bytes
        assert _accuracy(_outputs(after_training, arrays["x"]), arrays) < before - 0.02


def _outputs(model: bytes, x: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The outputs of two calls with batches of other sizes."""
    (name,) = interpreter(model).get_signature_runner().get_input_details()
    calls = [("serving_default", {name: x[:7]}), ("serving_default", {name: x[7:]})]
    return np.concatenate([next(iter(outputs.values())) for outputs in run_calls(model, calls)])


def _accuracy(outputs: npt.NDArray[np.float32], arrays: Mapping[str, npt.NDArray[Any]]) -> float:
    return float((outputs.argmax(axis=1) == arrays["labels"]).mean())
