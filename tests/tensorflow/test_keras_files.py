# pyright: reportUnknownLambdaType=false
"""Files of Keras's: what reads them runs in the TensorFlow process, and once in a process of its own."""

from __future__ import annotations

import json
import sys
import tempfile
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


def load_file(tf: Any, path: str, folder: str) -> str:
    """What reads a file in a process of its own, in this one: the text of its error, if it ends in one."""
    try:
        write_saved_model_of(KerasFileJob(Path(path), Path(folder)), lambda _: None)
    except LitefuseError as error:
        return str(error)
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
