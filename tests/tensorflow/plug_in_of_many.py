# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
"""A plug-in as an author of models writes it: many fusions, a few lines each, in one model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

import litefuse
from litefuse.fusions.lstm import LstmWeights, lstm_layer, split_gates
from litefuse.fusions.recognizers.pattern import concat, op, rsqrt, square
from tests.tensorflow.saved_models import serving

if TYPE_CHECKING:
    pass

_RANDOM = np.random.default_rng(14)


@litefuse.fusion("many.lingvo_lstm")
def lingvo_lstm(b: Any, x: Annotated[Any, "float32[?,?,?]"], weights: Any, bias: Any, *, cell_clip: float) -> Any:
    inputs, units = x.shape[2], bias.shape[0] // 4
    kernel, recurrent = (split_gates(b, part, "icfo", 1) for part in b.split_v(weights, [inputs, units], 0))
    h, c = (b.zeros(x, 0, [units]) for _ in range(2))
    return lstm_layer(b, x, LstmWeights(kernel, recurrent, split_gates(b, bias, "icfo")), h, c, cell_clip=cell_clip)


def proper_boxes(composite: Any, size: int, random: np.random.Generator) -> Any:
    n = composite.arg_types[0].shape[0] or 4 * size
    anchors = [random.uniform(3, 4, (n, 2)), random.uniform(0.1, 0.3, (n, 2))]
    return random.normal(size=(n, 4)), random.uniform(size=n), np.concatenate(anchors, 1)


@litefuse.fusion("many.ssd", open_results=[(0, 2), (1, 2)], check_inputs=proper_boxes)
def ssd(b: Any, encodings: Any, scores: Any, anchors: Any, *, max_detections: int, iou: float, score: float) -> Any:
    (yx, hw), (centers, sizes) = b.split(1, encodings, num_splits=2), b.split(1, anchors, num_splits=2)
    yx, hw = yx / 10 * sizes + centers, b.exp(hw / 5) * sizes
    boxes = b.concatenation([yx - hw / 2, yx + hw / 2], 1)
    indices, count = b.non_max_suppression(boxes, scores, max_detections, iou, score)
    return b.gather(boxes, indices), b.gather(scores, indices), count


def rotated(x: Any, cos: Any, sin: Any, *, h: Any) -> Any:
    return x * cos + concat([-x[..., h:], x[..., :h]]) * sin


@litefuse.fusion("many.rope", pattern=rotated)
def rope(b: Any, x: Any, cos: Any, sin: Any, *, h: int) -> Any:
    return b.composite("many.rope", [x, cos, sin], attributes={"half": h})


def normalized(x: Any, gamma: Any, *, epsilon: Any) -> Any:
    return x * rsqrt(op("Mean", square(x), -1, keep_dims=True) + epsilon) * gamma


@litefuse.fusion("many.rms_norm", pattern=normalized)
def rms_norm(b: Any, x: Any, gamma: Any, *, epsilon: float) -> Any:
    return b.composite("many.rms_norm", [x, gamma], attributes={"epsilon": epsilon})


@litefuse.fusion("many.gelu")
def gelu(b: Any, x: Annotated[Any, "float32"], *, scale: float = 1.0, approximate: bool = False) -> Any:
    return b.gelu(x, approximate=approximate) * scale


@litefuse.fusion("many.quick_gelu")
def quick_gelu(b: Any, x: Annotated[Any, "float32"]) -> Any:
    return x * b.logistic(1.702 * x)


@litefuse.fusion("many.geglu")
def geglu(b: Any, x: Annotated[Any, "float32"]) -> Any:
    value, gate = b.split(-1, x, num_splits=2)
    return value * b.gelu(gate)


@litefuse.fusion("many.conv", "many.convolution")
def conv_bn(b: Any, x: Any, filters: Any, *moments: Any, epsilon: float, stride: int = 1) -> Any:
    gamma, beta, mean, variance = moments
    scale = gamma * b.rsqrt(variance + epsilon)
    return b.conv_2d(x, b.transpose(filters * scale, (3, 0, 1, 2)), beta - mean * scale, strides=stride)


@litefuse.fusion("many.hash")
def hashed(b: Any, ids: Annotated[Any, "int32"], *, buckets: int) -> Any:
    return b.floor_mod(ids * 31 + 7, buckets)


@litefuse.fusion("many.rnn")
def rnn(b: Any, x: Any, h: Any, kernel: Any, recurrent: Any, bias: Any) -> Any:
    weights = (b.transpose(kernel, (1, 0)), b.transpose(recurrent, (1, 0)), bias)
    outputs = b.unidirectional_sequence_rnn(x, *weights, b.state(h))
    return outputs, b.last(outputs, 1)


def model(tf: Any) -> Any:
    def numbers(*shape: int) -> Any:
        return tf.constant(np.random.default_rng(shape).normal(0, 0.5, shape).astype(np.float32))

    def marked(name: str, **attributes: Any) -> Any:
        return tf.function(experimental_implements=litefuse.annotation(f"many.{name}", **attributes), autograph=False)

    @marked("lingvo_lstm", cell_clip=0.2)
    def lstm_of(x: Any, weights: Any, bias: Any) -> Any:
        m = c = tf.zeros([tf.shape(x)[0], 4])
        outputs = []
        for step in tf.unstack(x, axis=1):
            i, g, f, o = tf.split(tf.concat([step, m], 1) @ weights + bias, 4, axis=1)
            c = tf.clip_by_value(tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g), -0.2, 0.2)
            m = tf.sigmoid(o) * tf.tanh(c)
            outputs.append(m)
        return tf.stack(outputs, 1), m, c

    @marked("ssd", max_detections=10, iou=0.5, score=0.3)
    def ssd_of(encodings: Any, scores: Any, anchors: Any) -> Any:
        yx = encodings[:, :2] / 10 * anchors[:, 2:] + anchors[:, :2]
        hw = tf.exp(encodings[:, 2:] / 5) * anchors[:, 2:]
        boxes = tf.concat([yx - hw / 2, yx + hw / 2], 1)
        index, count = tf.image.non_max_suppression_padded(boxes, scores, 10, 0.5, 0.3, pad_to_max_output_size=True)
        return tf.gather(boxes, index), tf.gather(scores, index), count

    @marked("rnn")
    def rnn_of(x: Any, h: Any, kernel: Any, recurrent: Any, bias: Any) -> Any:
        outputs = []
        for step in tf.unstack(x, axis=1):
            h = tf.tanh(step @ kernel + h @ recurrent + bias)
            outputs.append(h)
        return tf.stack(outputs, 1), h

    @marked("convolution", epsilon=1e-3, stride=2)
    def conv_of(x: Any, filters: Any, gamma: Any, beta: Any, mean: Any, variance: Any) -> Any:
        return tf.nn.batch_normalization(tf.nn.conv2d(x, filters, 2, "SAME"), mean, variance, beta, gamma, 1e-3)

    @marked("geglu")
    def geglu_of(x: Any) -> Any:
        value, gate = tf.split(x, 2, -1)
        return value * tf.nn.gelu(gate)

    def serve(x: Any, ids: Any, encodings: Any, scores: Any) -> Any:
        row, cos, sin = x[:, 0], numbers(6, 8), numbers(8, 6)
        y, m, c = lstm_of(x, numbers(12, 16), numbers(16))
        outputs, last = rnn_of(x, row[:, :4], numbers(8, 4), numbers(4, 4), numbers(4))
        centers = tf.constant(np.random.default_rng(0).uniform(3, 4, (40, 2)).astype(np.float32))
        boxes, best, count = ssd_of(encodings, scores, tf.concat([centers, 0.2 * tf.ones([40, 2])], 1))
        moments = [numbers(4), numbers(4), numbers(4), tf.abs(numbers(4)) + 0.5]
        results = (y, m, c, outputs, last, boxes, best, count)
        results += (
            x * cos + tf.concat([-x[..., 4:], x[..., :4]], -1) * tf.transpose(sin),
            row * tf.math.rsqrt(tf.reduce_mean(tf.square(row), -1, keepdims=True) + 1e-5) * numbers(8),
            marked("gelu")(lambda x: 0.5 * x * (1 + tf.math.erf(x / 2**0.5)))(row),
            marked("gelu", approximate=True)(lambda x: tf.nn.gelu(x, True))(row + 1),
            marked("gelu", scale=2.0)(lambda x: 2.0 * tf.nn.gelu(x))(row - 1),
            marked("quick_gelu")(lambda x: x * tf.sigmoid(1.702 * x))(row),
            geglu_of(row),
            conv_of(x[:, :, :, None], numbers(3, 3, 1, 4), *moments),
            marked("hash", buckets=1000)(lambda ids: tf.math.floormod(ids * 31 + 7, 1000))(ids),
        )
        return {f"y{index}": result for index, result in enumerate(results)}

    sizes: dict[str, list[int | None]] = {"x": [None, 6, 8], "ids": [None, 3], "encodings": [40, 4], "scores": [40]}
    return serving(tf, serve, *((name, size, "int32" if name == "ids" else "float32") for name, size in sizes.items()))


def case(batch: int) -> dict[str, Any]:
    real = {"x": (batch, 6, 8), "encodings": (40, 4)}
    ids = _RANDOM.integers(-99, 99, (batch, 3), np.int32)
    normal = {name: _RANDOM.normal(size=size).astype(np.float32) for name, size in real.items()}
    return {"ids": ids, "scores": _RANDOM.uniform(size=40).astype(np.float32), **normal}
