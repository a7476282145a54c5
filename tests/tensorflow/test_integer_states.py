"""Streaming models in integers: their states too, in LiteRT and tflite-micro, over many calls."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import QuantizationError
from litefuse.litert.runtime.model_reader import Model
from tests.in_part import in_part
from tests.tensorflow import recurrent_models
from tests.tensorflow.checking import op_counts
from tests.tensorflow.microcontrollers import run_integers, run_micro
from tests.tensorflow.recurrent_models import Case

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow

CALLS = 200
CONVERSIONS = frozenset({"DEQUANTIZE", "QUANTIZE"})


def spotter(tf: Any) -> Any:
    """A keyword spotter like microWakeWord's: each convolution in time has a ring buffer of its own."""
    keras: Any = importlib.import_module("keras")
    layers = keras.layers

    class Ring(layers.Layer):  # type: ignore[misc]
        """The last frames, kept between calls."""

        def __init__(self, size: int) -> None:
            super().__init__()
            self.size = size

        def build(self, shape: Any) -> None:
            self.frames = self.add_weight(shape=(1, self.size, 1, shape[-1]), initializer="zeros", trainable=False)

        def call(self, x: Any) -> Any:
            joined = tf.concat([self.frames.value, x], 1)
            self.frames.assign(joined[:, -self.size :])
            return joined

    x = first = keras.Input(batch_shape=(1, 3, 1, 20), name="x")
    x = layers.Conv2D(8, (5, 1), strides=(3, 1), activation="relu", bias_initializer="uniform")(Ring(4)(x))
    for size, channels in ((5, 8), (7, 12)):
        y = layers.DepthwiseConv2D((size, 1), bias_initializer="uniform")(Ring(size - 1)(x))
        y, z = (layers.Conv2D(channels, 1, bias_initializer="uniform")(value) for value in (y, x))
        x = layers.ReLU()(layers.Add()([y, z]))
    return keras.Model(first, layers.Dense(1, activation="sigmoid")(layers.Flatten()(Ring(6)(x))))


def stream() -> list[npt.NDArray[np.float32]]:
    random = np.random.default_rng(1)
    waves = np.sin(np.arange(CALLS * 3)[:, None] * random.uniform(0.05, 0.4, size=20))
    noisy = waves + random.normal(size=waves.shape) / 2
    return [*noisy.reshape(CALLS, 1, 3, 1, 20).astype(np.float32)]


def stock_states(tf: Any, path: str, samples: Sequence[npt.NDArray[Any]], form: str) -> bytes:
    converter = tf.lite.TFLiteConverter.from_saved_model(path)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([sample] for sample in samples)
    ops, dtype = tf.lite.OpsSet, tf.as_dtype(form)
    of_form = {
        "int8": ops.TFLITE_BUILTINS_INT8,
        "int16": ops.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8,
    }
    converter.target_spec.supported_ops = [of_form[form]]
    converter.inference_input_type = converter.inference_output_type = dtype
    converter._experimental_variable_quantization = True  # noqa: SLF001
    return converter.convert()


def held(model: bytes) -> list[str]:
    """The dtypes of what is read from variables."""
    graphs = Model(model).graphs
    reads = [(graph, op) for graph in graphs for op in graph.ops if op.name == "READ_VARIABLE"]
    return [str(graph.tensor(op.outputs[0]).dtype) for graph, op in reads]


def quantization(form: Any, samples: Any) -> litefuse.Quantization:
    return litefuse.Quantization(form, samples=samples, io=True, require_integer=True)


