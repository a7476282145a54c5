"""Checks of paths to read, with the same error messages everywhere."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from litefuse.errors import LitefuseError

#: The endings of files that are converted: those of Keras, and those of frozen graphs.
KERAS_FILES = (".keras", ".h5", ".hdf5")
GRAPH_FILES = (".pb", ".pbtxt")
MODEL_FILES = (*KERAS_FILES, *GRAPH_FILES)
# Those of other models.
_OTHER_FILES = (".mlmodel", ".mlpackage", ".onnx", ".pt", ".pt2", ".pth", ".safetensors", ".torchscript")


def check_model_name(path: Path) -> Path:
    """Returns the path of a LiteRT model to write; raises a ``LitefuseError`` if its name says another format."""
    if path.suffix.lower() in (*MODEL_FILES, *_OTHER_FILES):
        hint = f"Name it {path.with_suffix('.tflite').name}."
        raise LitefuseError(f"litefuse writes LiteRT models, not {path.suffix} files", where=str(path), hint=hint)
    return path


@contextmanager
def os_errors(problem: str, where: object, error: type[LitefuseError] = LitefuseError) -> Generator[None]:
    """Raises an error of the system as one of litefuse: the problem, and the system's reason."""
    try:
        yield
    except OSError as reason:
        raise error(f"{problem}: {reason.strerror or reason}", where=str(where)) from reason


def check_there(path: str | os.PathLike[str], error: type[LitefuseError] = LitefuseError) -> Path:
    """Returns the path of a file or folder that is there.

    Raises:
        LitefuseError: There is nothing, or the system does not take it as a path.
    """
    place = Path(path)
    reason = _missing(place)
    if reason:
        raise error(reason, where=_shown(place))
    return place


def check_file(path: str | os.PathLike[str], error: type[LitefuseError] = LitefuseError, *, folder: str = "") -> Path:
    """Returns the path of a file that can be opened: opening a pipe would wait, and a device may have no end.

    Args:
        path: The path.
        error: The class to raise.
        folder: What to do instead if it is a folder, for the hint.

    Raises:
        LitefuseError: It does not exist, it is not a file, or this user may not read it.
    """
    place = check_there(path, error)
    mode = place.stat().st_mode
    if stat.S_ISDIR(mode):
        raise error("this is a folder, not a file", where=str(place), hint=folder)
    if not stat.S_ISREG(mode):
        raise error("this is a device, pipe or the like, not a file", where=str(place))
    if not os.access(place, os.R_OK):
        raise error("it cannot be read: Permission denied", where=str(place))
    return place


def is_there(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file or folder; False also for what the system does not take as a path."""
    return not _missing(Path(path))


def _missing(place: Path) -> str:
    """Returns why nothing is at a path; empty if something is."""
    try:
        place.stat()
    except (FileNotFoundError, NotADirectoryError):
        if place.is_symlink():
            return f"this is a link to {place.readlink()}, where nothing is"
        return "no such file or folder"
    except OSError as error:
        return f"it cannot be read: {error.strerror or error}"
    except ValueError:  # the message of Python differs from one release to the next
        return "no such file or folder: its name has a null character"
    return ""


def _shown(place: Path) -> str:
    """Returns a path for a message, shortened if it is longer than systems take."""
    text = str(place)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


_LONGEST = 300
