"""Models whose weights were quantized: smaller, and close to TensorFlow in every call."""

from __future__ import annotations

import importlib
import importlib.util
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

import litefuse
from litefuse.errors import QuantizationError
from litefuse.support.options.forms import INTEGER_ACTIVATIONS, QUANTIZATIONS
from litefuse.support.report import QuantizationReport
from litefuse.tools.cli.app import app
from tests.tensorflow.checking import check, check_calls

if TYPE_CHECKING:
    from pathlib import Path

    from litefuse.support.options.forms import QuantizationForm
    from tests.tensorflow.process import Call, TensorFlow

# How far outputs may be from TensorFlow's, in units of the largest one: a weight of int8 is off by up to 1/254 of the
# largest weight of its channel, one of float16 by 1/2048 of itself.
TOLERANCES: dict[QuantizationForm, float] = {
    "dynamic": 0.06,
    "weights": 0.04,
    "float16": 2e-3,
    "int8": 0.1,
    "int16": 0.06,
}
SIZES: dict[QuantizationForm, float] = {"dynamic": 0.4, "weights": 0.4, "float16": 0.6, "int8": 0.45, "int16": 0.45}
WEIGHTS: list[QuantizationForm] = [form for form in QUANTIZATIONS if form not in {*INTEGER_ACTIVATIONS, "auto", "qat"}]


def images(tf: Any) -> Any:
    """Convolutions and a product, of images ``[?, 12, 12, 3]``."""
    keras = importlib.import_module("keras")
    bias = keras.initializers.RandomNormal(seed=1)
    model = keras.Sequential(
        [
            keras.Input((12, 12, 3), name="x"),
            keras.layers.Conv2D(32, 3, activation="relu", bias_initializer=bias),
            keras.layers.DepthwiseConv2D(3, bias_initializer=bias),
            keras.layers.Conv2DTranspose(32, 3, bias_initializer=bias),
            keras.layers.BatchNormalization(),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dense(64, bias_initializer=bias),
        ]
    )
    return served(tf, model, tf.TensorSpec([None, 12, 12, 3], tf.float32, name="x"))


def texts(tf: Any) -> Any:
    """An embedding, recurrent layers and attention, of ids ``[?, ?]``."""
    keras = importlib.import_module("keras")
    bias = keras.initializers.RandomNormal(seed=1)
    ids = keras.Input((None,), dtype="int32", name="x")
    x = keras.layers.Embedding(1000, 48)(ids)
    x = keras.layers.LSTM(32, return_sequences=True, bias_initializer=bias)(x)
    x = keras.layers.MultiHeadAttention(2, 16)(x, x)
    x = keras.layers.GRU(32, bias_initializer=bias)(x)
    model = keras.Model(ids, keras.layers.Dense(8, bias_initializer=bias)(x))
    return served(tf, model, tf.TensorSpec([None, None], tf.int32, name="x"))


def served(tf: Any, model: Any, spec: Any) -> Any:
    module = tf.Module()
    module.layers_of_model = model.variables

    def serve(x: Any) -> dict[str, Any]:
        return {"y": model(x)}

    module.serve = tf.function(serve, input_signature=[spec], autograph=False)
    return module, {"serving_default": module.serve}


def counting(tf: Any) -> Any:
    """Two signatures, a state, and a table that no product uses."""
    random = np.random.default_rng(3)
    module = tf.Module()
    module.count = tf.Variable(1.0)
    module.weights = tf.Variable(random.normal(size=(40, 50)).astype(np.float32))

    @tf.function(input_signature=[tf.TensorSpec([None, 40], tf.float32, name="x")], autograph=False)
    def count(x: Any) -> Any:
        module.count.assign_add(1.0)
        return {"y": tf.matmul(x, module.weights) * module.count}

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.int64, name="rows")], autograph=False)
    def look_up(rows: Any) -> Any:
        return {"y": tf.gather(module.weights, rows)}

    module.count_up, module.look_up = count, look_up
    return module, {"count": count, "look_up": look_up}


def inputs(kind: str) -> list[dict[str, Any]]:
    random = np.random.default_rng(5)
    if kind == "texts":
        return [{"x": random.integers(0, 1000, size).astype(np.int32)} for size in ((1, 7), (3, 7), (2, 4))]
    return [{"x": random.normal(size=(batch, 12, 12, 3)).astype(np.float32)} for batch in (1, 3, 2)]


def checked(quantization: QuantizationReport | None, form: QuantizationForm) -> QuantizationReport:
    """What a report says, where the outputs were compared."""
    assert quantization is not None
    assert (quantization.form, quantization.unchecked) == (form, None)
    assert quantization.error is not None
    assert 0 < quantization.error < TOLERANCES[form]
    return quantization


