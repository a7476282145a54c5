# pyright: reportUnknownLambdaType=false
"""Where models begin to differ from the originals, of both converters."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

import litefuse
from litefuse.conversion.verify.layers import model_values, observed_copy
from litefuse.conversion.verify.layers.layers import Layers
from litefuse.conversion.verify.layers.model_values import Observation, ObservationJob
from litefuse.errors import LitefuseError
from litefuse.tools.cli.app import app
from tests.every import every
from tests.tensorflow.spoiled_models import with_wrong_weights, without_activation, without_names
from tests.tensorflow.test_tensorflow_1 import convolutional

if TYPE_CHECKING:
    from litefuse.conversion.verify.verification import Verification
    from tests.tensorflow.process import TensorFlow


def normal(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def network(tf: Any) -> Any:
    """Convolution, two dense layers of one function, softmax: fused ops, a function that is called twice."""
    module = tf.Module()
    module.filters = tf.Variable(normal(0, 3, 3, 3, 4) / 3)
    module.kernel = tf.Variable(normal(1, 4, 4))
    module.bias = tf.Variable(normal(2, 4))
    module.last = tf.Variable(normal(3, 4, 5))

    @tf.function
    def dense(x: Any) -> Any:
        with tf.name_scope("dense"):
            return tf.nn.relu(tf.nn.bias_add(x @ module.kernel, module.bias))

    def serve(x: Any) -> Any:
        with tf.name_scope("convolution"):
            y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, module.filters, 2, "SAME"), module.bias))
        y = dense(tf.reduce_mean(y, [1, 2], name="pool"))
        y = tf.nn.softplus(dense(y * 2.0), name="softplus")
        return {"y": tf.nn.softmax(tf.matmul(y, module.last, name="logits"))}

    module.serve = tf.function(serve, input_signature=[tf.TensorSpec([None, 8, 8, 3], tf.float32, name="x")])
    return module, {"serving_default": module.serve}


def converted(tensorflow: TensorFlow, path: Path, converter: str, **options: Any) -> bytes:
    if converter == "litefuse":
        return litefuse.convert(path, **options).model_bytes
    content = tensorflow.stock_convert(path, **options)
    assert isinstance(content, bytes), content
    return content


def layers_of(verification: Verification) -> Layers:
    assert verification.layers is not None
    return verification.layers


CONVERTERS = pytest.mark.parametrize("converter", ["litefuse", "stock"])


@CONVERTERS
def test_a_right_model(tensorflow: TensorFlow, converter: str) -> None:
    path = tensorflow.save(network)
    # Of large numbers, the softplus of the stock converter is infinite.
    inputs = {"x": normal(4, 3, 8, 8, 3)}
    layers = layers_of(litefuse.verify_model(converted(tensorflow, path, converter), path, inputs=inputs, layers=True))
    assert layers.first is None
    assert not layers.problem
    found = {each.original for each in layers.compared}
    assert {"convolution/Relu", "pool", "dense/Relu", "softplus", "logits"} <= found
    assert [each.original for each in layers.compared].count("dense/Relu") == 2
    assert layers.compared[-1].output == "y"
    assert max(each.error or 0.0 for each in layers.compared) < 1e-5
    assert every(each.change == 0 for each in layers.layers)
    assert not [each for each in layers.layers if each.error is None and not each.problem]


@CONVERTERS
@pytest.mark.parametrize(
    ("op", "number", "name"),
    [("CONV_2D", 0, "convolution/Relu"), ("FULLY_CONNECTED", 0, "dense/Relu"), ("FULLY_CONNECTED", 2, "logits")],
)
def test_wrong_weights(tensorflow: TensorFlow, converter: str, op: str, number: int, name: str) -> None:
    path = tensorflow.save(network)
    wrong = with_wrong_weights(converted(tensorflow, path, converter), op, number)
    verification = litefuse.verify_model(wrong, path, layers=True)
    first = layers_of(verification).first
    assert not verification.ok
    assert first is not None
    assert (first.original, first.op, first.reaches, first.through) == (name, op, True, ())
    assert first.error is not None
    assert first.error > 0.01
    assert (first.dtype, first.original_dtype) == ("float32", "float32")
    before = layers_of(verification).layers[: layers_of(verification).layers.index(first)]
    assert not [each for each in before if each.error is not None and each.error >= 1e-5]
    assert f"first that differs  {name} ({op})" in str(verification)


@CONVERTERS
def test_a_fused_activation_that_is_lost(tensorflow: TensorFlow, converter: str) -> None:
    """The tensor has the value of another node that was fused, the last but one, and differs nevertheless."""
    path = tensorflow.save(network)
    wrong = without_activation(converted(tensorflow, path, converter), "FULLY_CONNECTED")
    first = layers_of(litefuse.verify_model(wrong, path, layers=True)).first
    assert first is not None
    assert first.original == "dense/Relu"


@CONVERTERS
def test_quantized(tensorflow: TensorFlow, converter: str) -> None:
    path = tensorflow.save(network)
    samples = [{"x": normal(seed, 1, 8, 8, 3)} for seed in range(16)]
    options: dict[str, Any] = {"quantize": litefuse.Quantization("int8", samples=samples)}
    if converter == "stock":
        content = tensorflow.call(stock_int8, str(path), [each["x"] for each in samples])
    else:
        content = converted(tensorflow, path, converter, **options)
    right = litefuse.verify_model(content, path, inputs=samples[:2], layers=True)
    assert right.verdict == "equal"
    explained = right.outputs[0].explained
    assert explained is not None
    assert right.error <= 3 * explained < 0.2
    assert layers_of(right).first is None
    integers = [each for each in layers_of(right).compared if each.dtype == "int8"]
    assert len(integers) >= 4
    assert every(each.original_dtype == "float32" for each in integers)
    assert every(1e-4 < (each.error or 0.0) < 0.2 for each in integers)
    step = layers_of(right).largest_step
    assert step is not None
    assert step.added == max(each.added or 0.0 for each in layers_of(right).compared)
    strict = litefuse.verify_model(content, path, inputs=samples[:2], max_error=1e-4, layers=True)
    assert strict.verdict == "differs"  # than what was asked for, by no layer's fault
    assert layers_of(strict).first is None
    wrong = with_wrong_weights(content, "FULLY_CONNECTED", 1)
    verification = litefuse.verify_model(wrong, path, inputs=samples[:2], layers=True)
    first = layers_of(verification).first
    assert first is not None
    assert verification.verdict == "differs"
    assert "explain" in first.fault
    assert (first.original, first.op) == ("dense/Relu", "FULLY_CONNECTED")


def stock_int8(tf: Any, path: str, samples: list[Any]) -> bytes:
    converter = tf.lite.TFLiteConverter.from_saved_model(path)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([each] for each in samples)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    return converter.convert()


def test_two_litert_models(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(network)
    before = converted(tensorflow, path, "stock")
    layers = layers_of(litefuse.verify_model(before, before, layers=True))
    assert len(layers.compared) == len(layers.layers)
    assert layers.first is None
    first = layers_of(litefuse.verify_model(with_wrong_weights(before, "CONV_2D"), before, layers=True)).first
    assert first is not None
    assert first.tensor.startswith("convolution/Relu;")
    assert first.name.startswith("convolution/Relu and ")


def test_a_difference_that_no_output_shows(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(network)
    wrong = with_wrong_weights(converted(tensorflow, path, "litefuse"), "CONV_2D")
    # No input, no effect: so it is of the bias alone, which is right.
    assert (
        layers_of(litefuse.verify_model(wrong, path, inputs={"x": np.zeros([1, 8, 8, 3])}, layers=True)).first is None
    )
    path = tensorflow.save(saturated)
    wrong = with_wrong_weights(converted(tensorflow, path, "litefuse"), "FULLY_CONNECTED")
    assert litefuse.verify_model(wrong, path).verdict == "differs"  # of tiny numbers
    inputs = [{"x": normal(seed, 1, 3)} for seed in (0, 1)]
    verification = litefuse.verify_model(wrong, path, inputs=inputs, layers=True)
    first = layers_of(verification).first
    assert verification.verdict == "inconclusive"  # the output stands still
    assert first is not None
    assert (first.original, first.reaches) == ("product", False)
    assert "no output differs by it" in str(verification)


def saturated(tf: Any) -> Any:
    module = tf.Module()
    kernel = np.array([[1e3, 2e3], [5e3, 7e3], [9e3, 4e3]], np.float32)
    module.serve = tf.function(
        lambda x: {"y": tf.tanh(tf.abs(tf.matmul(x, kernel, name="product")))},
        input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")],
    )
    return module, {"serving_default": module.serve}


def with_everything(tf: Any) -> Any:
    """State, strings, a table, a loop, a branch, ops with several results, none, and of a size that data decide."""
    module = tf.Module()
    module.total = tf.Variable(np.zeros([3], np.float32))
    module.kernel = tf.Variable(normal(0, 3, 3))
    keys, values = tf.constant(["a", "bb"]), tf.constant([1, 2], tf.int64)
    module.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), -1)

    def add(x: Any) -> Any:
        summed = module.total.assign_add(tf.reduce_sum(x, 0, name="sum"))
        parts = tf.split(tf.matmul(x, module.kernel, name="product"), 3, 1, name="parts")
        top = tf.math.top_k(x, 2, name="top")
        looped = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, tf.tanh(y @ module.kernel)), (0, x))[1]
        chosen = tf.cond(tf.reduce_sum(looped) > 0, lambda: looped * 2.0, lambda: looped - 1.0)
        positive = tf.boolean_mask(x, tf.reduce_all(x > 0.0, 1))
        return {
            "total": summed * 2.0,
            "part": parts[0] + parts[2],
            "top": top.values * 3.0,
            "places": top.indices + 1,
            "chosen": tf.exp(chosen),
            "positive": tf.nn.relu(positive) + 1.0,
        }

    def read(text: Any) -> Any:
        joined = tf.strings.join([text, "!"])
        return {"ids": module.table.lookup(text) + 1, "text": tf.strings.join([joined, joined])}

    module.add = tf.function(add, input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
    module.read = tf.function(read, input_signature=[tf.TensorSpec([None], tf.string, name="text")])
    return module, {"add": module.add, "read": module.read}


@CONVERTERS
def test_state_loops_and_several_results(tensorflow: TensorFlow, converter: str) -> None:
    path = tensorflow.save(with_everything)
    content = converted(tensorflow, path, converter, **({"signature_keys": ["add"]} if converter == "stock" else {}))
    inputs = [{"x": normal(seed, 4, 3)} for seed in range(2)]
    layers = layers_of(litefuse.verify_model(content, path, signatures=["add"], inputs=inputs, layers=True))
    assert layers.first is None
    assert {"sum", "product", "parts", "top"} <= {each.original for each in layers.compared}
    assert [each.op for each in layers.compared].count("SPLIT") == 3
    assert any(each.startswith("WHILE ") for each in layers.unseen)
    wrong = with_wrong_weights(content, "FULLY_CONNECTED")
    first = layers_of(litefuse.verify_model(wrong, path, signatures=["add"], inputs=inputs, layers=True)).first
    assert first is not None
    assert first.original == "product"


def test_strings(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(with_everything)
    texts = {"text": np.array([b"a", "Größe".encode(), b""])}
    layers = layers_of(
        litefuse.verify_model(litefuse.convert(path), path, signatures=["read"], inputs=texts, layers=True)
    )
    assert layers.first is None
    assert [each.dtype for each in layers.compared].count("string") == 2
    wrong = layers_of(
        litefuse.verify_model(
            litefuse.convert(path), tensorflow.save(other_text), inputs=texts, signatures=["read"], layers=True
        )
    )
    assert wrong.first is not None
    assert (wrong.first.original, wrong.first.original_dtype) == ("StringJoin", "string")
    assert wrong.first.error == 1.0


def other_text(tf: Any) -> Any:
    module = tf.Module()

    def read(text: Any) -> Any:
        joined = tf.strings.join([text, "?"])
        return {"ids": tf.strings.length(text), "text": tf.strings.join([joined, joined])}

    module.read = tf.function(read, input_signature=[tf.TensorSpec([None], tf.string, name="text")])
    return module, {"read": module.read}


def test_the_call_that_differs_most(tensorflow: TensorFlow) -> None:
    """Only the state of later calls is wrong: the layers are those of such a call, and the state is found."""
    path, other = tensorflow.save(adding, 2.0), tensorflow.save(adding, 3.0)
    verification = litefuse.verify_model(litefuse.convert(path), other, repeat=3, layers=True)
    layers = layers_of(verification)
    assert layers.call == max(verification.outputs, key=lambda each: each.error).call > 1
    assert layers.first is not None
    assert layers.first.original == "scaled"


def adding(tf: Any, factor: float) -> Any:
    module = tf.Module()
    module.total = tf.Variable(np.zeros([3], np.float32))

    def add(x: Any) -> Any:
        before = tf.multiply(module.total, factor, name="scaled")
        module.total.assign_add(tf.reduce_sum(tf.abs(x), 0))
        return {"y": before + 1.0}

    module.add = tf.function(add, input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
    return module, {"add": module.add}


def recurrent(tf: Any) -> Any:
    keras = tf.keras
    keras.utils.set_random_seed(2)
    inputs = keras.Input((6, 4))
    return keras.Model(inputs, keras.layers.Dense(3)(keras.layers.LSTM(5, return_sequences=True)(inputs)))


def test_a_fused_layer_without_a_name(tensorflow: TensorFlow) -> None:
    """A fused layer is named after no node: it is named beside the first tensor after it."""
    path = tensorflow.save(recurrent)
    wrong = with_wrong_weights(converted(tensorflow, path, "litefuse"), "UNIDIRECTIONAL_SEQUENCE_LSTM")
    verification = litefuse.verify_model(wrong, path, layers=True)
    first = layers_of(verification).first
    assert first is not None
    assert any(each.startswith("UNIDIRECTIONAL_SEQUENCE_LSTM") for each in first.through)
    assert "have no name in the original" in str(verification)
    assert "or before it" in str(verification)


@pytest.mark.parametrize("suffix", ["", ".pb"])
def test_models_of_tensorflow_1(tensorflow: TensorFlow, tmp_path: Path, suffix: str) -> None:
    tensorflow.call(convolutional, str(tmp_path / "model"), False, False)
    original = tmp_path / f"model{suffix}"
    inputs, outputs = (["net/x"], ["net/logits"]) if suffix else (None, None)
    content = litefuse.convert(original, graph=litefuse.Graph(inputs=inputs, outputs=outputs)).model_bytes
    assert layers_of(litefuse.verify_model(content, original, layers=True)).first is None
    wrong = layers_of(litefuse.verify_model(with_wrong_weights(content, "CONV_2D"), original, layers=True))
    assert wrong.first is not None
    assert wrong.first.op == "CONV_2D"


def control_flow_1(tf: Any, path: str) -> None:
    v1 = tf.compat.v1
    with v1.Graph().as_default(), v1.Session() as session:
        control_flow = v1.control_flow_v2_enabled()
        v1.disable_control_flow_v2()
        try:
            x = v1.placeholder(tf.float32, [None, 3], "x")
            y = tf.matmul(x, normal(1, 3, 3), name="product")
            y = v1.cond(tf.reduce_sum(y) > 0.0, lambda: tf.exp(y), lambda: y - 1.0)
            z = v1.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, tf.tanh(a)), [0, y])[1]
            z = tf.nn.softmax(tf.multiply(z, 3.0, name="scaled"), name="z")
            v1.saved_model.simple_save(session, path, {"x": x}, {"z": z})
        finally:
            if control_flow:
                v1.enable_control_flow_v2()


def test_loops_and_branches_of_tensorflow_1(tensorflow: TensorFlow, tmp_path: Path) -> None:
    """What is in them is computed a number of times, or not at all, and is not looked at."""
    path = tmp_path / "model"
    tensorflow.call(control_flow_1, str(path))
    layers = layers_of(litefuse.verify_model(litefuse.convert(path), path, layers=True))
    assert not layers.problem
    assert layers.first is None
    assert {"product", "scaled"} <= {each.original for each in layers.compared}


def test_in_many_runs(tensorflow: TensorFlow, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of large models, few tensors are looked at in one run, on both sides: the same is found."""
    path = tensorflow.save(with_everything)
    content = litefuse.convert(path).model_bytes
    tensorflow.call(set_limit, 100)

    def observe(target: str, job: ObservationJob, where: str, announce: Callable[[str], None]) -> Observation:
        assert target.endswith(":observe_model")
        assert where
        return model_values.observe_model(job, announce)

    monkeypatch.setattr("litefuse.conversion.verify.layers.comparison.run_model", observe)
    monkeypatch.setattr("litefuse.litert.runtime.custom_op._registered", {})  # which the job replaces, in this process
    monkeypatch.setattr(observed_copy, "_AT_ONCE", 100)
    inputs = [{"x": normal(seed, 4, 3)} for seed in range(2)]
    try:
        few = layers_of(litefuse.verify_model(content, path, signatures=["add"], inputs=inputs, layers=True))
    finally:
        tensorflow.call(set_limit, 2**29)
    monkeypatch.undo()
    assert len(few.compared) > 10
    assert few.first is None


