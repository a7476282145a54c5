# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false
"""Models trained with fake quantization: of weights, biases and activations, in layers of every rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

Layer = tuple[tuple[int | None, ...], Callable[[Any, Any, "Of"], Any]]
Of = Callable[[Any], Any]

_RANDOM = np.random.default_rng(11)


def _weights(*shape: int) -> Any:
    return _RANDOM.normal(size=shape).astype(np.float32)


_MATRIX, _BIAS, _LONG_BIAS = _weights(4, 5), _weights(5), _weights(1500)
_WIDE, _KERNEL, _DEPTHWISE, _ROWS = _weights(4, 1500), _weights(3, 3, 4, 5), _weights(3, 3, 4, 2), _weights(3, 4, 5)

# Ends within which some of the weights are not.
_FORMS: Mapping[str, Callable[[Any, Any], Any]] = {
    "whole": lambda tf, w: tf.quantization.fake_quant_with_min_max_vars(w, -1.0, 1.3),
    "narrow": lambda tf, w: tf.quantization.fake_quant_with_min_max_vars(w, -1.0, 1.0, narrow_range=True),
    "constant ends": lambda tf, w: tf.quantization.fake_quant_with_min_max_args(w, -1.0, 1.3, narrow_range=True),
    "of four bits": lambda tf, w: tf.quantization.fake_quant_with_min_max_vars(w, -1.0, 1.3, num_bits=4),
    "by channel": lambda tf, w: tf.quantization.fake_quant_with_min_max_vars_per_channel(
        w, -np.linspace(0.3, 1, w.shape[-1]), np.linspace(1.5, 0.2, w.shape[-1]), narrow_range=True
    ),
}

LAYERS: Mapping[str, Layer] = {
    "dense": ((None, 4), lambda tf, x, q: tf.matmul(x, q(_MATRIX)) + q(_BIAS)),
    "dense with a long bias": ((None, 4), lambda tf, x, q: tf.matmul(x, q(_WIDE)) + q(_LONG_BIAS)),
    "dense, activated": ((None, 4), lambda tf, x, q: tf.nn.relu(tf.matmul(x, q(_MATRIX)) + q(_BIAS))),
    "dense of rank 3": ((None, 3, 4), lambda tf, x, q: tf.tensordot(x, q(_MATRIX), 1) + q(_BIAS)),
    "dense of open lengths": ((None, None, 4), lambda tf, x, q: tf.matmul(x, q(_MATRIX)) + _BIAS),
    "dense of rank 4": ((None, 2, 3, 4), lambda tf, x, q: tf.tensordot(x, q(_MATRIX), 1)),
    "einsum": ((None, 3, 4), lambda tf, x, q: tf.einsum("btc,cd->btd", x, q(_MATRIX)) + q(_BIAS)),
    "convolution": ((None, 6, 6, 4), lambda tf, x, q: tf.nn.conv2d(x, q(_KERNEL), 1, "SAME") + q(_BIAS)),
    "depthwise": ((None, 6, 6, 4), lambda tf, x, q: tf.nn.depthwise_conv2d(x, q(_DEPTHWISE), [1, 1, 1, 1], "SAME")),
    "of sequences": ((None, 6, 4), lambda tf, x, q: tf.nn.conv1d(x, q(_ROWS), 1, "SAME") + q(_BIAS)),
}


def module(tf: Any, layer: str, form: str) -> Any:
    shape, function = LAYERS[layer]
    result = tf.Module()

    def serve(x: Any) -> Any:
        return {"y": function(tf, x, lambda weights: _FORMS[form](tf, weights))}

    result.serve = tf.function(serve, input_signature=[tf.TensorSpec(shape, tf.float32, name="x")], autograph=False)
    return result, {"serving_default": result.serve}


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize("layer", LAYERS)
def test_weights(tensorflow: TensorFlow, layer: str, form: str) -> None:
    shape, _ = LAYERS[layer]
    random = np.random.default_rng(5)
    inputs = [
        {"x": random.normal(size=[batch if size is None else size for size in shape]).astype(np.float32)}
        for batch in (1, 3)
    ]
    check(tensorflow, tensorflow.save(module, layer, form), inputs)


def activations(tf: Any, layer: str) -> Any:
    shape, function = LAYERS[layer]
    result = tf.Module()

    def rounded(x: Any) -> Any:
        return tf.quantization.fake_quant_with_min_max_vars(x, -6.0, 6.3)

    def serve(x: Any) -> Any:
        return {"y": rounded(function(tf, rounded(x), rounded))}

    result.serve = tf.function(serve, input_signature=[tf.TensorSpec(shape, tf.float32, name="x")], autograph=False)
    return result, {"serving_default": result.serve}


@pytest.mark.parametrize("layer", [layer for layer in LAYERS if layer != "dense with a long bias"])
@pytest.mark.parametrize("quantize", [None, "dynamic", "weights"])
def test_activations(tensorflow: TensorFlow, layer: str, quantize: Any) -> None:
    """Next to the middle between two steps, or with rounded weights, a number may be rounded to the next step."""
    shape, _ = LAYERS[layer]
    random = np.random.default_rng(5)
    inputs = [
        {"x": random.normal(size=[batch if size is None else size for size in shape]).astype(np.float32)}
        for batch in (1, 3)
    ]
    steps = 1.01 if quantize is None else 6
    check(tensorflow, tensorflow.save(activations, layer), inputs, atol=steps * 12.3 / 255, quantize=quantize)


def quantized(tf: Any) -> Any:
    result = tf.Module()

    def serve(x: Any) -> Any:
        return {"y": tf.quantization.quantize_and_dequantize_v2(x, -2.0, 127 / 64, range_given=True)}

    signature = [tf.TensorSpec((None, None, 4), tf.float32, name="x")]
    result.serve = tf.function(serve, input_signature=signature, autograph=False)
    return result, {"serving_default": result.serve}


def test_given_range(tensorflow: TensorFlow) -> None:
    """Two bounds, two scales and the rounding; halves are rounded to the even step, as by TensorFlow."""
    x = np.arange(-130, 130, 0.5, dtype=np.float32).reshape(1, -1, 4) / 64
    inputs = [{"x": x}, {"x": x[:, 7:8]}]
    result = check(tensorflow, tensorflow.save(quantized), inputs, rtol=1e-6)
    assert sum(result.report.op_counts.values()) == 5
