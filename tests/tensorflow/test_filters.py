"""Filters of convolutions that the model makes of constants: XNNPACK takes convolutions with constant filters only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import litefuse
from tests.tensorflow.checking import check, normal, op_counts, run_calls
from tests.tensorflow.process import TensorFlow


def conv_lstm(tf: Any, filters: int, steps: int | None) -> Any:
    keras = tf.keras
    layer = keras.layers.ConvLSTM2D(filters, 3, padding="same", return_sequences=True)
    model = keras.Sequential([keras.Input((steps, 6, 7, 3)), layer, keras.layers.ConvLSTM2D(2, (1, 2))])
    random = np.random.default_rng(3)
    for weight in model.weights:
        weight.assign(random.normal(0, 0.3, weight.shape))
    module = tf.Module()
    module.model = model

    @tf.function(input_signature=[tf.TensorSpec([None, steps, 6, 7, 3], tf.float32, name="x")], autograph=False)
    def serve(x: Any) -> Any:
        return {"y": model(x)}

    module.serve = serve
    return module, {"serving_default": serve}


# Of 4 filters the kernels are in the module, of 30 they stay mapped.
@pytest.mark.parametrize("filters", [4, 30])
@pytest.mark.parametrize("steps", [4, None])
def test_gates_of_convolutional_lstms(tensorflow: TensorFlow, filters: int, steps: int | None) -> None:
    path = tensorflow.save(conv_lstm, filters, steps)
    inputs = [
        {"x": np.random.default_rng(batch).normal(size=(batch, steps or length, 6, 7, 3)).astype(np.float32)}
        for batch, length in ((1, 3), (3, 5), (2, 2))
    ]
    result = check(tensorflow, path, inputs)
    counts = op_counts(result.model_bytes)
    assert counts["CONV_2D"] == 16
    assert counts["SPLIT"] == 0


def windows(tf: Any, size: Any, strides: Any, dilation: int, padding: str, shape: Any) -> Any:
    keras = tf.keras
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec(shape, tf.float32, name="x")], autograph=False)
    def serve(x: Any) -> Any:
        return {"y": keras.ops.image.extract_patches(x, size, strides, dilation, padding)}

    module.serve = serve
    return module, {"serving_default": serve}


WINDOWS = [
    pytest.param((4, 4), None, 1, "valid", (None, 8, 12, 3), True, id="tiles"),
    pytest.param((3, 3), None, 1, "valid", (None, 8, 11, 2), True, id="cropped tiles"),
    pytest.param((4, 4), None, 1, "same", (2, 8, 12, 3), True, id="tiles of a known batch"),
    pytest.param((3, 3), None, 1, "same", (None, 8, 11, 2), True, id="padded tiles"),
    pytest.param((2, 3), None, 1, "valid", (None, 8, 12, 3), False, id="oblong tiles"),
    pytest.param((3, 2), (1, 2), 1, "same", (None, 7, 9, 2), False, id="overlapping"),
    pytest.param((2, 2), 1, 2, "valid", (None, 7, 9, 2), False, id="dilated"),
    pytest.param((4, 4), None, 1, "valid", (None, None, None, 3), False, id="of open size"),
]


@pytest.mark.parametrize(("size", "strides", "dilation", "padding", "shape", "tiles"), WINDOWS)
def test_windows_taken_by_convolutions(
    tensorflow: TensorFlow, size: Any, strides: Any, dilation: int, padding: str, shape: Any, tiles: bool
) -> None:
    path = tensorflow.save(windows, size, strides, dilation, padding, shape)
    sets = normal({"x": tuple(9 if each is None and axis else each for axis, each in enumerate(shape))})
    if shape[0] is not None:
        sets = normal({"x": shape}, batches=(2,))
    result = check(tensorflow, path, sets, rtol=0.0)
    counts = op_counts(result.model_bytes)
    assert counts["STABLEHLO_COMPOSITE"] == 1
    assert counts["CONV_2D"] == 0
    assert counts["SPACE_TO_DEPTH"] == tiles


def scaled(tf: Any, factor: float) -> Any:
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([None, 6, 7, 3], tf.float32, name="x")], autograph=False)
    def serve(x: Any) -> Any:
        return {"y": tf.nn.conv2d(x, tf.reshape(tf.linalg.diag(tf.fill([12], factor)), [2, 2, 3, 12]), 2, "VALID")}

    module.serve = serve
    return module, {"serving_default": serve}


def test_another_diagonal_is_computed(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(scaled, 0.5), normal({"x": (None, 6, 7, 3)}))
    assert op_counts(result.model_bytes)["CONV_2D"] == 1


def open_channels(tf: Any) -> Any:
    random = np.random.default_rng(4)
    filters = tf.constant(random.standard_normal((3, 3, 4, 6)).astype(np.float32))
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        images = tf.reshape(x, [tf.shape(x)[0], 5, 5, -1])  # of as many channels as there are
        images.set_shape([None, 5, 5, None])
        return {"y": tf.raw_ops.Conv2D(input=images, filter=filters, strides=[1, 1, 1, 1], padding="SAME")}

    module.serve = serve
    return module


def test_number_of_channels_that_the_filter_says(tensorflow: TensorFlow) -> None:
    check(tensorflow, tensorflow.save(open_channels), normal({"x": (None, 100)}))


def test_groups_of_open_channels_are_no_images(tensorflow: TensorFlow) -> None:
    """They fail when the runtime sees them: an open batch does not take them up."""
    model = litefuse.convert(tensorflow.save(open_channels)).model_bytes
    (images,) = normal({"x": (None, 200)}, batches=(1,))
    with pytest.raises(RuntimeError, match="num_input_elements != num_output_elements"):
        run_calls(model, [("serving_default", images)])
