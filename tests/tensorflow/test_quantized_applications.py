"""Good int8 models of Keras applications are equal to their originals, and spoiled ones differ in the spoiled layer."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import litefuse
from litefuse.tools.page.saving import save_report
from tests.in_part import ALL
from tests.tensorflow.spoiled_models import spoiled
from tests.tensorflow.test_keras_applications import application, images

if TYPE_CHECKING:
    from litefuse.conversion.verify.verification import Verification
    from tests.tensorflow.process import TensorFlow

# The first one is always run: DenseNet121 takes ten times as long.
SIZES = {
    "MobileNetV3Small": 96,
    "MobileNetV2": 96,
    "MobileNet": 96,
    "EfficientNetB0": 96,
    "DenseNet121": 64,
    "ResNet50": 64,
    "NASNetMobile": 96,
    "VGG16": 32,
    "Xception": 96,
    "EfficientNetV2B0": 64,
}
SPOILED: list[tuple[str, str, float, float | str]] = [
    ("MobileNetV2", "channel", -1.0, 0.0),
    ("MobileNetV2", "channel", 0.0, 0.3),
    ("MobileNetV2", "channel", 0.5, 1.0),
    ("MobileNetV2", "channels", 1.0, 0.5),
    ("MobileNetV2", "weights", 1.0, 0.7),
    ("MobileNetV2", "weights", 7.0, 0.1),
    ("MobileNetV2", "channel scale", 2.0, 0.2),
    ("MobileNetV2", "channel scale", 1.5, 0.9),
    ("MobileNetV2", "scale", 2.0, 0.4),
    ("MobileNetV2", "scale", 0.5, 0.6),
    ("MobileNetV2", "scale", 2.0, 0.8),
    ("MobileNetV3Small", "channel", -1.0, 0.4),
    ("MobileNetV3Small", "channels", 1.0, 0.8),
    ("MobileNetV3Small", "weights", 1.0, 0.5),
    ("MobileNetV3Small", "channel scale", 1.5, 0.3),
    ("MobileNetV3Small", "bias", -1.0, 0.6),
    ("MobileNetV3Small", "zero", 20.0, "MUL"),
    ("MobileNetV3Small", "scale", 0.67, 0.2),
    ("MobileNetV3Small", "zero", 20.0, "ADD"),
]


@functools.cache
def models(tensorflow: TensorFlow, name: str) -> tuple[Path, bytes, bytes]:
    """The SavedModel, the float model and the int8 model."""
    path = tensorflow.save(application, name, SIZES[name])
    floats = litefuse.convert(path).model_bytes
    return (
        path,
        floats,
        litefuse.convert(path, quantize=litefuse.Quantization("int8", samples=samples(name))).model_bytes,
    )


def samples(name: str) -> list[Any]:
    return [each[None] for each in images(8, SIZES[name], seed=1)]


def is_good(verification: Verification) -> bool:
    layers, (output,) = verification.layers, verification.outputs
    assert layers is not None
    assert output.explained is not None
    assert output.dtype == "float32"
    return verification.verdict == "equal" and layers.first is None and not any(each.fault for each in layers.layers)


@pytest.mark.parametrize("name", SIZES if ALL else [*SIZES][:1])
def test_a_good_model(tensorflow: TensorFlow, tmp_path: Path, name: str) -> None:
    path, floats, integers = models(tensorflow, name)
    assert is_good(litefuse.verify_model(integers, floats, layers=True))
    assert is_good(litefuse.verify_model(integers, floats, samples=samples(name)[::-1], layers=True))
    verification = litefuse.verify_model(integers, path, layers=True)
    assert is_good(verification)
    file = tmp_path / "model.tflite"
    file.write_bytes(integers)
    save_report(tmp_path / "page.html", file, path, verification=verification)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert 'class="good"' in page
    assert 'class="bad' not in page


@pytest.mark.parametrize(("name", "what", "how", "place"), SPOILED)
def test_a_spoiled_model(tensorflow: TensorFlow, name: str, what: str, how: float, place: float | str) -> None:
    path, floats, integers = models(tensorflow, name)
    content, blamed = spoiled(integers, what, how, place)
    for original in (floats, path):
        verification = litefuse.verify_model(content, original, samples=samples(name), layers=True)
        assert verification.verdict == "differs"
        assert verification.layers is not None
        assert verification.layers.first is not None
        assert verification.layers.first.tensor in blamed
        assert verification.layers.first.fault in str(verification)