@pytest.mark.parametrize("form", ["int8", "int16"])
def test_a_streaming_spotter(tensorflow: TensorFlow, form: str) -> None:
    path, calls = tensorflow.save(spotter), stream()
    result = litefuse.convert(path, target="micro", quantize=quantization(form, [{"x": x} for x in calls]))
    stock: bytes = tensorflow.call(stock_states, str(path), calls, form)
    assert not CONVERSIONS & op_counts(result.model_bytes).keys()
    assert held(result.model_bytes) == held(stock) == [form] * 4

    expected = [
        next(iter(of.values())) for of in tensorflow.run_calls(path, [("serving_default", {"x": x}) for x in calls])
    ]

    def errors(numbers: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.float64]:
        return np.array([np.abs(one - other).max() for one, other in zip(numbers, expected, strict=True)])

    given, integers, numbers = run_integers(result.model_bytes, calls)
    found, theirs = errors(numbers), errors(run_integers(stock, calls)[2])
    assert found[-50:].mean() < 1.5 * found[:50].mean()
    assert found.mean() < 1.1 * theirs.mean() + 1e-4
    micro = run_micro(result.model_bytes, given)
    assert max(np.abs(one.astype(int) - other).max() for one, other in zip(integers, micro, strict=True)) <= 1


def trained_ring(tf: Any, start: float) -> Any:
    """A ring buffer between fake-quantization nodes."""
    fake = tf.quantization.fake_quant_with_min_max_vars
    module = tf.Module()
    module.frames = tf.Variable(tf.fill([1, 4, 6], start))
    module.kernel = tf.Variable(np.random.default_rng(0).normal(size=(6, 3)).clip(-1, 1).astype(np.float32))

    def serve(x: Any) -> Any:
        joined = tf.concat([fake(module.frames, -2.0, 2.0), fake(x, -2.0, 2.0)], 1)
        module.frames.assign(joined[:, 1:])
        return {"y": fake(tf.matmul(joined, fake(module.kernel, -1.0, 1.0, narrow_range=True)), -10.0, 10.0)}

    module.serve = tf.function(serve, input_signature=[tf.TensorSpec([1, 1, 6], tf.float32, name="x")])
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("start", [0.5, 30.0])
def test_states_of_a_model_trained_for_integers(tensorflow: TensorFlow, start: float) -> None:
    path = tensorflow.save(trained_ring, start)
    result = litefuse.convert(path, quantize=litefuse.Quantization("qat", io=True))
    if start > 2:  # which the range of the nodes does not hold
        assert held(result.model_bytes) == ["float32"]
        with pytest.raises(QuantizationError, match="READ_VARIABLE, 1"):
            litefuse.convert(path, quantize=litefuse.Quantization("qat", require_integer=True))
        return
    assert held(result.model_bytes) == ["int8"]
    assert not CONVERSIONS & op_counts(result.model_bytes).keys()
    random = np.random.default_rng(3)
    calls = [random.normal(size=(1, 1, 6)).astype(np.float32) for _ in range(CALLS)]
    expected = tensorflow.run_calls(path, [("serving_default", {"x": x}) for x in calls])
    for actual, outputs in zip(run_integers(result.model_bytes, calls)[2], expected, strict=True):
        assert np.abs(actual - outputs["y"]).max() < 1.01 * 20 / 255  # a step


LAYERS = [
    Case(keras, f"{kind} {cell}", 1, 6)
    for keras in ("keras", "tf_keras")
    for kind in ("stateful", "stateful_masked")
    for cell in ("GRU", "LSTM")
]


@pytest.mark.parametrize("case", in_part(LAYERS, 2), ids=str)
def test_stateful_layers(tensorflow: TensorFlow, case: Case) -> None:
    path = tensorflow.save(recurrent_models.build, *case)
    calls = [call for seed in range(CALLS // 2) for call in recurrent_models.inputs(case, seed)]
    result = litefuse.convert(path, target="micro", quantize=quantization("int8", calls))
    assert "DEQUANTIZE" not in op_counts(result.model_bytes)
    assert set(held(result.model_bytes)) <= {"int8", "int16"}
    expected = tensorflow.run_calls(path, [("serving_default", call) for call in calls])
    _, _, numbers = run_integers(result.model_bytes, [next(iter(call.values())) for call in calls])
    errors = np.array(
        [np.abs(one - next(iter(other.values()))).max() for one, other in zip(numbers, expected, strict=True)]
    )
    half = len(errors) // 2
    assert errors.max() < 0.1
    assert errors[half:].mean() < 1.5 * errors[:half].mean() + 0.005
