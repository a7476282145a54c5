"""Keras models that are trained for integers on either backend, and the checks of the files that they become."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import litefuse
from litefuse.frontends.source_of import source_of
from tests.tensorflow.checking import interpreter, run_calls

CLASSES = 4


def data(shape: tuple[int, ...], count: int, seed: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Patterns of four classes in noise, and the classes."""
    patterns = np.random.default_rng(0).normal(size=(CLASSES, *shape))
    random = np.random.default_rng(seed)
    labels = random.integers(0, CLASSES, count)
    return (0.4 * patterns[labels] + random.normal(size=(count, *shape))).astype(np.float32), labels


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


MODELS: Mapping[str, Callable[[Any], Any]] = {"network": network, "spotter": spotter, "subclassed": subclassed}


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
    shape = (20, 8) if name == "spotter" else (12, 12, 1)
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
    # A sum close to a half may be rounded otherwise, since biases are int32 in the file; the network amplifies that,
    # since its small channels count most.
    assert np.quantile(errors, 0.99) < 1.01 * step
    assert errors.max() < (6.01 if name == "network" else 2.01) * step
    assert errors.mean() < 0.3 * step
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
