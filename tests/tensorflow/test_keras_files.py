# pyright: reportUnknownLambdaType=false
"""Files of Keras's: what reads them runs in the TensorFlow process, and once in a process of its own."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

import litefuse
from litefuse.errors import LitefuseError
from litefuse.frontends.keras_file import KerasFileJob
from litefuse.frontends.keras_loader import write_saved_model_of
from litefuse.tools.cli.app import app
from tests.tensorflow.checking import difference, run_calls
from tests.tensorflow.live_models import keras_of, randomize
from tests.tensorflow.process import FORBIDDEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.tensorflow.process import TensorFlow


def save_file(tf: Any, path: str, package: str, kind: str) -> dict[str, Any]:
    """Write a file of Keras's, and return what its model computes of ``ones``."""
    keras = keras_of(tf, package)
    layers = keras.layers

    class Own(layers.Layer):
        def call(self, inputs: Any) -> Any:
            return inputs * 2.0

    extra = {"own": [Own()], "lambda": [layers.Lambda(lambda x: x + 1)]}.get(kind, [])
    model = keras.Sequential([keras.Input((4,), name="x"), layers.Dense(3, activation="relu"), *extra])
    randomize(model)
    if kind == "weights":
        model.save_weights(path)
    elif kind == "compiled":
        model.compile(optimizer="adam", loss="mse")
        model.save(path)
    else:
        model.save(path)
    return {"output_0": np.asarray(model(np.ones((2, 4), np.float32))), "input": model.inputs[0].name}


def load_file(tf: Any, path: str, folder: str, code: tuple[str, ...] = ()) -> str:
    """What reads a file in a process of its own, in this one: the text of its error, if it ends in one."""
    aliases = sys.modules.get("tensorflow.keras"), tf.keras
    try:
        write_saved_model_of(KerasFileJob(Path(path), Path(folder), code), lambda _: None)
    except LitefuseError as error:
        return str(error)
    finally:
        sys.modules.pop("tensorflow.keras", None)
        tf.keras = aliases[1]
        if aliases[0] is not None:
            sys.modules["tensorflow.keras"] = aliases[0]
    return ""


@pytest.mark.parametrize("package", ["keras", "tf_keras"])
@pytest.mark.parametrize("suffix", [".keras", ".h5"])
def test_files(tensorflow: TensorFlow, tmp_path: Path, package: str, suffix: str) -> None:
    path, folder = tmp_path / f"model{suffix}", tmp_path / "folder"
    expected = tensorflow.call(save_file, str(path), package, "compiled")
    assert tensorflow.call(load_file, str(path), str(folder)) == ""
    inputs = {expected["input"]: np.ones((2, 4), np.float32)}
    actual = run_calls(litefuse.convert(folder).model_bytes, [("serving_default", inputs)])
    assert difference(actual[0]["output_0"], expected["output_0"], rtol=1e-5) == ""


@pytest.mark.parametrize(
    ("package", "suffix", "kind", "words"),
    [
        (
            "keras",
            ".keras",
            "own",
            ["Own", "keras.models.load_model", "litefuse.convert()"],
        ),
        ("keras", ".h5", "own", ["Own', which Keras lacks", "litefuse.convert()"]),
        ("tf_keras", ".keras", "own", ["Own", "tf_keras.models.load_model"]),
        ("keras", ".keras", "lambda", ["brings Python code along", "If you trust it"]),
        ("keras", ".h5", "lambda", ["brings Python code along"]),
        ("tf_keras", ".keras", "lambda", ["brings Python code along"]),
        ("tf_keras", ".h5", "lambda", ["brings Python code along"]),
        ("keras", ".weights.h5", "weights", ["perhaps it has only weights"]),
    ],
)
def test_files_that_cannot_be_read(
    tensorflow: TensorFlow, tmp_path: Path, package: str, suffix: str, kind: str, words: Sequence[str]
) -> None:
    path, folder = tmp_path / f"model{suffix}", tmp_path / "folder"
    tensorflow.call(save_file, str(path), package, kind)
    text = tensorflow.call(load_file, str(path), str(folder))
    for word in [str(path), *words]:
        assert word in text
    assert not folder.exists()


OWN_LAYERS = """
from {package} import layers, utils
from own_parts import half

@utils.register_keras_serializable("Mine")
class Shift(layers.Layer):
    def __init__(self, by=1.0, **others):
        super().__init__(**others)
        self.by = by
    def call(self, inputs):
        return inputs + self.by
    def get_config(self):
        return {{**super().get_config(), "by": self.by}}

class Gain(layers.Layer):
    def build(self, shape):
        self.gain = self.add_weight(name="gain", shape=(shape[-1],), initializer="ones")
    def call(self, inputs):
        return half(inputs) * self.gain

def relu(x):  # not Keras's
    return x - 5.0

def squash(x):
    return x * x
"""


