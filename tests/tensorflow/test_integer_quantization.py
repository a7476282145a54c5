"""Models that compute in integers: ranges from samples, inputs and outputs in floating point or not."""

from __future__ import annotations

import importlib
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

import litefuse
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.tools.cli.app import app
from tests.tensorflow.checking import check, check_calls, difference, interpreter
from tests.tensorflow.test_quantization import counting, images, inputs, texts

if TYPE_CHECKING:
    from pathlib import Path

    from litefuse.support.options.forms import QuantizationForm
    from tests.tensorflow.process import Call, TensorFlow

FORMS: list[QuantizationForm] = ["int8", "int16"]
# A step of int8 is 1/255 of a tensor's range, and every op rounds to one.
TOLERANCE = 0.1


def samples(kind: str, number: int = 40) -> list[dict[str, Any]]:
    random = np.random.default_rng(8)
    if kind == "texts":
        return [{"x": random.integers(0, 1000, (1, 4 + count % 5)).astype(np.int32)} for count in range(number)]
    return [{"x": random.normal(size=(1, 12, 12, 3)).astype(np.float32)} for _ in range(number)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["images", "texts"])
def test_outputs_are_close(tensorflow: TensorFlow, kind: str, form: QuantizationForm) -> None:
    path = tensorflow.save({"images": images, "texts": texts}[kind])
    # Relative to the largest output, but at least 1: so the bound is scaled to outputs that are smaller.
    outputs = [each["y"] for each in tensorflow.run_calls(path, [("serving_default", each) for each in inputs(kind)])]
    scale = min(1.0, *(float(np.abs(each).max()) for each in outputs))
    result = check(
        tensorflow,
        path,
        inputs(kind),
        rtol=TOLERANCE * scale,
        quantize=litefuse.Quantization(form, samples=samples(kind)),
    )
    quantization = result.report.quantization
    assert quantization is not None
    assert quantization.error is not None
    assert quantization.error < TOLERANCE
    assert quantization.inputs == "samples"
    assert result.report.size < 0.45 * quantization.size_before
    assert f"before quantization, on {quantization.inputs}" in str(result.report)
    counts = result.report.op_counts
    assert counts["QUANTIZE"] >= 1
    if kind == "texts":  # what a loop computes stays in floating point, with weights of int8
        assert (counts["WHILE"], counts["EMBEDDING_LOOKUP"]) == (2, 1)
    assert computed(result.model_bytes)["CONV_2D"] == ({"int8"} if form == "int8" else {"int16"})


def computed(model: bytes) -> dict[str, set[str]]:
    """The dtypes of the first result of each op, by the op's name, of those that the delegate did not take."""
    litert: Any = importlib.import_module("ai_edge_litert.interpreter")
    plain = litert.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    engine = litert.Interpreter(model_content=model, experimental_op_resolver_type=plain)
    dtypes: dict[int, str] = {each["index"]: np.dtype(each["dtype"]).name for each in engine.get_tensor_details()}
    found: dict[str, set[str]] = {}
    for op in engine._get_ops_details():  # noqa: SLF001  there is no other way to see them
        found.setdefault(op["op_name"], set()).add(dtypes[op["outputs"][0]])
    return found


def branches(tf: Any) -> Any:
    """A branch and a composite whose decomposition is kept, behind a product; two inputs."""
    random = np.random.default_rng(3)
    module = tf.Module()
    module.weights = tf.Variable(random.normal(size=(40, 50)).astype(np.float32))
    module.others = tf.Variable((random.normal(size=(50, 50)) * 0.1).astype(np.float32))

    @tf.function(experimental_implements="my_gate", autograph=False)
    def gate(x: Any, weights: Any) -> Any:
        return x * tf.sigmoid(tf.matmul(x, weights))

    spec = [tf.TensorSpec([None, 40], tf.float32, name="x"), tf.TensorSpec([], tf.bool, name="first")]

    @tf.function(input_signature=spec, autograph=False)
    def serve(x: Any, first: Any) -> Any:
        product = tf.matmul(x, module.weights)
        chosen = tf.cond(first, lambda: tf.matmul(product, module.others), lambda: tf.tanh(product))
        return {"y": gate(chosen, module.others.read_value())}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("form", FORMS)
