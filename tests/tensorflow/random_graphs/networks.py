# pyright: reportUnknownLambdaType=false
"""Steps of neural networks: products, convolutions, pooling, normalizations."""

from __future__ import annotations

from typing import Any

from tests.tensorflow.random_graphs.graph import Graph, NoStep, step


def _finished(g: Graph, y: Any) -> Any:
    """What follows a product: a bias, a factor, an activation, or nothing."""
    tf, size = g.tf, y.shape[-1]
    return g.pick(
        [
            lambda: y,
            lambda: y + g.constant([size]),
            lambda: tf.nn.bias_add(y, g.constant([size])),
            lambda: y * g.constant([size]),
            lambda: y * g.constant([1]),
            lambda: tf.nn.relu(y * g.constant([size]) + g.constant([size])),
            lambda: tf.nn.relu6(y - g.constant([size])),
            lambda: tf.tanh(y + g.constant([1] * y.shape.rank)),
        ]
    )()


@step(ranks=range(2, 6))
def dense(g: Graph, x: Any) -> Any:
    """A product with a matrix."""
    tf, size = g.tf, x.shape[-1]
    if not size:
        raise NoStep
    units = g.number(1, 6)
    product = g.pick(
        [
            lambda: tf.matmul(x, g.constant([size, units])),
            lambda: tf.matmul(x, g.constant([units, size]), transpose_b=True),
            lambda: tf.tensordot(x, g.constant([size, units]), 1),
            lambda: tf.einsum("...i,ij->...j", x, g.constant([size, units])),
        ]
    )()
    return _finished(g, product)


@step(ranks=range(2, 5), resizes=True)
def attended(g: Graph, x: Any) -> Any:
    """Products with itself and with others."""
    tf = g.tf
    if not x.shape[-1] or not x.shape[-2]:
        raise NoStep
    scores = tf.matmul(x, tf.tanh(x), transpose_b=True)
    return g.pick(
        [lambda: scores, lambda: tf.matmul(tf.nn.softmax(scores), x), lambda: tf.matmul(x, x, transpose_a=True)]
    )()


@step(ranks=(3,), resizes=True)
def einsum(g: Graph, x: Any) -> Any:
    """An einsum of two values."""
    equation = g.pick(["abc,abd->acd", "abc,adc->abd", "abc,abc->ac", "abc,adc->abcd", "abc,abc->b"])
    return g.tf.einsum(equation, x, g.tf.nn.relu(x))


@step(ranks=(4,), sized=True)
def convolution(g: Graph, x: Any) -> Any:
    """A convolution of images: with strides or dilations, in groups, of each channel."""
    tf = g.tf
    height, width, channels = x.shape.as_list()[1:]
    if 0 in (height, width, channels):
        raise NoStep
    window = [g.number(1, min(3, height)), g.number(1, min(3, width))]
    stride = g.number(1, 2)
    dilation = g.number(1, 2) if stride == 1 and min(height, width) > 6 else 1
    padding = g.pick(["SAME", "VALID"])
    groups = g.pick([each for each in (1, 1, 2, channels) if channels % each == 0])
    filters = groups * g.number(1, 3)
    return _finished(
        g,
        g.pick(
            [
                lambda: tf.nn.conv2d(x, g.constant([*window, channels, filters]), stride, padding, dilations=dilation),
                lambda: tf.nn.conv2d(x, g.constant([*window, channels // groups, filters]), stride, padding),
                lambda: tf.nn.depthwise_conv2d(
                    x, g.constant([*window, channels, g.number(1, 2)]), [1, stride, stride, 1], padding
                ),
            ]
        )(),
    )


@step(ranks=(4,), sized=True)
def transposed_convolution(g: Graph, x: Any) -> Any:
    """A transposed convolution of images."""
    tf, filters = g.tf, g.number(1, 3)
    height, width, channels = x.shape.as_list()[1:]
    if 0 in (height, width, channels):
        raise NoStep
    shape = [tf.shape(x)[0], height * 2, width * 2, filters]
    return _finished(g, tf.nn.conv2d_transpose(x, g.constant([2, 2, filters, channels]), shape, 2))


@step(ranks=(3,), sized=True)
def convolution_of_sequence(g: Graph, x: Any) -> Any:
    """A convolution along one axis."""
    time, features = x.shape.as_list()[1:]
    if 0 in (time, features):
        raise NoStep
    window = g.number(1, min(3, time))
    return _finished(g, g.tf.nn.conv1d(x, g.constant([window, features, 3]), 1, g.pick(["SAME", "VALID"])))


@step(ranks=(5,), sized=True)
def convolution_of_volume(g: Graph, x: Any) -> Any:
    """A convolution of volumes."""
    *sizes, channels = x.shape.as_list()[1:]
    if 0 in (*sizes, channels):
        raise NoStep
    window = [g.number(1, min(2, size)) for size in sizes]
    stride = g.number(1, 2)
    weights = g.constant([*window, channels, g.number(1, 3)])
    return _finished(g, g.tf.nn.conv3d(x, weights, [1, stride, stride, stride, 1], g.pick(["SAME", "VALID"])))


@step(ranks=(4,), sized=True)
def pooled(g: Graph, x: Any) -> Any:
    """The largest or the mean of windows."""
    height, width = x.shape.as_list()[1:3]
    if 0 in (height, width):
        raise NoStep
    pool = g.pick([g.tf.nn.max_pool2d, g.tf.nn.avg_pool2d])
    return pool(x, [min(2, height), min(2, width)], g.number(1, 2), g.pick(["SAME", "VALID"]))


@step(ranks=(4,), sized=True)
def resized(g: Graph, x: Any) -> Any:
    """Images of another size."""
    if 0 in x.shape.as_list()[1:]:
        raise NoStep
    return g.tf.image.resize(x, [g.number(1, 7), g.number(1, 7)], "bilinear")


@step(ranks=(4,), sized=True)
def blocks(g: Graph, x: Any) -> Any:
    """Blocks of a picture as channels, or the other way round."""
    nn = g.tf.nn
    height, width, channels = x.shape.as_list()[1:]
    if channels % 4 == 0 and channels and g.chance(0.5):
        return nn.depth_to_space(x, 2)
    if height % 2 or width % 2 or 0 in (height, width, channels):
        raise NoStep
    return nn.space_to_depth(x, 2)


@step(ranks=(4,), sized=True)
def batch_normalized(g: Graph, x: Any) -> Any:
    """A batch normalization, as one op or in parts."""
    tf, channels = g.tf, x.shape[-1]
    if not channels:
        raise NoStep
    scale, offset, mean = g.constant([channels]), g.constant([channels]), g.constant([channels])
    variance = tf.constant(g.random.uniform(0.5, 2, channels).astype("float32"))
    if g.chance(0.5):
        return tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)
    fused = tf.compat.v1.nn.fused_batch_norm
    return fused(x, scale, offset, mean, variance, is_training=False)[0]


@step(ranks=range(2, 6))
def layer_normalized(g: Graph, x: Any) -> Any:
    """A layer normalization in parts."""
    tf, size = g.tf, x.shape[-1]
    if not size:
        raise NoStep
    mean = tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_mean(tf.math.squared_difference(x, mean), -1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-2) * g.constant([size]) + g.constant([size])
