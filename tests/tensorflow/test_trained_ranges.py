"""Where the ranges of integer models come from: every way in which a model says them, and what says none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.tensorflow.checking import check, op_counts

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

Round = Callable[[Any, Any], Any]

_RANDOM = np.random.default_rng(3)
_KERNEL = (_RANDOM.normal(size=(3, 3, 4, 6)) * 0.2).astype(np.float32)
_BIAS = (_RANDOM.normal(size=6) * 0.1).astype(np.float32)
_STEPS = np.linspace(0.01, 0.004, 6).astype(np.float32)


def _estimated(tf: Any, x: Any, rounded: Any) -> Any:
    return x + tf.stop_gradient(rounded - x)


def _power_of_two(tf: Any, x: Any, bits: int, integer: int) -> Any:
    """QKeras' ``quantized_bits``, for signed numbers and no scale."""
    scaled = 2.0 ** (bits - 1)
    clipped = tf.clip_by_value(tf.round(x * scaled / 2.0**integer) / scaled, -1.0, 1.0 - 1.0 / scaled)
    return x + tf.stop_gradient(-x + 2.0**integer * clipped)


def _quantized_relu(tf: Any, x: Any) -> Any:
    """QKeras' ``quantized_relu`` of 6 bits, 2 of them before the point."""
    rounded = tf.clip_by_value(tf.round(x * 64.0 / 4.0) / 64.0, 0.0, 1.0 - 1.0 / 64.0) * 4.0
    return tf.nn.relu(x) + tf.stop_gradient(-tf.nn.relu(x) + rounded)


def _scaled(tf: Any, w: Any) -> Any:
    step = tf.reduce_max(tf.abs(w), [0, 1, 2], keepdims=True) / 127.0
    return tf.round(tf.clip_by_value(w / step, -127.0, 127.0)) * step


ACTIVATIONS: Mapping[str, Round] = {
    "constant ends": lambda tf, x: tf.quantization.fake_quant_with_min_max_args(x, -4.0, 4.0),
    "ends": lambda tf, x: tf.quantization.fake_quant_with_min_max_vars(x, -4.0, 4.0),
    "ends above 0": lambda tf, x: tf.quantization.fake_quant_with_min_max_vars(tf.nn.relu(x), 1.0, 4.0),
    "narrow": lambda tf, x: tf.quantization.fake_quant_with_min_max_vars(x, -4.0, 4.0, narrow_range=True),
    "of five bits": lambda tf, x: tf.quantization.fake_quant_with_min_max_vars(x, -3.0, 4.0, num_bits=5),
    "of keras": lambda tf, x: tf.keras.quantizers.fake_quant_with_min_max_vars(x, -4.0, 4.0),
    "symmetric": lambda tf, x: tf.quantization.quantize_and_dequantize_v2(x, -4.0, 4.0, range_given=True),
    "unsigned": lambda tf, x: tf.quantization.quantize_and_dequantize_v2(
        tf.nn.relu(x), 0.0, 4.0, signed_input=False, range_given=True, num_bits=6
    ),
    "of raw op": lambda tf, x: tf.raw_ops.QuantizeAndDequantizeV3(
        input=x, input_min=-4.0, input_max=4.0, num_bits=7, signed_input=True, range_given=True
    ),
    "clipped, divided": lambda tf, x: tf.round(tf.clip_by_value(x / 0.03, -128.0, 127.0)) * 0.03,
    "clipped before": lambda tf, x: tf.round(tf.clip_by_value(x, -3.84, 3.81) / 0.03) * 0.03,
    "clipped after": lambda tf, x: tf.clip_by_value(tf.round(x * 32.0), -128.0, 127.0) / 32.0,
    "minimum and maximum": lambda tf, x: tf.maximum(tf.minimum(tf.round(x * 32.0), 127.0), -127.0) * 0.03125,
    "estimator": lambda tf, x: _estimated(tf, x, tf.round(tf.clip_by_value(x / 0.03, -128.0, 127.0)) * 0.03),
    "relu6": lambda tf, x: tf.round(tf.nn.relu6(x) * (255 / 6)) * (6 / 255),
    "powers of two": lambda tf, x: _power_of_two(tf, x, 8, 2),
    "powers of two, five bits": lambda tf, x: _power_of_two(tf, x, 5, 2),
    "quantized relu": _quantized_relu,
}

