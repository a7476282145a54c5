"""Each op that becomes an integer op, between numbers of known steps, against TensorFlow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.in_part import in_part
from tests.tensorflow.checking import check, op_counts

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

# Of two rounded operands of the shape ?, 6, 8, 4: the op, and what becomes of it.
_RANDOM = np.random.default_rng(9)
_TRANSPOSED = (_RANDOM.normal(size=(3, 3, 5, 4)) * 0.2).astype(np.float32)
_DEPTHWISE = (_RANDOM.normal(size=(3, 3, 4, 2)) * 0.3).astype(np.float32)
_SLOPES = np.linspace(0.1, 0.4, 4).astype(np.float32)

Op = Callable[[Any, Any, Any], Any]


def _weights(tf: Any, weights: Any) -> Any:
    bound = float(np.abs(weights).max())
    return tf.quantization.fake_quant_with_min_max_vars(weights, -bound, bound, narrow_range=True)


OPS: Mapping[str, tuple[str, Op]] = {
    "abs": ("ABS", lambda tf, x, y: tf.abs(x)),
    "addition": ("ADD", lambda tf, x, y: x + y),
    "addition, activated": ("ADD", lambda tf, x, y: tf.nn.relu(x + y)),
    "addition of a number": ("ADD", lambda tf, x, y: x + 0.7),
    "addition of a vector": ("ADD", lambda tf, x, y: x + _SLOPES),
    "average pooling": ("AVERAGE_POOL_2D", lambda tf, x, y: tf.nn.avg_pool2d(x, 3, 2, "SAME")),
    "concatenation": ("CONCATENATION", lambda tf, x, y: tf.concat([x, y], 2)),
    "depth to space": ("DEPTH_TO_SPACE", lambda tf, x, y: tf.nn.depth_to_space(x, 2)),
    "depthwise": (
        "DEPTHWISE_CONV_2D",
        lambda tf, x, y: tf.nn.depthwise_conv2d(x, _weights(tf, _DEPTHWISE), [1, 1, 1, 1], "SAME"),
    ),
    "difference": ("SUB", lambda tf, x, y: x - y),
    "elu": ("ELU", lambda tf, x, y: tf.nn.elu(x)),
    "exponential": ("EXP", lambda tf, x, y: tf.exp(0.0 + x)),
    "gathering": ("GATHER", lambda tf, x, y: tf.gather(x, [0, 2, 2], axis=2)),
    "gelu": ("GELU", lambda tf, x, y: tf.nn.gelu(x)),
    "hard swish": ("HARD_SWISH", lambda tf, x, y: x * tf.nn.relu6(x + 3.0) * (1 / 6)),
    "leaky relu": ("LEAKY_RELU", lambda tf, x, y: tf.nn.leaky_relu(x, 0.2)),
    "maximum": ("MAXIMUM", lambda tf, x, y: tf.maximum(x, 0.25)),
    "maximum over an axis": ("REDUCE_MAX", lambda tf, x, y: tf.reduce_max(x, 2)),
    "max pooling": ("MAX_POOL_2D", lambda tf, x, y: tf.nn.max_pool2d(x, 2, 2, "VALID")),
    "mean": ("MEAN", lambda tf, x, y: tf.reduce_mean(x, [1, 2])),
    "mean, kept": ("MEAN", lambda tf, x, y: tf.reduce_mean(x, [1, 2], keepdims=True)),
    "mean over channels": ("MEAN", lambda tf, x, y: tf.reduce_mean(x, 3)),
    "mirrored padding": ("MIRROR_PAD", lambda tf, x, y: tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")),
    "nearest": ("RESIZE_NEAREST_NEIGHBOR", lambda tf, x, y: tf.image.resize(x, [12, 16], "nearest")),
    "bilinear": ("RESIZE_BILINEAR", lambda tf, x, y: tf.image.resize(x, [12, 16])),
    "padding": ("PAD", lambda tf, x, y: tf.pad(x, [[0, 0], [1, 2], [0, 1], [0, 0]])),
    "packing": ("PACK", lambda tf, x, y: tf.stack([x, x], 1)),
    "prelu": ("PRELU", lambda tf, x, y: tf.nn.relu(x) + -_SLOPES.reshape(1, 1, 4) * tf.nn.relu(-x)),
    "product": ("MUL", lambda tf, x, y: x * y),
    "product with a number": ("MUL", lambda tf, x, y: x * 0.7),
    "product with a vector": ("MUL", lambda tf, x, y: x * _SLOPES),
    "product of matrices": ("BATCH_MATMUL", lambda tf, x, y: tf.matmul(x, y, transpose_b=True)),
    "relu6": ("RELU6", lambda tf, x, y: tf.nn.relu6(x)),
    "reshape": ("RESHAPE", lambda tf, x, y: tf.reshape(x, [-1, 12, 16])),
    "reversal": ("REVERSE_V2", lambda tf, x, y: tf.reverse(x, [1])),
    "sigmoid": ("LOGISTIC", lambda tf, x, y: tf.sigmoid(x)),
    "slice": ("STRIDED_SLICE", lambda tf, x, y: x[:, 1:4, ::2]),
    "softmax": ("SOFTMAX", lambda tf, x, y: tf.nn.softmax(x)),
    "space to depth": ("SPACE_TO_DEPTH", lambda tf, x, y: tf.nn.space_to_depth(x, 2)),
    "squared difference": ("SQUARED_DIFFERENCE", lambda tf, x, y: tf.math.squared_difference(x, y)),
    "sum": ("SUM", lambda tf, x, y: tf.reduce_sum(x, 3)),
    "tanh": ("TANH", lambda tf, x, y: tf.tanh(x)),
    "tiling": ("TILE", lambda tf, x, y: tf.tile(x, [1, 2, 1, 1])),
    "transposition": ("TRANSPOSE", lambda tf, x, y: tf.transpose(x, [0, 2, 1, 3])),
    "transposed convolution": (
        "TRANSPOSE_CONV",
        lambda tf, x, y: tf.nn.conv2d_transpose(x, _weights(tf, _TRANSPOSED), [tf.shape(x)[0], 12, 16, 5], 2, "SAME"),
    ),
}


def between(tf: Any, name: str) -> Any:
    module = tf.Module()

    def serve(x: Any, y: Any) -> Any:
        x = tf.quantization.fake_quant_with_min_max_vars(x, -2.0, 2.1)
        y = tf.quantization.fake_quant_with_min_max_vars(y, -1.0, 3.0)
        return {"z": tf.quantization.fake_quant_with_min_max_vars(OPS[name][1](tf, x, y), -4.0, 5.0)}

    signature = [tf.TensorSpec((None, 6, 8, 4), tf.float32, name=name) for name in ("x", "y")]
    module.serve = tf.function(serve, input_signature=signature, autograph=False)
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("name", in_part(OPS, 4))
def test_result_is_within_a_step(tensorflow: TensorFlow, name: str) -> None:
    random = np.random.default_rng(5)
    inputs = [{key: random.normal(size=(batch, 6, 8, 4)).astype(np.float32) for key in ("x", "y")} for batch in (1, 3)]
    path = tensorflow.save(between, name)
    result = check(tensorflow, path, inputs, rtol=0, atol=1.01 * 9 / 255, quantize="qat")
    assert result.report.quantization is not None
    assert result.report.quantization.floats == ()
    op, _ = OPS[name]
    assert op in op_counts(result.model_bytes)