@pytest.mark.parametrize("form", WEIGHTS)
@pytest.mark.parametrize("kind", ["images", "texts"])
def test_weights_are_smaller_and_outputs_are_close(tensorflow: TensorFlow, kind: str, form: QuantizationForm) -> None:
    path = tensorflow.save({"images": images, "texts": texts}[kind])
    # Relative to the largest output, but at least 1: so the bound is scaled to outputs that are smaller.
    outputs = [each["y"] for each in tensorflow.run_calls(path, [("serving_default", each) for each in inputs(kind)])]
    scale = min(1.0, *(float(np.abs(each).max()) for each in outputs))
    result = check(tensorflow, path, inputs(kind), rtol=TOLERANCES[form] * scale, quantize=form)
    quantization = checked(result.report.quantization, form)
    assert len(result.model_bytes) == result.report.size < SIZES[form] * quantization.size_before
    assert "\n  quantized  " in str(result.report)
    assert result.report.to_json()["quantization"]["form"] == form
    counts = result.report.op_counts
    if kind == "texts":
        fused = int(form == "dynamic")
        assert (counts["EMBEDDING_LOOKUP"], counts["WHILE"]) == (1, 2 - fused)
        assert counts.get("UNIDIRECTIONAL_SEQUENCE_LSTM", 0) == fused
    assert ("DEQUANTIZE" in counts) == (form != "dynamic")


@pytest.mark.parametrize("form", WEIGHTS)
def test_signatures_and_states(tensorflow: TensorFlow, form: QuantizationForm) -> None:
    path = tensorflow.save(counting)
    random = np.random.default_rng(6)
    calls: list[Call] = [
        *[("count", {"x": random.normal(size=(batch, 40)).astype(np.float32)}) for batch in (1, 3, 3)],
        *[("look_up", {"rows": random.integers(0, 40, (batch, 3))}) for batch in (1, 2)],
    ]
    result = check_calls(tensorflow, path, calls, rtol=TOLERANCES[form], quantize=form)
    checked(result.report.quantization, form)


def test_form_of_recurrent_layers_can_be_chosen(tensorflow: TensorFlow) -> None:
    result = litefuse.convert(tensorflow.save(texts), quantize="dynamic", rnn="fused")
    assert result.report.op_counts["UNIDIRECTIONAL_SEQUENCE_LSTM"] == 1
    checked(result.report.quantization, "dynamic")


def annotated(tf: Any) -> Any:
    """An LSTM layer that Keras 2 annotates itself."""
    keras = importlib.import_module("tf_keras")
    bias = keras.initializers.RandomNormal(seed=1)
    x = keras.Input((6, 24), name="x")
    model = keras.Model(x, keras.layers.LSTM(32, bias_initializer=bias, kernel_initializer="random_normal")(x))
    return served(tf, model, tf.TensorSpec([None, 6, 24], tf.float32, name="x"))


@pytest.mark.parametrize(
    ("form", "options", "op"),
    [
        ("weights", {}, "WHILE"),
        ("dynamic", {}, "UNIDIRECTIONAL_SEQUENCE_LSTM"),
        ("weights", {"rnn": "fused"}, "UNIDIRECTIONAL_SEQUENCE_LSTM"),
        ("weights", {"require_fused": True}, "UNIDIRECTIONAL_SEQUENCE_LSTM"),
        ("weights", {"composites": {"lstm_*": "fuse"}}, "UNIDIRECTIONAL_SEQUENCE_LSTM"),
    ],
)
def test_layers_that_keras_annotates_become_loops(
    tensorflow: TensorFlow, form: QuantizationForm, options: dict[str, Any], op: str
) -> None:
    random = np.random.default_rng(3)
    calls = [{"x": random.normal(size=(batch, 6, 24)).astype(np.float32)} for batch in (1, 3, 2)]
    result = check(tensorflow, tensorflow.save(annotated), calls, rtol=0.02, quantize=form, **options)
    assert result.report.op_counts[op] == 1
    (composite,) = (
        each for each in result.report.composites if each.name.startswith("lstm_") and each.name != "lstm_loop"
    )
    assert (composite.reason is not None) == (op == "WHILE")


def strings(tf: Any) -> Any:
    module = tf.Module()
    weights = tf.constant(np.random.default_rng(1).normal(size=(40, 50)).astype(np.float32))

    @tf.function(input_signature=[tf.TensorSpec([None, 40], name="x"), tf.TensorSpec([2], tf.string, name="s")])
    def serve(x: Any, s: Any) -> Any:
        return {"y": tf.matmul(x, weights), "s": tf.identity(s)}

    module.serve = serve
    return module, {"serving_default": serve}


def test_models_of_strings_are_measured(tensorflow: TensorFlow) -> None:
    report = litefuse.convert(tensorflow.save(strings), quantize="dynamic").report
    assert report.quantization is not None
    assert report.quantization.error is not None
    assert 1e-5 < report.quantization.error < 0.05
    assert report.quantization.unchecked is None