def save_with_own_layers(tf: Any, path: str, package: str, code: str) -> dict[str, Any]:
    keras = keras_of(tf, package)
    sys.path.append(str(Path(code).parent))
    own = importlib.import_module(Path(code).stem)
    activation = "relu" if package == "tf_keras" and path.endswith(".h5") else own.squash  # it cannot read that
    layers = [keras.layers.Dense(3, activation=activation), own.Shift(0.5), keras.layers.ReLU(), own.Gain()]
    model = keras.Sequential([keras.Input((4,), name="x"), *layers])
    randomize(model)
    model.save(path)
    sys.path.remove(str(Path(code).parent))
    del sys.modules[Path(code).stem]
    keras.utils.get_custom_objects().pop("Mine>Shift")
    return {"output_0": np.asarray(model(np.ones((2, 4), np.float32))), "input": model.inputs[0].name}


def own_layers(folder: Path, package: str) -> Path:
    (folder / "own_parts.py").write_text("def half(x):\n    return x / 2.0\n")
    code = folder / f"own_layers_{package.replace('.', '_')}.py"
    code.write_text(OWN_LAYERS.format(package=package))
    return code


@pytest.mark.parametrize(("package", "imported"), [("keras", "keras"), ("tf_keras", "tensorflow.keras")])
@pytest.mark.parametrize("suffix", [".keras", ".h5"])
def test_own_layers(tensorflow: TensorFlow, tmp_path: Path, package: str, imported: str, suffix: str) -> None:
    path, folder = tmp_path / f"model{suffix}", tmp_path / "folder"
    expected = tensorflow.call(save_with_own_layers, str(path), package, str(own_layers(tmp_path, package)))
    code = own_layers(tmp_path, imported)
    text = tensorflow.call(load_file, str(path), str(folder), (str(tmp_path / "own_parts.py"),))
    assert "--plug-in FILE.py" in text
    assert "Shift" in text or "squash" in text
    assert tensorflow.call(load_file, str(path), str(folder), (str(code),)) == ""
    inputs = {expected["input"]: np.ones((2, 4), np.float32)}
    actual = run_calls(litefuse.convert(folder).model_bytes, [("serving_default", inputs)])
    assert difference(actual[0]["output_0"], expected["output_0"], rtol=1e-5) == ""


def name_what_code_imports(tf: Any, path: str, function: str) -> None:
    """Makes the file say that its activation is a function of the code that the user names."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    config = json.loads(members["config.json"])
    activation = {"module": "own", "class_name": "function", "config": function, "registered_name": function}
    config["config"]["layers"][1]["config"]["activation"] = activation
    members["config.json"] = json.dumps(config).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


@pytest.mark.parametrize(("kind", "function"), [("lambda", ""), ("compiled", "copyfile"), ("compiled", "exec")])
def test_named_code_lends_a_file_nothing_else(tensorflow: TensorFlow, tmp_path: Path, kind: str, function: str) -> None:
    path, folder = tmp_path / "model.keras", tmp_path / "folder"
    tensorflow.call(save_file, str(path), "keras", kind)
    if function:
        tensorflow.call(name_what_code_imports, str(path), function)
    code = tmp_path / "own.py"
    code.write_text("from shutil import copyfile\nimport keras\n\nclass Own(keras.layers.Layer):\n    pass\n")
    text = tensorflow.call(load_file, str(path), str(folder), (str(code),))
    assert ("brings Python code along" if kind == "lambda" else f"own.{function}") in text
    assert not folder.exists()


def test_own_layers_on_the_command_line(tensorflow: TensorFlow, tmp_path: Path) -> None:
    """In processes of their own, since importing the code loads TensorFlow: its lines are not shown."""
    code = own_layers(tmp_path, "keras")
    tensorflow.call(save_with_own_layers, str(tmp_path / "own.keras"), "keras", str(code))
    for command in (["convert", "own.keras"], ["verify", "own.tflite", "own.keras"]):
        program = [sys.executable, "-m", "litefuse", *command, "--plug-in", code.name]
        done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        if command[0] == "convert":
            assert f"litefuse verify own.tflite own.keras --plug-in {code.name}" in done.stdout


def test_a_file_is_read_in_another_process(tensorflow: TensorFlow, tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "digits.keras"
    expected = tensorflow.call(save_file, str(path), "keras", "compiled")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(work))
    monkeypatch.chdir(work)
    outcome = CliRunner().invoke(app, ["convert", str(path), "--json"])
    assert outcome.exit_code == 0, outcome.output
    assert json.loads(outcome.stdout)["source"] == str(path)
    assert not FORBIDDEN & sys.modules.keys()
    assert [each.name for each in work.iterdir()] == ["digits.tflite"]
    inputs = {expected["input"]: np.ones((2, 4), np.float32)}
    actual = run_calls((work / "digits.tflite").read_bytes(), [("serving_default", inputs)])
    assert difference(actual[0]["output_0"], expected["output_0"], rtol=1e-5) == ""