def test_branches_and_composites_stay_as_they_are(tensorflow: TensorFlow, form: QuantizationForm) -> None:
    path = tensorflow.save(branches)
    random = np.random.default_rng(2)

    def given(number: int, batch: int) -> dict[str, Any]:
        return {"x": random.normal(size=(batch, 40)).astype(np.float32), "first": np.bool_(number % 2)}

    dataset = [given(number, 8) for number in range(40)]  # what is beyond their range is clipped
    calls = [given(number, batch) for number, batch in enumerate((1, 3, 3, 2))]
    result = check(
        tensorflow,
        path,
        calls,
        rtol=2 * TOLERANCE,
        composites="keep",
        quantize=litefuse.Quantization(form, samples=lambda: iter(dataset)),
    )
    counts = result.report.op_counts
    assert counts["IF"] == 1
    assert counts["STABLEHLO_COMPOSITE"] == 1


def test_signatures_and_states(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(counting)
    random = np.random.default_rng(6)

    def count(batch: int) -> Call:
        return "count", {"x": random.normal(size=(batch, 40)).astype(np.float32)}

    def look_up(batch: int) -> Call:
        return "look_up", {"rows": random.integers(0, 40, (batch, 3))}

    # The state grows with each call, and so do the outputs of which the samples tell the range.
    dataset = [*(count(2) for _ in range(10)), look_up(4)]
    calls = [count(1), count(3), look_up(2), count(3), look_up(1)]
    result = check_calls(
        tensorflow, path, calls, rtol=TOLERANCE, quantize=litefuse.Quantization("int8", samples=dataset)
    )
    assert result.report.quantization is not None
    with pytest.raises(litefuse.LitefuseError, match="no sample for the signature 'look_up'"):
        litefuse.convert(path, quantize=litefuse.Quantization("int8", samples=dataset[:10]))
    with pytest.raises(litefuse.LitefuseError, match="names no signature") as raised:
        litefuse.convert(path, quantize=litefuse.Quantization("int8", samples=[inputs for _, inputs in dataset]))
    assert raised.value.where == "samples, sample 1"


@pytest.mark.parametrize("form", FORMS)
def test_inputs_and_outputs_can_be_integers(tensorflow: TensorFlow, tmp_path: Path, form: QuantizationForm) -> None:
    path = tensorflow.save(images)
    # The first axis counts rows of the input, whose own first axis is open.
    np.savez(tmp_path / "samples.npz", x=np.concatenate([each["x"] for each in samples("images")]).astype(np.float64))
    target = tmp_path / "model.tflite"
    command = ["convert", str(path), "-o", str(target), "--quantize", form, "--quantized-io", "integer"]
    outcome = CliRunner().invoke(app, [*command, "--samples", str(tmp_path / "samples.npz")])
    assert outcome.exit_code == 0, outcome.stderr
    runner = interpreter(target.read_bytes()).get_signature_runner()
    takes, gives = runner.get_input_details()["x"], runner.get_output_details()["y"]
    assert np.dtype(takes["dtype"]) == np.dtype(gives["dtype"]) == np.dtype(form)
    (scale, zero), (output_scale, output_zero) = takes["quantization"], gives["quantization"]
    (signature,) = inspect_litert_model(target).signatures
    told = [(each.scale, each.zero_point) for each in (*signature.inputs, *signature.outputs)]
    assert told == [(pytest.approx(scale), zero), (pytest.approx(output_scale), output_zero)]
    assert f" zero point {output_zero}\n" in CliRunner().invoke(app, ["inspect", str(target)]).stdout
    for each in inputs("images"):
        (expected,) = tensorflow.run_calls(path, [("serving_default", each)])
        limits = np.iinfo(form)
        rounded = np.round(np.asarray(each["x"], np.float64) / float(scale)) + int(zero)
        integers = np.asarray(rounded, np.float64).clip(limits.min, limits.max).astype(form)
        for _ in range(2):
            found = (runner(x=integers)["y"].astype(np.float32) - output_zero) * np.float32(output_scale)
            assert not difference(found, expected["y"], rtol=TOLERANCE)


def pairs(tf: Any) -> Any:
    """Two inputs of sizes that are known, the first a scalar."""
    weights = tf.constant(np.random.default_rng(1).normal(size=(40, 50)).astype(np.float32))
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([], name="scale"), tf.TensorSpec([4, 40], name="x")], autograph=False)
    def serve(scale: Any, x: Any) -> Any:
        return {"y": tf.matmul(x, weights) * scale}

    module.serve = serve
    return module, {"serving_default": serve}


