"""Whole image models: no other ops than the stock converter's, the same numbers as TensorFlow's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.in_part import in_part
from tests.tensorflow.checking import check, op_histogram, run_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow

SIZES = {
    "MobileNetV2": 96,
    "ResNet50": 96,
    "MobileNetV3Small": 96,
    "EfficientNetB0": 96,
}
# ResNet50's 50 layers in sequence let rounding errors grow: with AVX-512, TensorFlow's own float32 scores are up to
# 1.2e-5 from its float64 ones, and so are the converted model's, with errors of their own.
TOLERANCES = {"ResNet50": 2.5e-5}


def images(count: int, size: int, *, seed: int) -> npt.NDArray[Any]:
    """Images of shape ``(count, size, size, 3)``, float32 from 0 to 255, whose colors and structure differ."""
    random = np.random.default_rng(seed)
    position = np.linspace(0, 2 * np.pi, size)
    rows, columns = position[:, None, None], position[None, :, None]
    frequency, phase = random.uniform(0.5, 6, [2, count, 1, 1, 3]), random.uniform(0, 6, [2, count, 1, 1, 3])
    waves = np.sin(rows * frequency[0] + phase[0]) * np.sin(columns * frequency[1] + phase[1])
    colors = random.uniform(0, 1, [count, 1, 1, 3])
    noise = random.normal(0, 0.05, [count, size, size, 3])
    return np.clip(255 * (colors + 0.4 * waves + noise), 0, 255).astype(np.float32)


def application(tf: Any, name: str, size: int) -> Any:
    """A model of ``tf.keras.applications`` with random weights whose scores depend on the image.

    Untrained, most of these models answer the same whatever they see, which would hide any mistake of a converter. So
    batch normalization gets the statistics of some images; then everything that starts as 0 or 1 is made random.

    The number of images and the range of gamma keep rounding errors from growing: with gamma around 1 and 8 images they
    are several times larger, and the tolerance would measure the arithmetic, not the conversion.
    """
    model = getattr(tf.keras.applications, name)(weights=None, input_shape=(size, size, 3), classes=10)
    settle(tf.keras, model.layers, lambda: model(images(32, size, seed=9), training=True))
    return model


def settle(keras: Any, layers: Sequence[Any], train: Callable[[], Any]) -> None:
    """Makes what begins as zeros and ones random, and gives batch normalization the statistics of a call."""
    random = np.random.default_rng(8)
    normalizations = [each for each in layers if isinstance(each, keras.layers.BatchNormalization)]
    for layer in layers:
        if getattr(layer, "bias", None) is not None:
            layer.bias.assign(random.normal(0, 0.2, layer.bias.shape))
    for layer in normalizations:
        layer.momentum = 0.0
        if layer.scale:
            layer.gamma.assign(random.uniform(0.4, 0.8, layer.gamma.shape))
        if layer.center:
            layer.beta.assign(random.normal(0, 0.2, layer.beta.shape))
    if normalizations:
        train()
    for layer in normalizations:
        mean, variance = layer.moving_mean.numpy(), layer.moving_variance.numpy()
        layer.moving_mean.assign(mean + random.normal(0, 0.1, mean.shape) * np.sqrt(variance))
        layer.moving_variance.assign(variance * random.uniform(0.8, 1.25, variance.shape))


@pytest.mark.parametrize("name", in_part(SIZES, 4))
def test_application(tensorflow: TensorFlow, name: str) -> None:
    size = SIZES[name]
    path = tensorflow.save(application, name, size)
    (input_name,) = tensorflow.call(input_names, str(path))
    inputs = [{input_name: images(batch, size, seed=batch)} for batch in (1, 3, 1)]
    result = check(tensorflow, path, inputs, rtol=TOLERANCES.get(name, 1e-5))
    (scores,) = run_calls(result.model_bytes, [("serving_default", inputs[1])])[0].values()
    assert scores.shape == (3, 10)
    # The scores depend on the image by a hundred times the tolerance and more, or a wrong model could pass.
    assert scores.std(axis=0).max() > 1e-3
    stock = tensorflow.stock_convert(path)
    assert isinstance(stock, bytes), stock
    ours, theirs = op_histogram(result.model_bytes), op_histogram(stock)
    assert ours <= theirs
    # The stock converter computes in the model how large the batch is, where it only has to be kept.
    assert {op for _, op in theirs - ours} <= {"PACK", "RESHAPE", "SHAPE", "STRIDED_SLICE"}


def input_names(tf: Any, path: str) -> list[str]:
    return list(tf.saved_model.load(path).signatures["serving_default"].structured_input_signature[1])