def set_limit(tf: Any, limit: int) -> None:
    assert tf
    observed_copy._AT_ONCE = limit  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


def random_numbers(tf: Any) -> Any:
    module = tf.Module()
    module.serve = tf.function(
        lambda x: {"y": tf.exp(x) + tf.random.uniform([2, 3])},
        input_signature=[tf.TensorSpec([2, 3], tf.float32, name="x")],
    )
    return module, {"serving_default": module.serve}


def test_what_cannot_be_looked_at(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(network)
    content = converted(tensorflow, path, "litefuse")
    unnamed = litefuse.verify_model(without_names(content), path, layers=True)
    assert unnamed.ok
    assert layers_of(unnamed).problem == "The file has no names of tensors, by which they would be compared."
    assert layers_of(unnamed).problem in str(unnamed)
    moving = tensorflow.save(random_numbers)
    problem = layers_of(litefuse.verify_model(litefuse.convert(moving), moving, layers=True)).problem
    assert "random numbers" in problem
    with pytest.raises(LitefuseError, match="comparing layers requires an original"):
        litefuse.verify_model(content, inputs={"x": normal(0, 1, 8, 8, 3)}, expected={}, layers=True)
    assert litefuse.verify_model(content, path).layers is None


def test_the_command(tensorflow: TensorFlow, tmp_path: Path) -> None:
    path, model = tensorflow.save(network), tmp_path / "model.tflite"
    model.write_bytes(with_wrong_weights(converted(tensorflow, path, "litefuse"), "CONV_2D"))
    done = CliRunner().invoke(app, ["verify", str(model), str(path), "--layers"])
    assert done.exit_code == 1
    assert "first that differs  convolution/Relu (CONV_2D)" in done.stdout
    layers = json.loads(CliRunner().invoke(app, ["verify", str(model), str(path), "--layers", "--json"]).stdout)[
        "layers"
    ]
    assert layers["first"]["original"] == "convolution/Relu"
    assert layers["first"]["shape"][1:] == [4, 4, 4]
    assert layers["compared"] == sum(each["error"] is not None for each in layers["layers"])
    assert layers["tensors"] == len(layers["layers"])
    files = ["--inputs", "x.npz", "--expected", "y.npz", "--layers"]
    assert CliRunner().invoke(app, ["verify", str(model), *files]).exit_code == 2
