"""Keras files as sources: read in a separate process, so that this one loads neither Keras nor TensorFlow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from litefuse.errors import EngineCrashError, LitefuseError
from litefuse.frontends.pretrained import refuse_pretrained
from litefuse.frontends.source import Source
from litefuse.support.files.readable import KERAS_FILES, check_file, is_there
from litefuse.support.plug_ins.modules import named_code
from litefuse.support.processes.process import run_alone

_LOADER = "litefuse.frontends.keras_loader:write_saved_model_of"
ENVIRONMENT = {
    "KERAS_BACKEND": "tensorflow",
    "CUDA_VISIBLE_DEVICES": "-1",
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "TF_ENABLE_ONEDNN_OPTS": "0",  # its allocator keeps what initial weights took
}


@dataclass(frozen=True)
class KerasFileJob:
    """The arguments of the process that reads the file.

    Attributes:
        file: The file to read.
        folder: The SavedModel's folder to write, which does not exist.
        code: Python files and names of modules with classes of the model that Keras lacks.
    """

    file: Path
    folder: Path
    code: tuple[str, ...] = ()


def is_keras_file(path: Path) -> bool:
    """Whether a path is a Keras file, according to its suffix."""
    return path.suffix.lower() in KERAS_FILES and not (is_there(path) and path.is_dir())


def keras_file_source(path: Path, code: Iterable[str] = ()) -> Source:
    """Returns the source for a Keras file.

    Args:
        path: The file.
        code: Python files and names of modules with classes of the model that Keras lacks, beside those that this
            process has loaded.

    Raises:
        LitefuseError: No such file; or it has the weights of a pretrained model of transformers.
    """
    check_file(path)
    refuse_pretrained(path)
    return Source(str(path), write=lambda folder: _write(KerasFileJob(path, folder, (*named_code(), *code))))


def _write(job: KerasFileJob) -> None:
    try:
        run_alone(_LOADER, job, environment=ENVIRONMENT, imported="tensorflow")
    except EngineCrashError as error:
        raise LitefuseError(
            f"the process that read the file died: {error.message}",
            where=str(job.file),
            hint="Load the model in Python with keras.models.load_model and pass it to litefuse.convert().",
        ) from error
