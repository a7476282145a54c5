"""What the process runs that reads a file of Keras's: loads the model, safely, and writes it as a SavedModel."""

from __future__ import annotations

import importlib
import importlib.util
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from litefuse.errors import LitefuseError
from litefuse.frontends.keras_file import KerasFileJob
from litefuse.frontends.keras_model import keras_model_source
from litefuse.frontends.writer import describe_error

__all__ = ["write_saved_model_of"]

_PASS = "Load the model in Python with {package}.models.load_model, and pass it to litefuse.convert()."
_INSTALL = 'Install them: pip install "litefuse[keras]".'


def write_saved_model_of(job: KerasFileJob, announce: Callable[[str], None]) -> None:
    """Writes the model of a file as a SavedModel.

    Code that a file brings along, as that of a ``lambda`` in a Lambda layer, is not run.

    Args:
        job: The file and the folder.
        announce: Called with the name of each step when it begins.

    Raises:
        LitefuseError: Keras or TensorFlow is missing; the file is damaged or of no model; the model needs classes that
            Keras does not know, or brings code along.
    """
    announce("read")
    where = str(job.file)
    version, config = (_read_archive if job.file.suffix.lower() == ".keras" else _read_hdf5)(job.file)
    package = _package(version)
    hint = _PASS.format(package=package)
    if _has_code(config):  # which Keras 2 would run, from an HDF5 file
        raise LitefuseError(
            "the file brings Python code along, for a lambda function in a layer, which is not run",
            where=where,
            hint=f"If you trust it: {hint}",
        )
    keras = _import(package, where)
    try:
        model = keras.models.load_model(job.file, compile=False, safe_mode=True)
    except Exception as error:  # Keras raises whatever its readers and layers do
        raise LitefuseError(
            f"Keras {keras.__version__} cannot load the model: {describe_error(error)}",
            where=where,
            hint=f"If the model has classes of its own: {hint}",
        ) from error
    source = keras_model_source(model)
    if source is None or source.write is None:
        raise LitefuseError(f"the file holds a {type(model).__name__}, not a Keras model", where=where)
    announce("export")
    source.write(job.folder)


def _read_archive(path: Path) -> tuple[str, Any]:
    """Which Keras wrote a ``.keras`` file, and the model's configuration in it."""
    try:
        with zipfile.ZipFile(path) as archive:
            metadata: Mapping[str, Any] = json.loads(archive.read("metadata.json"))
            return str(metadata["keras_version"]), json.loads(archive.read("config.json"))
    except (OSError, KeyError, ValueError, TypeError, zipfile.BadZipFile) as error:
        raise LitefuseError(
            f"the file is damaged, or not one of model.save(): {describe_error(error)}", where=str(path)
        ) from error


def _read_hdf5(path: Path) -> tuple[str, Any]:
    """Which Keras wrote an HDF5 file, and the model's configuration in it."""
    if importlib.util.find_spec("h5py") is None:
        raise LitefuseError(
            "reading the file takes Keras and TensorFlow, of which h5py cannot be found", where=str(path), hint=_INSTALL
        )
    h5py: Any = importlib.import_module("h5py")
    try:
        with h5py.File(path, "r") as file:
            config: Any = file.attrs.get("model_config")
            version: Any = file.attrs.get("keras_version", "2.")
            if config is None:
                raise LitefuseError(
                    "the file has no model's configuration: perhaps it holds weights alone",
                    where=str(path),
                    hint="Build the model in Python, load its weights, and pass it to litefuse.convert().",
                )
            return _text(version), json.loads(_text(config))
    except (OSError, KeyError, ValueError, RuntimeError) as error:
        raise LitefuseError(
            f"the file is damaged, or no HDF5 file: {describe_error(error)}", where=str(path)
        ) from error


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _package(version: str) -> str:
    """The package that reads the files of a version of Keras best, of those that are installed."""
    is_legacy = version.startswith(("1.", "2."))
    return "tf_keras" if is_legacy and importlib.util.find_spec("tf_keras") is not None else "keras"


def _import(package: str, where: str) -> Any:
    missing = [name for name in (package, "tensorflow") if importlib.util.find_spec(name) is None]
    if missing:
        raise LitefuseError(
            f"reading the file takes Keras and TensorFlow, of which {' and '.join(missing)} cannot be found",
            where=where,
            hint=_INSTALL,
        )
    try:
        importlib.import_module("tensorflow")
        return importlib.import_module(package)
    except ImportError as error:
        raise LitefuseError(
            f"{package} or TensorFlow cannot be imported: {describe_error(error)}", where=where, hint=_INSTALL
        ) from error


def _has_code(config: Any) -> bool:
    """Whether a configuration holds the bytecode of a function, in the form of Keras 3 or of Keras 2."""
    return any(
        each.get("class_name") == "__lambda__" or each.get("function_type") == "lambda" for each in _mappings(config)
    )


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, dict):
        mapping = cast("dict[str, Any]", value)
        yield mapping
        yield from _mappings(list(mapping.values()))
    elif isinstance(value, list):
        for child in cast("list[Any]", value):
            yield from _mappings(child)
