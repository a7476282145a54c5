"""Files of Keras's that would run code or read other files: refused, with nothing run or read.

Each is loaded by Keras itself as well, as far as Keras lets it be: that what it tries happens then shows that the
refusal is what it does not happen for.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.hostile_keras_files import CREATING, READING, write_archive, write_hdf5, write_reading
from tests.tensorflow.live_models import keras_of
from tests.tensorflow.test_keras_files import load_file

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

VERSIONS = {"keras": "3.8.0", "tf_keras": "2.15.0"}


def attack(tf: Any, kind: str, path: str, canary: str) -> tuple[str, bool, bool]:
    """The error that a file is refused with, whether it did what it tries, and whether it does without the refusal."""
    package, suffix, make = CREATING[kind]
    file, planted = Path(path + suffix), Path(canary)
    write = write_archive if suffix == ".keras" else write_hdf5
    write(file, make(planted), VERSIONS[package])
    error = load_file(tf, str(file), path + " folder")
    fired = planted.exists()
    keras = keras_of(tf, package)
    with contextlib.suppress(Exception):  # what it does has been done by then
        keras.models.load_model(file, compile=False, safe_mode=False)
    with contextlib.suppress(Exception):  # where it is done only when the layer is asked for something
        model = keras.saving.deserialize_keras_object(make(planted), safe_mode=False)
        model.get_layer("attack").compute_output_shape((None, 2))
    return error, fired, planted.exists()


@pytest.mark.parametrize("kind", CREATING)
def test_no_code_of_a_file_runs(tensorflow: TensorFlow, tmp_path: Path, kind: str) -> None:
    error, fired, fires = tensorflow.call(attack, kind, str(tmp_path / "model"), str(tmp_path / "canary"))
    assert not fired
    assert fires
    assert "attack" in error
    assert "If you trust it: Load the model in Python with" in error
    assert not (tmp_path / "model folder").exists()


def read_secret(tf: Any, package: str, suffix: str, how: str, path: str) -> tuple[str, bool]:
    """The error that a file is refused with, and whether Keras itself reads the other file."""
    keras = keras_of(tf, package)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])
    file = Path(path + suffix)
    write_reading(model, file, file.with_name("secret.h5"), how)
    error = load_file(tf, str(file), path + " folder")
    try:
        kernel: Any = keras.models.load_model(file, compile=False).weights[0]
    except Exception:  # noqa: BLE001 - Keras 3 refuses it as well
        return error, False
    return error, bool(np.all(np.asarray(kernel) == 42))


@pytest.mark.parametrize("how", READING)
@pytest.mark.parametrize("package", ["keras", "tf_keras"])
@pytest.mark.parametrize("suffix", [".keras", ".h5"])
def test_no_other_file_is_read(tensorflow: TensorFlow, tmp_path: Path, package: str, suffix: str, how: str) -> None:
    error, reads = tensorflow.call(read_secret, package, suffix, how, str(tmp_path / "model"))
    assert "which Keras does not write and which is not read" in error
    assert str(tmp_path / f"model{suffix}") in error
    if (package, how) == ("tf_keras", "array"):  # what Keras 2 does read, as it opens files
        assert reads


def read_vocabulary(tf: Any, package: str, path: str, secret: str) -> tuple[str, str]:
    keras = keras_of(tf, package)
    file = Path(path)
    Path(secret).write_text("secret\n")
    lookup = keras.layers.StringLookup(name="attack", vocabulary=["a", "b"])
    keras.Sequential([keras.Input((1,), dtype="string"), lookup]).save(file)
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    config = json.loads(members["config.json"])
    config["config"]["layers"][-1]["config"]["vocabulary"] = secret
    members = {name: content for name, content in members.items() if not name.startswith("assets")}
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in (members | {"config.json": json.dumps(config).encode()}).items():
            archive.writestr(name, content)
    error = load_file(tf, path, path + " folder")
    loaded = keras.models.load_model(file, compile=False, safe_mode=False)
    return error, loaded.layers[-1].get_vocabulary()[-1]


@pytest.mark.parametrize("package", ["keras", "tf_keras"])
def test_no_vocabulary_is_read_from_elsewhere(tensorflow: TensorFlow, tmp_path: Path, package: str) -> None:
    secret = tmp_path / "secret.txt"
    error, read = tensorflow.call(read_vocabulary, package, str(tmp_path / "model.keras"), str(secret))
    assert f"'attack' (StringLookup) reads its 'vocabulary' from another file, {str(secret)!r}" in error
    assert read == "secret"


def load_two_in_one(tf: Any, path: str, canary: str) -> tuple[str, bool, bool]:
    """An HDF5 file with code, with an archive without any behind it; its name lets litefuse take it for the latter."""
    _, _, make = CREATING["the function of a layer"]
    file, harmless = Path(path), Path(path).with_name("harmless.keras")
    keras = keras_of(tf, "tf_keras")
    keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)]).save(harmless)
    write_hdf5(file, make(Path(canary)), VERSIONS["tf_keras"])
    file.write_bytes(file.read_bytes() + harmless.read_bytes())
    error = load_file(tf, path, path + " folder")
    fired = Path(canary).exists()
    with contextlib.suppress(Exception):  # there are no weights for it
        keras.models.load_model(path, compile=False)
    return error, fired, Path(canary).exists()


def test_a_file_is_read_as_the_kind_that_was_looked_at(tensorflow: TensorFlow, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    error, fired, fires = tensorflow.call(load_two_in_one, str(tmp_path / "model.KERAS"), str(canary))
    assert (error, fired, fires) == ("", False, True)
    assert (tmp_path / "model.KERAS folder" / "saved_model.pb").exists()


def load_with_old_keras(tf: Any, path: str, version: str) -> str:
    keras = keras_of(tf, "keras")
    keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)]).save(path)
    module: Any = importlib.import_module("keras")
    kept = module.__version__
    module.__version__ = version
    try:
        return load_file(tf, path, path + " folder")
    finally:
        module.__version__ = kept


@pytest.mark.parametrize(
    ("version", "is_taken"),
    [("3.8.0", False), ("3.12.3", False), ("3.12.4", True), ("3.13.2", False), ("3.15.0", False), ("3.16.0", True)],
)
def test_the_release_of_keras(tensorflow: TensorFlow, tmp_path: Path, version: str, is_taken: bool) -> None:
    error = tensorflow.call(load_with_old_keras, str(tmp_path / "model.keras"), version)
    if is_taken:
        assert error == ""
    else:
        assert f"Keras {version} is not safe to read files with: it takes 3.12.4 or a later 3.12, or 3.15.1" in error
        assert "pip install --upgrade" in error
