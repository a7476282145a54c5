# pyright: reportUnknownLambdaType=false
"""Models against the originals; what calls these runs in the TensorFlow process, and once in one of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

import litefuse
from litefuse.conversion.verify.original import OriginalJob, call_original
from litefuse.errors import InterpreterError, LitefuseError
from litefuse.tools.cli.app import app
from tests.tensorflow.live_models import keras_of, randomize
from tests.tensorflow.test_tensorflow_1 import convolutional

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow


def counting(tf: Any, scale: float = 2.0) -> Any:
    module = tf.Module()
    module.total = tf.Variable(np.full([3], 0.5, np.float32))
    module.kernel = tf.Variable(np.random.default_rng(0).standard_normal([4, 3]).astype(np.float32) * scale)

    def add(x: Any) -> Any:
        y = x @ module.kernel
        module.total.assign_add(tf.reduce_sum(y, 0))
        return {"y": y, "total": module.total.read_value()}

    module.add = tf.function(add, input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")])
    module.read = tf.function(lambda: {"total": module.total + 1.0}, input_signature=[])
    return module, {"add": module.add, "read": module.read}


def test_signatures_that_share_state(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(counting)
    result = litefuse.convert(path)
    verification = litefuse.verify_model(result, path)
    assert verification.ok
    assert verification.calls == 8 + 16  # two signatures, twice each, of two batch sizes, then kinds of numbers
    assert {(each.signature, each.name) for each in verification.outputs} == {
        ("add", "y"),
        ("add", "total"),
        ("read", "total"),
    }
    assert verification.error < 1e-6
    assert "add        y       float32" in str(verification)


def test_other_names(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(counting)
    result = litefuse.convert(path, rename={"x": "image", "add:total": "sum"})
    verification = litefuse.verify_model(result, path, layers=True)
    assert verification.ok
    assert {(each.signature, each.name) for each in verification.outputs} == {
        ("add", "y"),
        ("add", "sum"),
        ("read", "total"),
    }


def test_another_model(tensorflow: TensorFlow, tmp_path: Path) -> None:
    model = litefuse.convert(tensorflow.save(counting)).save(tmp_path / "model.tflite")
    verification = litefuse.verify_model(model, tensorflow.save(counting, 2.1), signatures=["add"], repeat=1)
    errors = {each.name: each.error for each in verification.outputs}
    assert not verification.ok
    assert errors["y"] == pytest.approx(0.1 / 2.1, rel=1e-3)
    assert "2 outputs of 2 differ by more than 0.0001." in str(verification)
    loose = litefuse.verify_model(model, tensorflow.save(counting, 2.1), signatures=["add"], repeat=1, max_error=0.2)
    assert loose.ok


@pytest.mark.parametrize("suffix", ["", ".pb", ".pbtxt"])
def test_models_of_tensorflow_1(tensorflow: TensorFlow, tmp_path: Path, suffix: str) -> None:
    tensorflow.call(convolutional, str(tmp_path / "model"), False, False)
    original = tmp_path / f"model{suffix}"
    inputs, outputs = (["net/x"], ["net/logits"]) if suffix else (None, None)
    verification = litefuse.verify_model(
        litefuse.convert(original, graph=litefuse.Graph(inputs=inputs, outputs=outputs)), original
    )
    assert verification.ok
    assert verification.calls == 18
    assert verification.error < 1e-5
    assert {each.name for each in verification.outputs} == set(outputs or ["logits", "scaled"])


def dense(tf: Any, dtype: str = "float32") -> Any:
    random = np.random.default_rng(3)
    module = tf.Module()
    module.kernel = tf.Variable(random.standard_normal([16, 8]).astype(dtype))
    spec = [tf.TensorSpec([None, 16], dtype, name="x")]
    module.serve = tf.function(lambda x: {"y": tf.nn.tanh(x @ module.kernel)}, input_signature=spec)
    return module, {"serving_default": module.serve}


def test_inputs_and_outputs_that_are_quantized(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(dense)
    samples = [{"x": np.random.default_rng(i).standard_normal([8, 16]).astype(np.float32)} for i in range(16)]
    result = litefuse.convert(path, quantize=litefuse.Quantization("int8", samples=samples, io=True))
    verification = litefuse.verify_model(result, path, inputs=samples, max_error=0.2)
    assert verification.calls == 32
    assert 1e-4 < verification.error < 0.2
    assert verification.ok


def test_two_litert_models(tensorflow: TensorFlow, tmp_path: Path) -> None:
    path = tensorflow.save(dense)
    before, after = litefuse.convert(path), litefuse.convert(path, quantize="weights")
    assert litefuse.verify_model(before, before).error == 0
    verification = litefuse.verify_model(after, before.save(tmp_path / "before.tflite"), max_error=0.1)
    assert verification.ok
    assert verification.error > 1e-4
    assert verification.original == str(tmp_path / "before.tflite")
    with pytest.raises(InterpreterError, match="no signature 'add'"):
        litefuse.verify_model(litefuse.convert(tensorflow.save(counting)), before)


def test_narrowed(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(dense, "float64")
    verification = litefuse.verify_model(litefuse.convert(path, dtypes="narrow"), path)
    assert verification.ok
    assert verification.error > 1e-9


def texts(tf: Any) -> Any:
    module = tf.Module()
    spec = [tf.TensorSpec([None], tf.string, name="text"), tf.TensorSpec([None], tf.int64, name="row")]
    module.table = tf.constant(np.arange(2, dtype=np.float32) + 1)
    module.serve = tf.function(
        lambda text, row: {"joined": tf.strings.join([text, text]), "value": tf.gather(module.table, row)},
        input_signature=spec,
    )
    return module, {"serving_default": module.serve}


def test_texts_and_positions(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(texts)
    result = litefuse.convert(path)
    verification = litefuse.verify_model(result, path)
    assert verification.ok
    assert [each.dtype for each in verification.outputs if each.name == "joined"] == ["string"]
    inputs = {"text": ["a", "b"], "row": [1, 0]}
    right = {"joined": np.array([b"aa", b"bb"]), "value": np.array([2.0, 1.0], np.float32)}
    assert litefuse.verify_model(result, inputs=inputs, expected=right).ok
    verification = litefuse.verify_model(result, inputs=inputs, expected={**right, "value": [2.0, 2.0], "more": [1]})
    assert [each.name for each in verification.outputs if not verification.accepts(each)] == ["value", "more"]
    assert "only the original has it, not the model" in str(verification)


def convolution(tf: Any) -> Any:
    module = tf.Module()
    module.kernel = tf.Variable(np.random.default_rng(1).standard_normal([9, 9, 1, 2]).astype(np.float32))
    spec = [tf.TensorSpec([None, None, None, 1], tf.float32, name="image")]
    module.serve = tf.function(
        lambda image: {"y": tf.nn.conv2d(image, module.kernel, 2, "VALID")}, input_signature=spec
    )
    return module, {"serving_default": module.serve}


def test_open_sizes_that_must_not_be_small(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(convolution)
    result = litefuse.convert(path)
    (output,) = litefuse.verify_model(result, path).outputs
    assert output.shape[1:] == (12, 12, 2)  # of images of 32
    verification = litefuse.verify_model(result, path, shapes={"image": (2, 20, 30, 1)})
    assert verification.ok
    assert verification.outputs[0].shape == (2, 6, 11, 2)
    assert verification.calls == 2 + 12


def test_a_file_of_keras_in_processes_of_their_own(
    tensorflow: TensorFlow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    file, model = tmp_path / "model.keras", tmp_path / "model.tflite"
    tensorflow.call(save_keras, str(file))
    litefuse.convert(file).save(model)
    done = CliRunner().invoke(app, ["verify", str(model), str(file), "--json"])
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["ok"]
    assert found["original"] == str(file)
    assert found["calls"] == 18


def save_keras(tf: Any, path: str) -> None:
    keras = keras_of(tf, "keras")
    model = keras.Sequential([keras.Input((6, 4)), keras.layers.LSTM(5), keras.layers.Dense(3)])
    randomize(model)
    model.save(path)


def test_the_command_fails_where_outputs_differ(tensorflow: TensorFlow, tmp_path: Path) -> None:
    model = litefuse.convert(tensorflow.save(dense)).save(tmp_path / "model.tflite")
    x = np.ones([2, 16], np.float32)
    np.savez(tmp_path / "inputs.npz", x=x)
    np.savez(tmp_path / "expected.npz", y=np.zeros([2, 8], np.float32))
    files = ["--inputs", str(tmp_path / "inputs.npz"), "--expected", str(tmp_path / "expected.npz")]
    done = CliRunner().invoke(app, ["verify", str(model), *files])
    assert done.exit_code == 1
    assert "1 output of 1 differ" in done.stdout
    for wrong in ([], [str(tmp_path), *files[2:]], files[2:], [*files, "--seed", "1"]):
        assert CliRunner().invoke(app, ["verify", str(model), *wrong]).exit_code == 2


def test_what_cannot_be_compared(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(dense)
    result = litefuse.convert(path)
    with pytest.raises(LitefuseError, match="has no signature 'serving_default'"):
        litefuse.verify_model(result, tensorflow.save(counting))
    with pytest.raises(InterpreterError, match="the model has no signature 'other'"):
        litefuse.verify_model(result, path, signatures=["other"])
    with pytest.raises(InterpreterError, match="has no input 'z'"):
        litefuse.verify_model(result, path, shapes={"z": (1, 16)})
    with pytest.raises(InterpreterError, match="the inputs lack x"):
        litefuse.verify_model(result, path, inputs={})
    with pytest.raises(LitefuseError, match="either the original model or the expected outputs"):
        litefuse.verify_model(result)
    with pytest.raises(LitefuseError, match=r"the folder holds no saved_model\.pb"):
        litefuse.verify_model(result, path / "assets")
    with pytest.raises(LitefuseError, match="TensorFlow does not load it"):
        litefuse.verify_model(result, path / "assets", allow_side_effects=True)
    with pytest.raises(LitefuseError, match="no such file or folder"):
        litefuse.verify_model(result, path / "nothing")
    two = litefuse.convert(tensorflow.save(counting))
    with pytest.raises(LitefuseError, match="inputs are for one signature"):
        litefuse.verify_model(two, path, inputs={"x": np.ones([1, 4], np.float32)})


def test_without_tensorflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def find_nothing(name: str) -> None:
        assert name == "tensorflow"

    monkeypatch.setattr("importlib.util.find_spec", find_nothing)
    with pytest.raises(LitefuseError, match="which is not installed") as caught:
        call_original(OriginalJob(tmp_path, None, (), {}), lambda _: None)
    assert "--expected" in caught.value.hint