def test_archives(tensorflow: TensorFlow, tmp_path: Path) -> None:
    path = tensorflow.save(pairs)
    random = np.random.default_rng(1)

    def error(**arrays: Any) -> str:
        np.savez(tmp_path / "samples.npz", **arrays)
        with pytest.raises(litefuse.LitefuseError) as raised:
            litefuse.convert(path, quantize=litefuse.Quantization("int8", samples=tmp_path / "samples.npz"))
        assert raised.value.where == str(tmp_path / "samples.npz")
        return str(raised.value)

    scales, rows = random.normal(size=6), random.normal(size=(24, 40))
    for x in (rows, rows.reshape(6, 4, 40)):
        np.savez(tmp_path / "samples.npz", scale=scales, x=x)
        result = litefuse.convert(path, quantize=litefuse.Quantization("int8", samples=tmp_path / "samples.npz"))
        assert result.report.quantization is not None
        assert result.report.quantization.error is not None
        assert 0 < result.report.quantization.error < TOLERANCE
    assert "the file lacks scale" in error(x=rows)
    assert "the arrays y are for no input" in error(scale=scales, x=rows, y=rows)
    assert "the numbers of samples differ: {'scale': 6, 'x': 5}" in error(scale=scales, x=rows[:20])
    assert "22 rows, which pieces of 4 do not divide" in error(scale=scales, x=rows[:22])
    assert "float64 [24], not a series of float32 [4, 40]" in error(scale=scales, x=rows[:, 0])
    assert "the model takes float32 [4, 40]" in error(scale=scales, x=rows.astype(np.complex64))
    (tmp_path / "samples.npz").write_text("no archive")
    with pytest.raises(litefuse.LitefuseError, match=r"this is not an \.npz file"):
        litefuse.convert(path, quantize=litefuse.Quantization("int8", samples=str(tmp_path / "samples.npz")))


def test_samples_that_do_not_fit(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(pairs)
    x, scale = np.zeros((4, 40), np.float32), np.float32(2)

    def error(dataset: Any) -> str:
        with pytest.raises(litefuse.LitefuseError) as raised:
            litefuse.convert(path, quantize=litefuse.Quantization("int8", samples=dataset))
        return str(raised.value)

    assert "the sample lacks scale" in error([{"x": x}])
    assert "has no input 'z'" in error([{"x": x, "scale": scale, "z": x}])
    assert "sample 2: " in error([{"x": x, "scale": scale}, {"x": x[:3], "scale": scale}])
    assert "a list of 2 arrays" in error([[scale, x]])
    assert "the sample is one array, and the signature takes 2 inputs" in error([x])
    assert "is for a signature 'other'" in error([("other", {"x": x, "scale": scale})])
    assert "no samples were given" in error([])
    assert "is a dict, not a sequence of samples" in error({"x": x, "scale": scale})
    assert "is a int, not a sequence of samples" in error(3)


def attention(tf: Any, kind: str) -> Any:
    """Scores of which the words of a text's end are masked: by a sum with a large number, or by one in their place."""
    random = np.random.default_rng(5)
    module = tf.Module()
    module.query, module.key, module.value = (
        tf.Variable(random.normal(size=(16, 16)).astype(np.float32) * 0.5) for _ in range(3)
    )
    spec = [tf.TensorSpec([None, 12, 16], tf.float32, name="x"), tf.TensorSpec([None, 12], tf.bool, name="keep")]

    def serve(x: Any, keep: Any) -> Any:
        scores = tf.matmul(x @ module.query, x @ module.key, transpose_b=True) * 0.25
        keep = keep[:, tf.newaxis, :]
        if kind == "sum":
            scores += (1.0 - tf.cast(keep, tf.float32)) * -1e9
        elif kind == "causal":
            scores += tf.constant(np.triu(np.full((12, 12), -10000, np.float32), 1))
        else:
            scores = tf.where(keep, scores, -np.inf if kind == "infinity" else scores.dtype.min)
        return {"y": tf.matmul(tf.nn.softmax(scores), x @ module.value)}

    module.serve = tf.function(serve, input_signature=spec)
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["sum", "causal", "place", "infinity"])
def test_masks_become_integers(tensorflow: TensorFlow, kind: str, form: QuantizationForm) -> None:
    random = np.random.default_rng(6)
    dataset = [
        {
            "x": random.normal(size=(2, 12, 16)).astype(np.float32),
            "keep": np.arange(12) < random.integers(3, 12, (2, 1)),
        }
        for _ in range(8)
    ]
    calls: list[Call] = [("serving_default", each) for each in dataset[:3]]
    result = check_calls(
        tensorflow,
        tensorflow.save(attention, kind),
        calls,
        rtol=TOLERANCE,
        quantize=litefuse.Quantization(form, samples=dataset),
    )
    kinds = computed(result.model_bytes)
    assert kinds["SOFTMAX"] == {form}
    assert kinds["BATCH_MATMUL"] == {form}
    assert kinds["FULLY_CONNECTED"] == {form}


