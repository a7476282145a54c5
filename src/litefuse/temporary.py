"""Temporary folders and files, and what to say where there can be none."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import IO

from litefuse.errors import LitefuseError

__all__ = ["make_temporary_file", "make_temporary_folder"]


def make_temporary_folder(place: str | os.PathLike[str] | None = None) -> tempfile.TemporaryDirectory[str]:
    """A new folder, which goes with the object; its path is absolute, so that other processes can be told.

    Args:
        place: The folder to make it in; None: the system's for temporary files.

    Raises:
        LitefuseError: It cannot be made.
    """
    try:
        if place is None:
            return tempfile.TemporaryDirectory(prefix="litefuse-")
        return tempfile.TemporaryDirectory(prefix=".litefuse-", dir=Path(place).absolute())
    except OSError as error:
        raise _none("folder", place, error) from error


def make_temporary_file() -> IO[bytes]:
    """A new file without a name, which goes when it is closed.

    Raises:
        LitefuseError: It cannot be made.
    """
    try:
        return tempfile.TemporaryFile()
    except OSError as error:
        raise _none("file", None, error) from error


def _none(what: str, place: str | os.PathLike[str] | None, error: OSError) -> LitefuseError:
    return LitefuseError(
        f"no temporary {what} can be made: {error.strerror or error}",
        where="" if place is None else str(place),
        hint="Set TMPDIR to a folder with room." if place is None else "",
    )
