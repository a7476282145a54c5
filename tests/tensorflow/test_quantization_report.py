"""What the report says of a quantized model, samples from the command line, and open dimensions after quantization."""

from __future__ import annotations

import importlib
import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import litefuse
from litefuse.errors import QuantizationError
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.support.options.forms import INTEGER_ACTIVATIONS, QUANTIZATIONS
from litefuse.tools.cli.app import app
from tests.every import every
from tests.tensorflow.checking import check, interpreter
from tests.tensorflow.test_integer_quantization import samples
from tests.tensorflow.test_quantization import images, served, texts

if TYPE_CHECKING:
    from pathlib import Path

    from litefuse.support.options.forms import QuantizationForm
    from tests.tensorflow.process import TensorFlow


def varied(tf: Any) -> Any:
    """Ops that depend on the batch's size: reshapes, products of batches, concatenation, resizing, means."""
    keras = importlib.import_module("keras")
    bias = keras.initializers.RandomNormal(seed=1)
    x = keras.Input((12, 12, 3), name="x")
    y = keras.layers.Conv2D(8, 3, strides=2, padding="same", bias_initializer=bias)(x)
    y = keras.layers.UpSampling2D(2, interpolation="bilinear")(y)
    y = keras.layers.Concatenate()([y, x])
    y = keras.layers.MaxPooling2D(2)(y)
    y = keras.layers.Reshape((36, 11))(y)
    scores = keras.layers.Dot((2, 2))([y, y])
    y = keras.layers.Dot((2, 1))([keras.layers.Softmax()(scores), y])
    y = keras.layers.Permute((2, 1))(y)
    y = keras.layers.Flatten()(y)
    y = keras.layers.Dense(48, activation="sigmoid", bias_initializer=bias)(y)
    model = keras.Model(x, y)
    return served(tf, model, tf.TensorSpec([None, 12, 12, 3], tf.float32, name="x"))


@pytest.mark.parametrize("form", [form for form in QUANTIZATIONS if form not in {"auto", "qat"}])
def test_the_batch_stays_open(tensorflow: TensorFlow, form: QuantizationForm) -> None:
    random = np.random.default_rng(5)
    calls = [{"x": random.normal(size=(batch, 12, 12, 3)).astype(np.float32)} for batch in (1, 5, 2)]
    options: dict[str, Any] = {"samples": samples("images")} if form in INTEGER_ACTIVATIONS else {}
    result = check(
        tensorflow, tensorflow.save(varied), calls, rtol=0.1, quantize=litefuse.Quantization(form, **options)
    )
    details = interpreter(result.model_bytes).get_signature_runner().get_input_details()["x"]
    assert [*details["shape_signature"]] == [-1, 12, 12, 3]


@pytest.mark.parametrize("form", INTEGER_ACTIVATIONS)
def test_the_batch_stays_open_with_integer_inputs(tensorflow: TensorFlow, form: QuantizationForm) -> None:
    path = tensorflow.save(varied)
    result = litefuse.convert(path, quantize=litefuse.Quantization(form, io=True, samples=samples("images")))
    runner = interpreter(result.model_bytes).get_signature_runner()
    (scale, zero), (to, zero_to) = (
        details["quantization"] for details in (runner.get_input_details()["x"], runner.get_output_details()["y"])
    )
    limits = np.iinfo(form)
    for batch in (1, 5, 2):
        x = np.random.default_rng(batch).normal(size=(batch, 12, 12, 3)).astype(np.float32)
        integers = np.clip(np.round(x / np.float32(scale)) + zero, limits.min, limits.max).astype(form)
        (expected,) = tensorflow.run_calls(path, [("serving_default", {"x": x})])
        for _ in range(2):
            found = (runner(x=integers)["y"].astype(np.float64) - zero_to) * to
            np.testing.assert_allclose(found, expected["y"], atol=0.1)


