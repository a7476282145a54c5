"""Writing files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from litefuse.errors import LitefuseError
from litefuse.files.temporary import make_temporary_folder

__all__ = ["final_place", "give_usual_mode", "whole_file", "write_new"]


@contextmanager
def whole_file(target: Path) -> Generator[Path]:
    """A file to write, which takes the target's place when the context ends without an error.

    It is in a new temporary folder beside the target, which is this user's alone, so that nobody can put a link in its
    place; if the process is killed, the next one removes it. A target that is a link stays one, and what it leads to is
    written.

    Args:
        target: The file that is to appear; its folder must exist.

    Yields:
        The path to write to, where there is no file yet.

    Raises:
        OSError: It cannot be written.
    """
    place = final_place(target)
    try:
        temporary = make_temporary_folder(place.parent)
    except LitefuseError as error:
        raise error.__cause__ or error from None  # the caller says what cannot be written
    with temporary as folder:
        partial = Path(folder, place.name)
        yield partial
        give_usual_mode(partial)
        partial.replace(place)


def final_place(target: Path) -> Path:
    """What a path leads to, where a file is to be put.

    Raises:
        OSError: There is something that is neither a file nor a folder, which a file would replace.
    """
    place = Path(os.path.realpath(target))
    if place.exists() and not place.is_file() and not place.is_dir():
        raise OSError(errno.EINVAL, "a device, pipe or the like is no file", str(target))
    return place


def give_usual_mode(path: Path) -> None:
    """Gives a file the mode of any that a program makes; temporary ones are for their owner alone."""
    # The only way to read the mask is to set it.
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(0o666 & ~mask)


def write_new(path: Path, content: bytes) -> None:
    """Writes a file that is not there yet; a link in its place is an error too, wherever it leads.

    Raises:
        OSError: It is there, or cannot be written.
    """
    with path.open("xb") as file:
        file.write(content)
