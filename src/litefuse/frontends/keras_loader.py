"""Entry point of the child process that reads a Keras file: loads the model safely and writes it as a SavedModel."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from litefuse.errors import LitefuseError
from litefuse.frontends.keras_archive import unpack_archive
from litefuse.frontends.keras_code import custom_objects, own_code
from litefuse.frontends.keras_config import check_config, code_lacks, name_code
from litefuse.frontends.keras_file import KerasFileJob
from litefuse.frontends.keras_hdf5 import INSTALL, read_hdf5
from litefuse.frontends.keras_model import keras_model_source
from litefuse.frontends.tensorflow_packages import CORRECTED_TEXT, KERAS_2, conflict, is_corrected, tensorflow_packages
from litefuse.frontends.writer import describe_error
from litefuse.support.files.temporary import make_temporary_folder

# Of Keras 3 and of Keras 2, which say it amid or before the configuration of all layers.
_UNKNOWN_CLASS = re.compile(r"(?:Could not locate (?:class|function)|Unknown [a-z ]+):? '(?!function')([^']+)'")
_PASS = "Load the model in Python with {package}.models.load_model, and pass it to litefuse.convert()."


def write_saved_model_of(job: KerasFileJob, announce: Callable[[str], None]) -> None:
    """Writes the model of a file as a SavedModel; see :func:`load_model`.

    Args:
        job: The file, the folder and the code.
        announce: Called with the name of each step at its start.
    """
    announce("read")
    model = load_model(job.file, job.code)
    source = keras_model_source(model)
    if source is None or source.write is None:
        raise LitefuseError(f"the file holds a {type(model).__name__}, not a Keras model", where=str(job.file))
    announce("export")
    source.write(job.folder)


def load_model(file: Path, code: Iterable[str] = (), *, with_assets: bool = False) -> Any:
    """Loads the model of a file.

    No code in a file is run, and no other file is read for it: a file that would make Keras do so is rejected before
    Keras reads it; see ``keras_config``, ``keras_archive`` and ``keras_hdf5``. Keras's own safe mode is on as well.
    Classes and functions that are not Keras's come from the code that the user named.

    Args:
        file: The file.
        code: Python files and names of modules with classes of the model that Keras lacks.
        with_assets: Whether layers read files of the archive, such as vocabularies, after they were made.

    Raises:
        LitefuseError: Keras or TensorFlow is missing, or Keras is too old; the file is damaged, has no model, or is
            rejected; the model needs classes that Keras does not have.
    """
    where = str(file)
    suffix = file.suffix.lower()
    folder = make_temporary_folder()
    unpacked = Path(folder.name, "model")
    version, config = unpack_archive(file, unpacked) if suffix == ".keras" else read_hdf5(file)
    package = _package(version)
    hint = _PASS.format(package=package)
    if package == "keras" and _is_legacy(version):
        hint += f" {KERAS_2}"
    named = tuple(code)
    code = (*named, *own_code(config))
    objects = custom_objects(import_keras(package, where), config, code) if code else {}
    check_config(config, where, hint, objects, named)
    keras = import_keras(package, where)
    # Keras itself has it on while it makes the layers of .keras files; later, tokenizers of Keras Hub would refuse the
    # archive's own files.
    scope = contextlib.nullcontext() if with_assets else _safe_mode(package, where)
    path = unpacked if suffix == ".keras" and package == "keras" else _named(file, suffix, folder.name)
    try:
        with scope:
            return keras.models.load_model(path, custom_objects=objects, compile=False, safe_mode=True)
    except LitefuseError:
        raise
    except Exception as error:  # Keras's readers and layers raise any exception
        if (unknown := _UNKNOWN_CLASS.search(str(error))) is not None:
            problem = f"the model has {unknown[1]!r}, which Keras lacks: {code_lacks(named)}"
        else:
            problem = f"Keras {keras.__version__} cannot load the model: {describe_error(error)}"
        raise LitefuseError(problem, where=where, hint=name_code(hint)) from error


def _named(path: Path, suffix: str, folder: str) -> Path:
    """Links the file under a name with the given suffix, so that Keras reads it as the format checked here."""
    if path.suffix == suffix:
        return path
    link = Path(folder, f"model{suffix}")
    link.symlink_to(path)
    return link


def _safe_mode(package: str, where: str) -> contextlib.AbstractContextManager[Any]:
    """Returns a context with safe mode for everything loaded: Keras 2 has no such argument for HDF5 files."""
    name = f"{package}.src.saving.serialization_lib"
    try:
        return importlib.import_module(name).SafeModeScope(safe_mode=True)
    except (ImportError, AttributeError) as error:
        raise LitefuseError(
            f"{package} is of a release whose safe mode is not found: {describe_error(error)}",
            where=where,
            hint=f"Install another one: pip install --upgrade {package}.",
        ) from error


def _package(version: str) -> str:
    """Returns the installed package that is best for files of a Keras version."""
    return "tf_keras" if _is_legacy(version) and importlib.util.find_spec("tf_keras") is not None else "keras"


def _is_legacy(version: str) -> bool:
    return version.startswith(("1.", "2."))


def import_keras(package: str, where: str) -> Any:
    """Imports Keras, and TensorFlow before it.

    Args:
        package: ``keras`` or ``tf_keras``.
        where: The file that is to be read, for errors.

    Raises:
        LitefuseError: One is missing, or Keras is of a release that is not safe to read files with.
    """
    missing = [name for name in (package, "tensorflow") if importlib.util.find_spec(name) is None]
    if missing:
        raise LitefuseError(
            f"reading the file requires Keras and TensorFlow, but {' and '.join(missing)} cannot be found",
            where=where,
            hint=INSTALL,
        )
    try:
        importlib.import_module("tensorflow")
        keras: Any = importlib.import_module(package)
    except ImportError as error:
        raise LitefuseError(
            f"{package} or TensorFlow cannot be imported: {describe_error(error)}",
            where=where,
            hint=str(conflict(tensorflow_packages()) or INSTALL),
        ) from error
    version = str(keras.__version__)
    if package == "keras" and not is_corrected(version):
        raise LitefuseError(
            f"Keras {version} is not safe to read files with: it takes {CORRECTED_TEXT}",
            where=where,
            hint='Install it: pip install --upgrade "litefuse[keras]".',
        )
    return keras