def test_what_stayed_in_floating_point(tensorflow: TensorFlow, tmp_path: Path) -> None:
    path, target = tensorflow.save(texts), tmp_path / "model.tflite"
    with pytest.raises(QuantizationError, match="would not compute in integers throughout") as raised:
        litefuse.convert(
            path,
            quantize=litefuse.Quantization(
                "int8", samples=samples("texts"), require_integer=True, keep_float_ops=["WHILE"]
            ),
        )
    assert "  WHILE, 2 (" in raised.value.message
    assert "in a loop that stays in floating point, where only weights become integers" in raised.value.message

    np.savez(tmp_path / "s.npz", x=np.concatenate([each["x"][:, :4] for each in samples("texts")]))
    command = ["convert", str(path), "-o", str(target), "--quantize", "int8", "--keep-float-op", "WHILE"]
    command += ["--shape", "x=?,4", "--samples", str(tmp_path / "s.npz")]
    outcome = CliRunner().invoke(app, [*command, "--require-integer"])
    assert outcome.exit_code == 1
    assert "would not compute in integers throughout" in outcome.stderr
    assert not target.exists()

    outcome = CliRunner().invoke(app, [*command, "--json", "--measure-layers"])
    assert outcome.exit_code == 0, outcome.stderr
    report = json.loads(outcome.stdout)["quantization"]
    counts = inspect_litert_model(target).op_counts
    assert sum(each["op"] == "WHILE" for each in report["floats"]) == counts["WHILE"] == 2
    assert report["kinds"]["hybrid"] + report["kinds"]["real"] == len(report["floats"])
    # The products of both layers in their loops, [48, 128] and [32, 128], [32, 96] twice, are int8 and hybrid.
    hybrid = [each for each in report["floats"] if each["kind"] == "hybrid"]
    assert {each["op"] for each in hybrid} >= {"FULLY_CONNECTED"}
    assert every(each["weights"] > 0 for each in hybrid)
    assert [each["output"] for each in report["outputs"]] == ["y"]
    assert report["outputs"][0]["error"] == report["error"]
    assert 0 < report["outputs"][0]["mean"] < report["error"]
    assert any(each["dtype"] == "int8" and 0 < each["error"] < 0.5 for each in report["layers"])
    assert report["samples"] == 40


def test_a_model_that_is_integer_throughout(tensorflow: TensorFlow) -> None:
    result = litefuse.convert(
        tensorflow.save(images), quantize=litefuse.Quantization("int8", samples=samples("images"), require_integer=True)
    )
    quantization = result.report.quantization
    assert quantization is not None
    assert quantization.floats == ()
    assert (quantization.kinds.hybrid, quantization.kinds.real) == (0, 0)
    assert f"\n  ops      {quantization.kinds.integer} in integers\n" in result.report.details()


FUNCTIONS = """
import numpy as np


def of_tensorflow():
    import tensorflow as tf

    random = tf.random.Generator.from_seed(1)
    return tf.data.Dataset.range(20).map(lambda number: {"x": random.normal([12, 12, 3])})


def inputs(image):
    return {"x": np.asarray(image.resize((12, 12)), np.float32) / 127.5 - 1}
"""


def test_samples_of_the_command_line(tensorflow: TensorFlow, tmp_path: Path) -> None:
    path, functions, folder = tensorflow.save(images), tmp_path / "functions.py", tmp_path / "images"
    functions.write_text(FUNCTIONS)
    folder.mkdir()
    random = np.random.default_rng(1)
    for number in range(8):
        Image.fromarray(random.integers(0, 256, (20, 16, 3), np.uint8)).save(folder / f"{number}.png")
    ways = {
        20: ["--samples", f"{functions}:of_tensorflow"],
        8: ["--samples", str(folder), "--preprocess", f"{functions}:inputs"],
    }
    for number, way in ways.items():
        target = tmp_path / f"{number}.tflite"
        command = ["convert", str(path), "-o", str(target), "--quantize", "int8", "--require-integer", "--json", *way]
        outcome = CliRunner().invoke(app, command)
        assert outcome.exit_code == 0, outcome.stderr
        report = json.loads(outcome.stdout)["quantization"]
        assert (report["samples"], report["floats"]) == (number, [])
        assert 0 < report["error"] < 0.1
        assert target.exists()
    assert "tensorflow" not in sys.modules
    target = tmp_path / "default.tflite"  # without a function
    outcome = CliRunner().invoke(app, ["convert", str(path), "-o", str(target), "--quantize", "int8", *ways[8][:2]])
    assert outcome.exit_code == 0, outcome.stderr
    assert target.exists()


def test_options_that_need_others(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(images)
    refused: list[tuple[dict[str, Any], str]] = [
        (
            {"quantize": litefuse.Quantization("dynamic", require_integer=True)},
            "require_integer is only for the quantizations 'int8', 'int16', 'qat' and 'auto'",
        ),
        ({"quantize": {"require_integer": True}}, "require_integer is only for the quantizations"),
        (
            {"quantize": litefuse.Quantization("float16", preprocess="a.py:f")},
            "preprocess is only for the quantizations",
        ),
        ({"quantize": {"measure_layers": True}}, "measure_layers measures the effect of quantization"),
    ]
    for options, message in refused:
        with pytest.raises(litefuse.LitefuseError, match=message):
            litefuse.convert(path, **options)
