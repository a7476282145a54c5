"""Keras files as sources: read in a separate process, so that this one loads neither Keras nor TensorFlow."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from litefuse.errors import EngineCrashError, LitefuseError
from litefuse.frontends.pretrained import refuse_pretrained
from litefuse.frontends.source import Source
from litefuse.support.files.readable import check_file, is_there
from litefuse.support.processes.process import run_alone

_SUFFIXES = frozenset({".h5", ".hdf5", ".keras"})
_LOADER = "litefuse.frontends.keras_loader:write_saved_model_of"
_ENVIRONMENT = {"KERAS_BACKEND": "tensorflow", "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "2"}


@dataclass(frozen=True)
class KerasFileJob:
    """The arguments of the process that reads the file.

    Attributes:
        file: The file to read.
        folder: The SavedModel's folder to write, which does not exist.
    """

    file: Path
    folder: Path


def is_keras_file(path: Path) -> bool:
    """Whether a path is a Keras file, according to its suffix."""
    return path.suffix.lower() in _SUFFIXES and not (is_there(path) and path.is_dir())


def keras_file_source(path: Path) -> Source:
    """Returns the source for a Keras file.

    Raises:
        LitefuseError: No such file; or it has the weights of a pretrained model of transformers.
    """
    check_file(path)
    refuse_pretrained(path)
    return Source(str(path), write=lambda folder: _write(path, folder))


def _write(path: Path, folder: Path) -> None:
    try:
        run_alone(_LOADER, KerasFileJob(path, folder), environment=_ENVIRONMENT, imported="tensorflow")
    except EngineCrashError as error:
        raise LitefuseError(
            f"the process that read the file died: {error.message}",
            where=str(path),
            hint="Load the model in Python with keras.models.load_model and pass it to litefuse.convert().",
        ) from error
