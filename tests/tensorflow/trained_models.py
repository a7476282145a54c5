"""Models with fake-quantization nodes, as training for integers leaves them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Fake = Callable[..., Any]


def _weights(seed: int, *shape: int) -> Any:
    scale = (2 / np.prod(shape[:-1])) ** 0.5 if len(shape) > 1 else 0.1
    return (np.random.default_rng(seed).normal(size=shape) * scale).astype(np.float32)


def _bounds(weights: Any, per_channel: bool) -> Any:
    return np.abs(weights).max(axis=tuple(range(weights.ndim - 1)) if per_channel else None)


class _Layers:
    """Layers with fake quantization as tensorflow-model-optimization places it: of weights, and after activations."""

    def __init__(self, tf: Any, *, per_channel: bool = True, bits: int = 8, symmetric: bool = True) -> None:
        self.tf, self.per_channel, self.bits, self.symmetric = tf, per_channel, bits, symmetric
        self.variables: list[Any] = []
        self._seed = 0

    def variable(self, *shape: int) -> tuple[Any, Any]:
        self._seed += 1
        value = _weights(self._seed, *shape)
        self.variables.append(self.tf.Variable(value))
        return self.variables[-1], value

    def kernel(self, *shape: int) -> Any:
        variable, value = self.variable(*shape)
        bound = _bounds(value, self.per_channel)
        quantization = self.tf.quantization
        fake = (
            quantization.fake_quant_with_min_max_vars_per_channel
            if self.per_channel
            else quantization.fake_quant_with_min_max_vars
        )
        low = -bound if self.symmetric else -0.6 * bound
        return lambda: fake(variable, low, bound, num_bits=self.bits, narrow_range=self.symmetric)

    def batch_norm(self, channels: int) -> Any:
        gamma, beta, mean = (self.variable(channels)[0] for _ in range(3))
        gamma.assign(
            (1 + gamma) * np.where(np.arange(channels) % 3, 1, -1)
        )  # some negative, as training may leave them
        variance = self.variable(channels)[0]
        variance.assign(1 + abs(variance))
        compute = self.tf.compat.v1.nn.fused_batch_norm

        def normalized(x: Any) -> Any:
            return compute(x, gamma, beta, mean, variance, epsilon=1e-3, is_training=False)[0]

        return normalized

    def act(self, x: Any, low: float, high: float, **options: Any) -> Any:
        return self.tf.quantization.fake_quant_with_min_max_vars(x, low, high, **options)


def convolutions(tf: Any, activation_bits: int = 8, **options: Any) -> tuple[Any, Any]:
    layers = _Layers(tf, **options)
    first, second, last = layers.kernel(3, 3, 3, 8), layers.kernel(3, 3, 8, 16), layers.kernel(16, 10)
    biases = [layers.variable(size)[0] for size in (8, 16, 10)]
    bits = {"num_bits": activation_bits}

    def serve(x: Any) -> Any:
        x = layers.act(x, -2.0, 2.0)
        y = layers.act(tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, first(), 1, "SAME"), biases[0])), 0.0, 5.0, **bits)
        y = tf.nn.max_pool2d(y, 2, 2, "VALID")
        y = layers.act(tf.nn.relu6(tf.nn.bias_add(tf.nn.conv2d(y, second(), 2, "SAME"), biases[1])), 0.0, 6.0, **bits)
        y = layers.act(tf.reduce_mean(y, [1, 2]), 0.0, 4.0)
        return {"y": layers.act(tf.nn.bias_add(tf.matmul(y, last()), biases[2]), -4.0, 4.0)}

    return layers, serve


def residual(tf: Any, **options: Any) -> tuple[Any, Any]:
    """A block of MobileNetV2: expansion, depthwise, projection, each with batch normalization, and an addition."""
    layers = _Layers(tf, **options)
    stem, expand, project = layers.kernel(3, 3, 3, 8), layers.kernel(1, 1, 8, 24), layers.kernel(1, 1, 24, 8)
    norms = [layers.batch_norm(size) for size in (8, 24, 24, 8)]
    layers.per_channel = False  # a depthwise kernel's last axis is not that of its channels
    depthwise = layers.kernel(3, 3, 24, 1)

    def serve(x: Any) -> Any:
        x = layers.act(x, -2.0, 2.0)
        x = layers.act(tf.nn.relu6(norms[0](tf.nn.conv2d(x, stem(), 2, "SAME"))), 0.0, 6.0)
        y = layers.act(tf.nn.relu6(norms[1](tf.nn.conv2d(x, expand(), 1, "SAME"))), 0.0, 6.0)
        y = tf.nn.depthwise_conv2d(y, depthwise(), [1, 1, 1, 1], "SAME")
        y = layers.act(tf.nn.relu6(norms[2](y)), 0.0, 6.0)
        y = layers.act(norms[3](tf.nn.conv2d(y, project(), 1, "SAME")), -4.0, 4.0)
        return {"y": layers.act(x + y, -4.0, 8.0)}

    return layers, serve


def dense(tf: Any, **options: Any) -> tuple[Any, Any]:
    layers = _Layers(tf, **options)
    kernels = [layers.kernel(12, 32), layers.kernel(32, 32), layers.kernel(32, 5)]
    biases = [layers.variable(size)[0] for size in (32, 32, 5)]

    def serve(x: Any) -> Any:
        x = layers.act(x, -3.0, 3.0)
        for kernel, bias in zip(kernels[:2], biases[:2], strict=True):
            x = layers.act(tf.nn.relu(tf.matmul(x, kernel()) + bias), 0.0, 6.0)
        return {"y": layers.act(tf.matmul(x, kernels[2]()) + biases[2], -5.0, 5.0)}

    return layers, serve


def many_ops(tf: Any, **options: Any) -> tuple[Any, Any]:
    """Ops that keep scales, that rescale, and that have one of their own."""
    layers = _Layers(tf, **options)
    kernel, bias = layers.kernel(3, 3, 3, 8), layers.variable(8)[0]

    def serve(x: Any) -> Any:
        x = layers.act(x, -2.0, 2.0)
        y = layers.act(
            tf.nn.conv2d(tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]]), kernel(), 1, "VALID") + bias, -6.0, 6.0
        )
        a, b = tf.split(y, 2, axis=3)
        product = layers.act(a * b, -9.0, 9.0)
        joined = layers.act(tf.concat([product, a, x], axis=3), -8.0, 8.0)
        pooled = tf.nn.avg_pool2d(joined, 2, 2, "VALID")
        moved = tf.transpose(tf.reshape(pooled, [-1, 64, 11]), [0, 2, 1])[:, 1:]
        gate = layers.act(tf.nn.sigmoid(moved), 0.0, 1.0)
        return {"y": layers.act(tf.maximum(moved, 0.5) - gate, -8.0, 8.0)}

    return layers, serve


def kernels_of_other_shapes(tf: Any, **options: Any) -> tuple[Any, Any]:
    """A depthwise kernel with two outputs for each channel, one with its channels as last axis, and a matrix."""
    layers = _Layers(tf, **options)
    wide, matrix, norms = layers.kernel(9, 6), layers.kernel(6, 7), [layers.batch_norm(6), layers.batch_norm(7)]
    layers.per_channel = False
    twice = layers.kernel(3, 3, 3, 2)

    def serve(x: Any) -> Any:
        x = layers.act(x, -2.0, 2.0)
        y = layers.act(tf.nn.depthwise_conv2d(x, twice(), [1, 2, 2, 1], "SAME"), -8.0, 8.0)
        y = tf.nn.depthwise_conv2d(y, tf.reshape(wide(), [3, 3, 6, 1]), [1, 1, 1, 1], "SAME")
        y = layers.act(tf.nn.relu(norms[0](y)), 0.0, 6.0)
        return {"y": layers.act(tf.nn.relu6(tf.tensordot(y, matrix(), 1) + layers.variables[-1][0, 0, 0, 0]), 0.0, 6.0)}

    return layers, serve


def table(tf: Any, **options: Any) -> tuple[Any, Any]:
    """Rows of a rounded table, and a product of these."""
    layers = _Layers(tf, per_channel=False, **options)
    rows, matrix = layers.kernel(50, 8), layers.kernel(8, 4)

    def serve(x: Any) -> Any:
        ids = tf.cast(tf.clip_by_value(tf.abs(x) * 9.0, 0.0, 49.0), tf.int32)
        return {"y": layers.act(tf.tensordot(tf.gather(rows(), ids), matrix(), 1), -4.0, 4.0)}

    return layers, serve


def normalized_dense(tf: Any, **options: Any) -> tuple[Any, Any]:
    """Batch normalization after a matrix, and a factor after another and after a convolution, which is of one step."""
    layers = _Layers(tf, **options)
    first, second, norm = layers.kernel(12, 16), layers.kernel(16, 6), layers.batch_norm(16)
    layers.per_channel = False
    kernel, bias = layers.kernel(3, 3, 1, 2), layers.variable(6)[0]

    def serve(x: Any) -> Any:
        x = layers.act(x, -3.0, 3.0)
        y = tf.nn.depthwise_conv2d(tf.reshape(x, [-1, 3, 4, 1]), kernel(), [1, 1, 1, 1], "SAME")
        y = layers.act(tf.reshape(y * [0.5, -1.5] - [0.1, 0.2], [-1, 24])[:, :12], -3.0, 3.0)
        y = layers.act(tf.nn.relu(norm(tf.reshape(tf.matmul(y, first()), [-1, 1, 1, 16]))), 0.0, 6.0)
        return {"y": layers.act((tf.matmul(tf.reshape(y, [-1, 16]), second()) + bias) * 0.7, -5.0, 5.0)}

    return layers, serve


MODELS: Mapping[str, Callable[[Any], tuple[Any, Any]]] = {
    "convolutions": convolutions,
    "convolutions per tensor": lambda tf: convolutions(tf, per_channel=False),
    "convolutions, 4 bits": lambda tf: convolutions(tf, bits=4),
    "convolutions, 4 bits throughout": lambda tf: convolutions(tf, bits=4, activation_bits=4),
    "convolutions, 3 and 6 bits": lambda tf: convolutions(tf, bits=3, activation_bits=6, symmetric=False),
    "convolutions, narrow throughout": lambda tf: convolutions(tf, per_channel=False, activation_bits=5),
    "residual": residual,
    "residual per tensor": lambda tf: residual(tf, per_channel=False),
    "dense": dense,
    "dense per tensor": lambda tf: dense(tf, per_channel=False),
    "dense, 4 bits": lambda tf: dense(tf, per_channel=False, bits=4),
    "dense, 5 bits": lambda tf: dense(tf, bits=5),
    "kernels of other shapes": kernels_of_other_shapes,
    "dense, normalized": normalized_dense,
    "dense table": table,
    "many ops": many_ops,
}

INPUTS: Mapping[str, tuple[int, ...]] = {name: (12,) if "dense" in name else (16, 16, 3) for name in MODELS}


def build(tf: Any, name: str) -> tuple[Any, Any]:
    layers, serve = MODELS[name](tf)
    module = tf.Module()
    module.variables_of_layers = layers.variables
    signature = [tf.TensorSpec((None, *INPUTS[name]), tf.float32, name="x")]
    module.serve = tf.function(serve, input_signature=signature, autograph=False)
    return module, {"serving_default": module.serve}