def test_what_is_not_finite_has_no_range(tensorflow: TensorFlow) -> None:
    dataset = samples("images", 3)
    dataset[1]["x"][0, 0, 0, 0] = np.nan
    with pytest.raises(litefuse.LitefuseError, match="'x' has NaN or infinite elements") as raised:
        litefuse.convert(tensorflow.save(images), quantize=litefuse.Quantization("int8", samples=dataset))
    assert raised.value.where == "samples, sample 2 of 'serving_default'"
    random = np.random.default_rng(1)
    pair = {"x": np.full((4, 40), 1e30, np.float32), "scale": np.float32(1e30)}
    finite = {"x": random.normal(size=(4, 40)).astype(np.float32), "scale": np.float32(1)}
    with pytest.raises(litefuse.LitefuseError, match="is not finite on the samples, and has no range"):
        litefuse.convert(tensorflow.save(pairs), quantize=litefuse.Quantization("int8", samples=[finite, pair]))


def test_options_that_do_not_go_together(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(images)
    with pytest.raises(litefuse.LitefuseError, match="'int8' needs samples"):
        litefuse.convert(path, quantize="int8")
    with pytest.raises(litefuse.LitefuseError, match="samples is only for the quantizations 'int8'"):
        litefuse.convert(path, quantize=litefuse.Quantization("dynamic", samples=samples("images")))
    with pytest.raises(litefuse.LitefuseError, match="io is only for the quantizations"):
        litefuse.convert(path, quantize=litefuse.Quantization(io=True))


class SoftSign(litefuse.CustomOp):
    """x / (1 + |x|), on float32 of any shape."""

    def prepare(self, x: litefuse.TensorSpec) -> litefuse.TensorSpec:
        return x

    def invoke(self, inputs: Any, outputs: Any) -> None:
        outputs[0][...] = inputs[0] / (1 + np.abs(inputs[0]))


def custom(tf: Any) -> Any:
    """A custom op between two products."""
    random = np.random.default_rng(3)
    module = tf.Module()
    module.weights = tf.Variable((random.normal(size=(40, 40)) * 0.2).astype(np.float32))

    @tf.function(experimental_implements='name: "SoftSign" attr { key: "tfl_fusable_op" value { b: true } }')
    def soft_sign(x: Any) -> Any:
        return x / (1 + tf.abs(x))

    @tf.function(input_signature=[tf.TensorSpec([None, 40], tf.float32, name="x")], autograph=False)
    def serve(x: Any) -> Any:
        return {"y": tf.matmul(soft_sign(tf.matmul(x, module.weights)), module.weights)}

    module.serve = serve
    return module, {"serving_default": serve}


def test_custom_ops_run_with_their_kernels(tensorflow: TensorFlow, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tensorflow.save(custom)
    random = np.random.default_rng(2)
    calls = [{"x": random.normal(size=(batch, 40)).astype(np.float32)} for batch in (9, 3, 1)]
    with pytest.raises(litefuse.LitefuseError, match="no kernel for the custom ops SoftSign"):
        litefuse.convert(path, quantize=litefuse.Quantization("int8", samples=calls))
    monkeypatch.setattr(importlib.import_module("litefuse.litert.runtime.custom_op"), "_registered", {})
    litefuse.custom_op("SoftSign")(SoftSign)
    result = check(
        tensorflow,
        path,
        calls,
        rtol=TOLERANCE,
        custom_ops=[SoftSign],
        quantize=litefuse.Quantization("int8", samples=calls),
    )
    assert result.report.op_counts["SoftSign"] == 1
    assert result.report.op_counts["FULLY_CONNECTED"] == 2


class IntegerSoftSign(litefuse.CustomOp):
    """The same, also on integers with scales."""

    quantized_dtypes = ("int8", "int16")

    def prepare(self, x: litefuse.TensorSpec) -> litefuse.TensorSpec:
        self.takes, self.gives = x.quantization, self.output_specs[0].quantization
        return litefuse.TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs: Any, outputs: Any) -> None:
        x = inputs[0] if self.takes is None else self.takes.dequantize(inputs[0])
        y = x / (1 + np.abs(x))
        outputs[0][...] = y if self.gives is None else self.gives.quantize(y, inputs[0].dtype)


@pytest.mark.parametrize("form", FORMS)
def test_kernels_that_take_integers(
    tensorflow: TensorFlow, monkeypatch: pytest.MonkeyPatch, form: QuantizationForm
) -> None:
    path = tensorflow.save(custom)
    random = np.random.default_rng(2)
    calls = [{"x": random.normal(size=(batch, 40)).astype(np.float32)} for batch in (9, 3, 1)]
    monkeypatch.setattr(importlib.import_module("litefuse.litert.runtime.custom_op"), "_registered", {})
    options: dict[str, Any] = {"quantize": litefuse.Quantization(form, samples=calls, require_integer=True)}
    litefuse.custom_op("SoftSign")(SoftSign)
    with pytest.raises(litefuse.LitefuseError, match=r"SoftSign, 1 .*a custom op, whose kernel takes floating point"):
        litefuse.convert(path, **options)
    litefuse.custom_op("SoftSign", replace=True)(IntegerSoftSign)
    result = check(tensorflow, path, calls, rtol=TOLERANCE, custom_ops=[IntegerSoftSign], **options)
    counts = result.report.op_counts
    assert (counts["QUANTIZE"], counts["DEQUANTIZE"], counts["SoftSign"]) == (1, 1, 1)


def per_channel(tf: Any) -> Any:
    """A constant right operand of BATCH_MATMUL whose channels are of very different sizes."""
    random = np.random.default_rng(4)
    values = random.normal(size=(3, 40, 48)) * np.exp(random.normal(size=48))
    module = tf.Module()
    module.weights = tf.Variable(values.astype(np.float32))

    @tf.function(input_signature=[tf.TensorSpec([None, 3, 7, 40], tf.float32, name="x")], autograph=False)
    def serve(x: Any) -> Any:
        return {"y": tf.einsum("bhtf,hfd->bhtd", x, module.weights)}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("form", [*FORMS, "dynamic", "weights"])
def test_products_with_constant_batches(tensorflow: TensorFlow, form: QuantizationForm) -> None:
    path = tensorflow.save(per_channel)
    random = np.random.default_rng(2)
    calls = [{"x": random.normal(size=(batch, 3, 7, 40)).astype(np.float32)} for batch in (1, 3, 2)]
    dataset: dict[str, Any] = {"samples": calls} if form in FORMS else {}
    result = check(tensorflow, path, calls, rtol=TOLERANCE, quantize=litefuse.Quantization(form, **dataset))
    assert Counter(result.report.op_counts)["BATCH_MATMUL"] == 1
