"""Which source an object is, without the libraries that objects come from: they are told by what is loaded already."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import LitefuseError
from litefuse.frontends.signature import named_outputs
from litefuse.frontends.source import Source
from litefuse.frontends.source_of import source_of
from litefuse.frontends.writer import describe_error
from litefuse.tools.demo import SAVED_MODEL


def of_package(name: str, kind: str) -> Any:
    """An object of a class that another package defines."""
    return type(kind, (), {"__module__": name})()


def test_a_folder_is_its_own_source() -> None:
    source = source_of(str(SAVED_MODEL))
    assert (source.name, source.path, source.write) == (str(SAVED_MODEL), SAVED_MODEL, None)
    assert source_of(Path("model")).path == Path("model").absolute()


@pytest.mark.parametrize("name", ["model.keras", "model.H5", "model.hdf5"])
def test_a_file_of_keras_is_told_by_its_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with pytest.raises(LitefuseError, match="no such file"):
        source_of(path)
    os.mkfifo(path)  # to read it would be to wait
    with pytest.raises(LitefuseError, match="not a file"):
        source_of(path)
    path.unlink()
    path.touch()
    source = source_of(path)
    assert source.name == str(path)
    assert source.path is None
    assert source.write is not None


def test_a_folder_may_be_called_like_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "model.keras"
    folder.mkdir()
    assert source_of(folder).path == folder


class Unconvertible:
    pass


def plain(x: int) -> int:
    return x


def of_two(a: Any, b: Any, *, scale: Any, bias: Any = 0) -> Any:
    return a @ b * scale + bias


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Unconvertible(), ["an Unconvertible cannot be converted", "model.export(folder)"]),
        (Unconvertible, ["the class Unconvertible", "an instance"]),
        (plain, ["the Python function plain", "tf.function("]),
        (np.zeros(3), ["a ndarray", "the model that the array belongs to"]),
        (b"TFL3", ["a bytes"]),
        (None, ["a NoneType"]),
        (of_package("torch.nn.modules.linear", "Linear"), ["a Linear", "litert-torch"]),
        (of_package("flax.linen.module", "Dense"), ["a Dense", "jax.export.export("]),
        (of_package("jaxlib._jax", "ArrayImpl"), ["an ArrayImpl", "jax.export.export("]),
        (of_package("tensorflow.python.framework.ops", "Graph"), ["a Graph", "tf.function with an input signature"]),
    ],
)
def test_anything_else_is_refused_with_what_to_do(model: Any, words: list[str]) -> None:
    with pytest.raises(LitefuseError) as caught:
        litefuse.convert(model)
    for word in [*words, "litefuse takes the folder of a SavedModel"]:
        assert word in str(caught.value)


@pytest.mark.parametrize("arguments", [(), (np.zeros(3),), (np.zeros(3), np.zeros(3)), ("int8", np.zeros(3))])
def test_a_function_gets_an_example_with_as_many_inputs_as_it_has(arguments: tuple[Any, ...]) -> None:
    convert: Any = litefuse.convert
    with pytest.raises(LitefuseError, match="the Python function of_two") as caught:
        convert(of_two, *arguments)
    shape = "jax.ShapeDtypeStruct((3, 4), 'float32')"
    assert f"jax.jit(f))({shape}, {shape}, scale={shape}))" in caught.value.hint
    assert caught.value.hint.count("tf.TensorSpec([None, 4], tf.float32)") == 3


def keras_with(monkeypatch: pytest.MonkeyPatch, backend: str) -> Any:
    """A package like Keras 3, with nothing but its classes and its backend."""
    keras: Any = ModuleType("keras")
    keras.__version__ = "3.8.0"
    layers: Any = ModuleType("keras.layers")
    config: Any = ModuleType("keras.config")
    keras.layers, keras.config = layers, config
    layers.Layer = type("Layer", (), {"__module__": "keras.src.layers", "name": "fake", "built": True})
    keras.Model = type("Model", (layers.Layer,), {"__module__": "keras.src.models"})
    config.backend = lambda: backend
    monkeypatch.setitem(sys.modules, "keras", keras)
    return keras


def test_a_model_of_another_backend_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    keras = keras_with(monkeypatch, "torch")
    with pytest.raises(LitefuseError, match=r"(?s)keras\.Model 'fake': .*'torch'.*litefuse\.convert\('model\.keras'\)"):
        litefuse.convert(keras.Model())


def test_a_model_that_is_not_built_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    keras = keras_with(monkeypatch, "tensorflow")
    keras.Model.built = False
    with pytest.raises(LitefuseError, match=r"(?s)has not been built.*keras\.Input"):
        litefuse.convert(keras.Model())


def test_a_layer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    keras = keras_with(monkeypatch, "tensorflow")
    with pytest.raises(LitefuseError, match=r"(?s)a layer, not a model.*keras\.Sequential\("):
        litefuse.convert(keras.layers.Layer())


def test_keras_that_is_still_being_imported_recognizes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keras", ModuleType("keras"))
    with pytest.raises(LitefuseError, match="an Unconvertible cannot be converted"):
        litefuse.convert(Unconvertible())


def test_what_was_written_is_there_as_long_as_the_context_lasts(tmp_path: Path) -> None:
    def write(folder: Path) -> None:
        folder.mkdir()
        (folder / "saved_model.pb").touch()

    steps: list[str] = []
    folder = tmp_path / "written"
    source = Source("a model", write=write)
    assert source.folder(folder) == folder
    with source.opened(folder, steps.append):
        assert (folder / "saved_model.pb").exists()
    assert steps == ["export"]
    assert list(tmp_path.iterdir()) == []


def test_errors_name_the_source_and_leave_nothing(tmp_path: Path) -> None:
    def write(folder: Path) -> None:
        folder.mkdir()

    folder = tmp_path / "written"
    with pytest.raises(LitefuseError) as caught, Source("a model", write=write).opened(folder, lambda _: None):
        raise LitefuseError(f"{folder}/x is bad", where=str(folder), hint=f"Look at {folder}.")
    assert str(caught.value) == "a model: a model/x is bad\nLook at a model."
    assert list(tmp_path.iterdir()) == []

    def fail(folder: Path) -> None:
        folder.mkdir()
        raise LitefuseError("no")

    with (
        pytest.raises(LitefuseError, match="a model: no"),
        Source("a model", write=fail).opened(folder, lambda _: None),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_the_report_names_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    def write(folder: Path) -> None:
        import shutil

        shutil.copytree(SAVED_MODEL, folder)

    monkeypatch.setattr("litefuse.conversion.api.source_of", lambda _: Source("a demo", write=write))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    result = litefuse.convert("any")
    assert result.report.source == "a demo"
    assert repr(result).startswith("<litefuse.ConversionResult of a demo: ")
    with pytest.raises(LitefuseError) as caught:
        litefuse.convert("any", signatures=["none"])
    assert caught.value.where == "a demo"


def test_names_of_outputs() -> None:
    assert named_outputs(1) == {"output_0": 1}
    assert named_outputs([1, (2, 3)]) == {"output_0": 1, "output_1_0": 2, "output_1_1": 3}
    assert named_outputs({"a": 1, "b": {"c": [2, None]}}) == {"a": 1, "b_c_0": 2}
    assert named_outputs({0: 1}) == {"output_0": 1}
    with pytest.raises(LitefuseError, match="two outputs are named 'a_b'"):
        named_outputs({"a": {"b": 1}, "a_b": 2})
    with pytest.raises(LitefuseError, match="returns no tensor"):
        named_outputs([None, {}])


def test_reasons_are_one_paragraph() -> None:
    error = ValueError(
        'in user code:\n\n    File "x.py", line 1, in f\n    bad shape\n\nArguments received by f:\n  x=1'
    )
    assert describe_error(error) == "bad shape x=1"
    layers = ValueError(
        "Exception encountered when calling layer 'model' (type Model).\n\nin user code:\n\n"
        '    File "x.py", line 1, in call  *\n        self.dense(x)\n    File "y.py", line 2, in error_handler  **\n'
        "        raise e from None\n\n"
        "    ValueError: Exception encountered when calling layer 'dense' (type Dense).\n    \n"
        "    Too many biases.\n    \n    Call arguments received by layer 'dense' (type Dense):\n"
        "      • inputs=tf.Tensor(shape=(2, 3))\n\n\n"
        "Call arguments received by layer 'model' (type Model):\n  • inputs=tf.Tensor(shape=(2, 3))"
    )
    reason = "ValueError: Exception encountered when calling layer 'dense' (type Dense). Too many biases."
    assert describe_error(layers) == reason
    assert describe_error(ValueError()) == "ValueError"
    long = describe_error(ValueError("a" * 1000 + "b" * 1000))
    assert long == "a" * 250 + " ... " + "b" * 250
