"""Multiplications by weights that are zero, with an open batch: the engine would fold them into nonsense."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.tensorflow.checking import check, normal
from tests.tensorflow.process import TensorFlow


def times(tf: Any, factor: Any) -> Any:
    module = tf.Module()
    module.factor = tf.Variable(factor)

    @tf.function(input_signature=[tf.TensorSpec([None, 3], module.factor.dtype, name="x")])
    def serve(x: Any) -> Any:
        return {"y": x * module.factor, "z": module.factor * x + 1}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("shape", [(), (1,), (3,), (1, 3), (1, 1)])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_product_with_zero(tensorflow: TensorFlow, shape: tuple[int, ...], dtype: str) -> None:
    path = tensorflow.save(times, np.zeros(shape, dtype))
    inputs = [{"x": np.arange(3 * batch).reshape(batch, 3).astype(dtype)} for batch in (1, 3, 2)]
    check(tensorflow, path, inputs)


def zero_scales(tf: Any) -> Any:
    layers = tf.keras.layers
    x = image = tf.keras.Input([8, 8, 3], name="image")
    x = layers.Conv2D(3, 3, padding="same", bias_initializer="normal")(x)
    x = image + layers.BatchNormalization(gamma_initializer="zeros", beta_initializer="normal")(x)
    x = x + layers.BatchNormalization(gamma_initializer="zeros", beta_initializer="normal")(tf.keras.ops.tanh(x))
    x = x + layers.LayerNormalization(gamma_initializer="zeros", beta_initializer="normal")(x)
    return tf.keras.Model(image, x)


def test_normalizations_that_start_with_zero_scales(tensorflow: TensorFlow) -> None:
    check(tensorflow, tensorflow.save(zero_scales), normal({"image": (None, 8, 8, 3)}))


def infinite(tf: Any) -> Any:
    module = tf.Module()

    @tf.function(
        input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x"), tf.TensorSpec([3], tf.float32, name="v")]
    )
    def serve(x: Any, v: Any) -> Any:
        return {"open": x * 0, "static": 0.0 * v}

    module.serve = serve
    return module, {"serving_default": serve}


def test_zero_times_infinity(tensorflow: TensorFlow) -> None:
    values = np.array([1, np.inf, np.nan], np.float32)
    check(tensorflow, tensorflow.save(infinite), {"x": np.stack([values, values]), "v": values})


def zero_terms(tf: Any, dtype: str) -> Any:
    module = tf.Module()
    spec = tf.TensorSpec([None, None], dtype)

    @tf.function(input_signature=[spec, spec], autograph=False)
    def serve(x: Any, y: Any) -> Any:
        zeros = tf.zeros_like(y)
        return {"first": zeros + x, "second": x + zeros, "less": x - zeros, "own": x + tf.zeros_like(x)}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("dtype", ["float32", "int32", "float16"])
def test_zeros_that_broadcast(tensorflow: TensorFlow, dtype: str) -> None:
    random = np.random.default_rng(1)
    inputs = [
        {name: random.normal(0, 5, shape).astype(dtype) for name, shape in zip("xy", shapes, strict=True)}
        for shapes in [((1, 4), (3, 4)), ((3, 4), (3, 4)), ((2, 1), (2, 5)), ((2, 5), (1, 1))]
    ]
    check(tensorflow, tensorflow.save(zero_terms, dtype), inputs, rtol=1e-3 if dtype == "float16" else 1e-5)


def zero_beside_a_weight(tf: Any) -> Any:
    """A weight that is rearranged, after which the engine optimizes once more."""
    module = tf.Module()
    module.weight = tf.Variable(np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32) / 8)
    specs = [tf.TensorSpec([None, None, 64], tf.float32, name="x"), tf.TensorSpec([None, 3], tf.int32, name="n")]

    @tf.function(input_signature=specs)
    def serve(x: Any, n: Any) -> Any:
        heads = tf.reshape(x @ module.weight, [tf.shape(x)[0], tf.shape(x)[1], 4, 16])
        return {
            "y": tf.transpose(heads, [0, 2, 1, 3]),
            "dense": tf.einsum("bld,de->ble", x, module.weight),
            "filled": tf.ones([tf.shape(n)[0], 6], tf.int32) * 0,
            "zero": n * 0,
        }

    module.serve = serve
    return module, {"serving_default": serve}


def test_zero_beside_a_weight(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(1)
    inputs = [
        {"x": random.standard_normal((batch, length, 64)).astype(np.float32), "n": np.ones((batch, 3), np.int32)}
        for batch, length in ((1, 4), (3, 2), (2, 1))
    ]
    check(tensorflow, tensorflow.save(zero_beside_a_weight), inputs)
