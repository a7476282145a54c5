"""Images of open sizes, resized by every method of ``tf.image.resize`` and of Keras's layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.tensorflow.process import TensorFlow

METHODS = ["area", "bicubic", "bilinear", "gaussian", "lanczos3", "lanczos5", "mitchellcubic", "nearest"]

_SIZES: dict[str, Callable[[Any, Any], Any]] = {
    "fixed": lambda tf, x: [7, 12],
    "twice": lambda tf, x: 2 * tf.shape(x)[-3:-1],
    "half": lambda tf, x: (tf.shape(x)[-3:-1] + 1) // 2,
}


def resized(tf: Any, method: str, size: str, antialias: bool, dtype: str, batched: bool) -> Any:
    result = tf.Module()

    def serve(x: Any) -> dict[str, Any]:
        return {"y": tf.image.resize(x, _SIZES[size](tf, x), method, antialias=antialias)}

    shape = [None, None, None, 3] if batched else [None, None, 3]
    result.serve = tf.function(serve, input_signature=[tf.TensorSpec(shape, dtype, name="x")], autograph=False)
    return result, {"serving_default": result.serve}


def _images(dtype: str, batched: bool) -> list[dict[str, Any]]:
    random = np.random.default_rng(0)
    shapes = [(2, 9, 14, 3), (1, 21, 5, 3), (3, 1, 7, 3)]
    return [{"x": random.uniform(0, 255, shape if batched else shape[1:]).astype(dtype)} for shape in shapes]


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("size", _SIZES)
@pytest.mark.parametrize("method", METHODS)
def test_image_resize(tensorflow: TensorFlow, method: str, size: str, antialias: bool) -> None:
    dtype, batched = ("uint8", False) if size == "half" else ("float32", True)
    folder = tensorflow.save(resized, method, size, antialias, dtype, batched)
    check(tensorflow, folder, _images(dtype, batched))


def padded(tf: Any, method: str, antialias: bool) -> Any:
    result = tf.Module()

    def serve(x: Any) -> dict[str, Any]:
        return {
            "padded": tf.image.resize_with_pad(x, 11, 8, method, antialias),
            "kept": tf.image.resize(x, [11, 8], method, preserve_aspect_ratio=True, antialias=antialias),
        }

    specification = tf.TensorSpec([None, None, None, 3], tf.float32, name="x")
    result.serve = tf.function(serve, input_signature=[specification], autograph=False)
    return result, {"serving_default": result.serve}


@pytest.mark.parametrize(("method", "antialias"), [("bicubic", False), ("bilinear", True), ("area", False)])
def test_aspect_ratios(tensorflow: TensorFlow, method: str, antialias: bool) -> None:
    check(tensorflow, tensorflow.save(padded, method, antialias), _images("float32", True))


def layer(tf: Any, options: dict[str, Any]) -> Any:
    import keras  # pyright: ignore[reportMissingTypeStubs]

    model = keras.Sequential([keras.Input((None, None, 3), name="x"), keras.layers.Resizing(8, 6, **options)])
    result = tf.Module()
    result.model = model

    def serve(x: Any) -> dict[str, Any]:
        return {"y": model(x)}

    specification = tf.TensorSpec([None, None, None, 3], tf.float32, name="x")
    result.serve = tf.function(serve, input_signature=[specification], autograph=False)
    return result, {"serving_default": result.serve}


@pytest.mark.parametrize(
    "options",
    [
        {"interpolation": "bicubic"},
        {"interpolation": "lanczos3", "antialias": True},
        {"interpolation": "bicubic", "pad_to_aspect_ratio": True},
        {"interpolation": "bilinear", "antialias": True, "crop_to_aspect_ratio": True},
    ],
    ids=str,
)
def test_keras_layer(tensorflow: TensorFlow, options: dict[str, Any]) -> None:
    check(tensorflow, tensorflow.save(layer, options), _images("float32", True))