WEIGHTS: Mapping[str, Round] = {
    "by channel": lambda tf, w: tf.quantization.fake_quant_with_min_max_vars_per_channel(
        w, -127 * _STEPS, 127 * _STEPS, narrow_range=True
    ),
    "with a zero point, four bits": lambda tf, w: tf.quantization.fake_quant_with_min_max_vars(
        w, -0.2, 0.5, num_bits=4
    ),
    "of keras": lambda tf, w: tf.keras.quantizers.fake_quant_with_min_max_vars(
        tf.convert_to_tensor(w), -127 * _STEPS, 127 * _STEPS, narrow_range=True, axis=3
    ),
    "range of the weights": lambda tf, w: tf.quantization.quantize_and_dequantize_v2(w, 0.0, 0.0),
    "range of each channel": lambda tf, w: tf.quantization.quantize_and_dequantize_v2(w, _STEPS, _STEPS, axis=3),
    "half up": lambda tf, w: tf.quantization.quantize_and_dequantize_v2(
        w, -0.5, 0.5, range_given=True, round_mode="HALF_UP"
    ),
    "steps by channel": lambda tf, w: tf.round(tf.clip_by_value(w / _STEPS, -127.0, 127.0)) * _STEPS,
    "powers of two": lambda tf, w: _power_of_two(tf, w, 4, 0),
    "range of the weights, computed": lambda tf, w: tf.quantization.fake_quant_with_min_max_vars(
        w, -tf.reduce_max(tf.abs(w)), tf.reduce_max(tf.abs(w)), narrow_range=True
    ),
    "range of each channel, computed": lambda tf, w: tf.quantization.fake_quant_with_min_max_vars_per_channel(
        w, -tf.reduce_max(tf.abs(w), [0, 1, 2]), tf.reduce_max(tf.abs(w), [0, 1, 2]), narrow_range=True
    ),
    "steps of each channel, computed": lambda tf, w: _estimated(tf, w, _scaled(tf, w)),
    "computed weights": lambda tf, w: _power_of_two(tf, tf.tanh(w) / tf.reduce_max(tf.abs(tf.tanh(w))), 8, 0),
    "ternary": lambda tf, w: tf.round(tf.clip_by_value(w / 0.2, -1.0, 1.0)) * 0.2,
}


def layer(tf: Any, activation: str, weight: str) -> Any:
    module = tf.Module()
    module.kernel, module.bias = tf.Variable(_KERNEL), tf.Variable(_BIAS)

    def serve(x: Any) -> Any:
        x = ACTIVATIONS[activation](tf, x)
        bias = tf.quantization.fake_quant_with_min_max_args(module.bias, -1.0, 1.0)
        y = tf.nn.conv2d(x, WEIGHTS[weight](tf, module.kernel), 1, "SAME") + bias
        return {"y": ACTIVATIONS[activation](tf, y)}

    signature = [tf.TensorSpec((None, 6, 6, 4), tf.float32, name="x")]
    module.serve = tf.function(serve, input_signature=signature, autograph=False)
    return module, {"serving_default": module.serve}


def inputs() -> list[dict[str, Any]]:
    random = np.random.default_rng(5)
    return [{"x": random.normal(size=(batch, 6, 6, 4)).astype(np.float32)} for batch in (1, 3)]


@pytest.mark.parametrize(
    ("activation", "weight"),
    [*((activation, "by channel") for activation in ACTIVATIONS), *(("ends", weight) for weight in WEIGHTS)],
)
def test_every_form_gives_integers(tensorflow: TensorFlow, activation: str, weight: str) -> None:
    path = tensorflow.save(layer, activation, weight)
    # The largest step of an activation is 8 / 31; outputs move by one.
    step = 0.26 if "five" in activation else 0.07
    result = check(tensorflow, path, inputs(), rtol=0, atol=1.01 * step, quantize="qat")
    assert result.report.quantization is not None
    assert result.report.quantization.floats == ()
    counts = op_counts(result.model_bytes)
    assert (
        {"CONV_2D", "QUANTIZE", "DEQUANTIZE"}
        <= counts.keys()
        <= {"CONV_2D", "QUANTIZE", "DEQUANTIZE", "MINIMUM", "RELU"}
    )
    floats = litefuse.convert(path).model_bytes
    assert len(result.model_bytes) < len(floats)
