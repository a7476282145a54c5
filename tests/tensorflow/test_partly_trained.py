# pyright: reportUnknownLambdaType=false
"""Models that fake quantization covers in part: what stays in floats, and that it is said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.in_part import in_part
from tests.tensorflow.checking import check, op_counts

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

_RANDOM = np.random.default_rng(3)
_KERNEL = (_RANDOM.normal(size=(3, 3, 4, 4)) * 0.2).astype(np.float32)
_MATRIX = (_RANDOM.normal(size=(4, 4)) * 0.4).astype(np.float32)
_LOPSIDED = (_RANDOM.uniform(size=(3, 3, 4, 4)) - 0.1).astype(np.float32)

Layer = Callable[[Any, Any], Any]


def _act(tf: Any, x: Any, low: float = -4.0, high: float = 4.0, **options: Any) -> Any:
    return tf.quantization.fake_quant_with_min_max_vars(x, low, high, **options)


def _conv(tf: Any, x: Any, kernel: Any = _KERNEL, low: float = -0.6, high: float = 0.6, **options: Any) -> Any:
    return tf.nn.conv2d(x, _act(tf, kernel, low, high, **{"narrow_range": True} | options), 1, "SAME")


def _used_twice(tf: Any, x: Any) -> Any:
    y = _conv(tf, _act(tf, x))
    return _act(tf, y) * tf.sin(y)


def _own_range(tf: Any, x: Any) -> Any:
    return _act(tf, _conv(tf, _act(tf, x)), tf.reduce_min(x), tf.reduce_max(x))


def _per_channel(tf: Any, x: Any) -> Any:
    ends = np.linspace(2, 4, 4).astype(np.float32)
    return tf.quantization.fake_quant_with_min_max_vars_per_channel(_conv(tf, _act(tf, x)), -ends, ends)


# The layer, an op that stays in floats, and the reason; of a node that stays, it is "fake quantization".
LAYERS: Mapping[str, tuple[Layer, str, str]] = {
    "input without node": (
        lambda tf, x: _act(tf, _conv(tf, x)),
        "CONV_2D",
        "an operand has no fake quantization",
    ),
    "result without node": (
        lambda tf, x: _conv(tf, _act(tf, x)),
        "CONV_2D",
        "its result has no fake quantization",
    ),
    "result used in floats": (_used_twice, "CONV_2D", "its result is used without fake quantization, too"),
    "op without kernel": (
        lambda tf, x: _act(tf, tf.sin(_act(tf, _conv(tf, _act(tf, x))))),
        "SIN",
        "LiteRT's op has no int8 form that is used",
    ),
    "weights without node": (
        lambda tf, x: _act(tf, tf.nn.conv2d(_act(tf, x), _KERNEL, 1, "SAME")),
        "CONV_2D",
        "its weights have no fake quantization",
    ),
    "weights with a zero point": (
        lambda tf, x: _act(tf, _conv(tf, _act(tf, x), _LOPSIDED, -0.1, 0.9, narrow_range=False)),
        "CONV_2D",
        "its weights need a zero point, which int8 kernels do not take",
    ),
    "computed weights": (
        lambda tf, x: _act(tf, tf.matmul(_act(tf, x), tf.reduce_mean(x, [0, 1, 2]) * _MATRIX)),
        "BATCH_MATMUL",
        "an operand has no fake quantization",
    ),
    "finer average": (
        lambda tf, x: _act(tf, tf.nn.avg_pool2d(_act(tf, x, -64.0, 64.0), 2, 2, "VALID")),
        "AVERAGE_POOL_2D",
        "it averages in the steps of its operand, which are larger than those of its result",
    ),
    "other scales": (
        lambda tf, x: tf.concat([_act(tf, x), _act(tf, x, -1.0, 1.0)], 3),
        "CONCATENATION",
        "its operands have different scales",
    ),
    "coarse constant": (
        lambda tf, x: _act(tf, _act(tf, x) + np.array([900, 0.01, 0.02, -3], np.float32)),
        "ADD",
        "a constant operand has no fake quantization, and needs more than 8 bits",
    ),
    "scaled input": (
        lambda tf, x: _act(tf, _conv(tf, _act(tf, x) * 0.3)),
        "CONV_2D",
        "an operand has no fake quantization",
    ),
    "range of the data": (_own_range, "fake quantization", "its range is computed in each call"),
    "channels of activations": (
        _per_channel,
        "fake quantization",
        "LiteRT's ops take one scale for all channels of what is not constant",
    ),
    "ten bits": (
        lambda tf, x: _act(tf, _conv(tf, _act(tf, x)), num_bits=10),
        "fake quantization",
        "it has 10 bits, and int8 has 8",
    ),
    "symmetric range of the data": (
        lambda tf, x: tf.quantization.quantize_and_dequantize_v2(_conv(tf, _act(tf, x)), 0.0, 0.0),
        "fake quantization",
        "its range is that of the data, in each call",
    ),
}


def model(tf: Any, name: str) -> Any:
    module = tf.Module()
    signature = [tf.TensorSpec((None, 6, 6, 4), tf.float32, name="x")]
    module.serve = tf.function(lambda x: {"y": LAYERS[name][0](tf, x)}, input_signature=signature, autograph=False)
    return module, {"serving_default": module.serve}


def inputs(seed: int = 5) -> list[dict[str, Any]]:
    random = np.random.default_rng(seed)
    return [{"x": random.normal(size=(batch, 6, 6, 4)).astype(np.float32)} for batch in (1, 3)]


@pytest.mark.parametrize("name", in_part(LAYERS, 3))
def test_what_is_not_covered_stays_float(tensorflow: TensorFlow, name: str) -> None:
    _, op, reason = LAYERS[name]
    result = check(tensorflow, tensorflow.save(model, name), inputs(), rtol=0, atol=1.01 * 8 / 255, quantize="qat")
    assert result.report.quantization is not None
    reasons = {each.op: each.reason for each in result.report.quantization.floats}
    assert op in reasons
    assert reason in reasons[op]
    assert "Stayed in floating point" in result.report.details()


def test_weights_of_float_ops_are_int8(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(model, "input without node")
    whole, small = litefuse.convert(path).model_bytes, litefuse.convert(path, quantize="qat").model_bytes
    assert len(whole) - len(small) > _KERNEL.size  # a byte for each weight, not four
    assert op_counts(small) == {"DEQUANTIZE": 2, "CONV_2D": 1, "QUANTIZE": 1}
