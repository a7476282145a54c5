"""Files of the stock converter with custom ops, quantized: against what TensorFlow computes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.litert.inspection.litert_model import inspect_litert_model
from tests.conversion.quantization.models import take_samples
from tests.conversion.quantization.test_same_scales import calls

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

IMAGES = np.random.default_rng(8).normal(size=(16, 8, 8, 3)).astype(np.float32)


def converted(tf: Any, kind: str, path: str, images: Any) -> Any:
    """Converts a convolution with a bias, the op and a product; returns what they give for the images."""
    random = np.random.default_rng(1)
    filters, bias = random.normal(size=(3, 3, 3, 4)) * 0.3, random.normal(size=4)
    weights = random.normal(size=(36 if kind == "patches" else 4, 5)) * 0.3

    class Model(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None, 8, 8, 3], tf.float32, name="x")])
        def __call__(self, x: Any) -> Any:
            x = tf.nn.conv2d(x, tf.constant(filters, tf.float32), 1, "SAME") + tf.constant(bias, tf.float32)
            if kind == "patches":
                x = tf.image.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME")
            elif kind == "pool":
                x = tf.nn.max_pool_with_argmax(x, 3, 2, "SAME")[0]
            else:
                x = tf.roll(x, [2, -3], [1, 2])
            return {"y": tf.linalg.matmul(x, tf.constant(weights, tf.float32))}

    model = Model()
    function = model.__call__.get_concrete_function()
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function], model)
    converter.allow_custom_ops = True
    Path(path).write_bytes(converter.convert())
    return model(tf.constant(images))["y"].numpy()


@pytest.mark.parametrize("form", ["int8", "int16"])
@pytest.mark.parametrize(
    ("kind", "op"), [("patches", "ExtractImagePatches"), ("pool", "MaxPoolWithArgmax"), ("roll", "Roll")]
)
def test_integers_throughout(tensorflow: TensorFlow, kind: str, op: str, form: Any, tmp_path: Path) -> None:
    before, after = tmp_path / "before.tflite", tmp_path / "after.tflite"
    expected = tensorflow.call(converted, kind, str(before), IMAGES)
    found = quantize_model(before, after, form, take_samples([each[np.newaxis] for each in IMAGES]))
    assert found.floats == ()
    counts = inspect_litert_model(after).op_counts
    assert (counts[op], counts["QUANTIZE"], counts["DEQUANTIZE"]) == (1, 1, 1)
    span = float(expected.max() - expected.min())
    for runtime in ("stock", "numpy"):
        for first, count in ((0, 1), (3, 5)):
            reals = expected[first : first + count]
            outputs = calls(after, IMAGES[first : first + count], form=runtime)
            error = np.abs(outputs[next(iter(outputs))] - reals)
            assert error.max() < (0.02 if form == "int8" else 5e-3) * span