def still(tf: Any, outputs: int) -> Any:
    weights = tf.constant(np.random.default_rng(0).standard_normal([40, 30]).astype(np.float32))
    module = tf.Module()

    def serve(x: Any) -> Any:
        y = tf.matmul(x, weights)
        still = {"still": 1.0 + 1e-30 * tf.tanh(y)}
        return {**still, "y": y} if outputs > 1 else still

    module.serve = tf.function(serve, input_signature=[tf.TensorSpec([None, 40], name="x")])
    return module, {"serving_default": module.serve}


def test_outputs_that_stand_still_are_said(tensorflow: TensorFlow) -> None:
    quantization = litefuse.convert(tensorflow.save(still, 2), quantize="dynamic").report.quantization
    assert quantization is not None
    assert quantization.error is not None
    assert quantization.unchecked == "still did not move with them"
    report = litefuse.convert(tensorflow.save(still, 1), quantize="dynamic").report
    assert report.quantization is not None
    assert report.quantization.error is None
    assert "outputs not compared with those before quantization: no output changes with random inputs" in str(report)


def test_max_error_bounds_what_quantization_changes(tensorflow: TensorFlow, tmp_path: Path) -> None:
    path, target = tensorflow.save(images), tmp_path / "model.tflite"
    error = checked(litefuse.convert(path, quantize="dynamic").report.quantization, "dynamic").error
    assert error is not None
    litefuse.convert(path, quantize=litefuse.Quantization("dynamic", max_error=error))
    with pytest.raises(QuantizationError, match="changes an output by") as caught:
        litefuse.convert(path, quantize=litefuse.Quantization("dynamic", max_error=error / 2))
    assert caught.value.error == error
    arguments = ["convert", str(path), "-o", str(target), "--quantize", "dynamic", "--json", "--max-error"]
    outcome = CliRunner().invoke(app, [*arguments, str(error / 2)])
    assert outcome.exit_code == 1
    assert json.loads(outcome.stdout)["error"] | {"message": "", "hint": "", "where": ""} == {
        "type": "QuantizationError",
        "message": "",
        "where": "",
        "hint": "",
        "error": error,
    }
    assert list(tmp_path.iterdir()) == []


def test_command_line(tensorflow: TensorFlow, tmp_path: Path) -> None:
    path = tensorflow.save(images)
    target = tmp_path / "model.tflite"
    outcome = CliRunner().invoke(app, ["convert", str(path), "-o", str(target), "--quantize", "float16", "--json"])
    assert outcome.exit_code == 0, outcome.stderr
    report = json.loads(outcome.stdout)
    assert report["quantization"]["form"] == "float16"
    assert report["size"] == target.stat().st_size
    assert [each.name for each in tmp_path.iterdir()] == ["model.tflite"]
    assert CliRunner().invoke(app, ["convert", str(path), "--quantize", "int4"]).exit_code == 2


def test_forms_that_do_not_exist_and_packages_that_are_missing(
    tensorflow: TensorFlow, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tensorflow.save(images)
    with pytest.raises(litefuse.LitefuseError, match=r"form is 'int4'\n.*weight_bits=4"):
        litefuse.convert(path, quantize="int4")  # pyright: ignore[reportArgumentType]

    find_spec = importlib.util.find_spec

    def without(name: str) -> Any:
        return None if name.startswith("litert_quantizer") else find_spec(name)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    with pytest.raises(litefuse.LitefuseError, match=r"litefuse\[quantize\]"):
        litefuse.convert(path, quantize="dynamic")


def digits(tf: Any) -> Any:
    keras = importlib.import_module("keras")
    model = keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            keras.layers.Conv2D(8, 3, activation="relu"),
            keras.layers.Flatten(),
            keras.layers.Dense(10),
        ]
    )
    return served(tf, model, tf.TensorSpec([None, 28, 28, 1], tf.float32, name="x"))


def products(tf: Any) -> Any:
    module = tf.Module()
    random = np.random.default_rng(3)
    module.first = tf.Variable(random.normal(size=(40, 36)), dtype=tf.float32)
    module.second = tf.Variable(random.normal(size=(24, 40)), dtype=tf.float32)

    @tf.function(input_signature=[tf.TensorSpec([None, 36, 40], tf.float32, name="x")], autograph=False)
    def serve(x: Any) -> Any:
        turned = tf.matmul(module.first, x)
        product = tf.matmul(turned, module.second, transpose_b=True)
        return {"turned": turned, "y": product, "vector": tf.linalg.matvec(module.first, x[0, :, 0])}

    module.serve = serve
    return module, {"serving_default": serve}


def test_constants_that_are_first_factors_stay(tensorflow: TensorFlow) -> None:
    """LiteRT has no product of integer weights with floats in this order."""
    random = np.random.default_rng(4)
    calls = [{"x": random.normal(size=(batch, 36, 40)).astype(np.float32)} for batch in (1, 3)]
    result = check(tensorflow, tensorflow.save(products), calls, rtol=0.02, quantize="dynamic")
    assert result.report.quantization is not None
