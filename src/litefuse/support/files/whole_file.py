"""Atomic writing of files."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from litefuse.errors import LitefuseError
from litefuse.support.files.temporary import make_temporary_folder


@contextmanager
def whole_file(target: Path) -> Generator[Path]:
    """Provides a file to write, which replaces the target when the context ends without an error.

    It is in a new temporary folder beside the target, which only this user can access, so that nobody can replace it by
    a link; if the process is killed, the next one removes it. If the target is a symbolic link, the file that it points
    to is written.

    Args:
        target: The file to write; its folder must exist.

    Yields:
        The path to write to, where no file exists yet.

    Raises:
        OSError: It cannot be written.
    """
    place = final_place(target)
    try:
        temporary = make_temporary_folder(place.parent)
    except LitefuseError as error:
        raise error.__cause__ or error from None  # the caller reports what cannot be written
    with temporary as folder:
        partial = Path(folder, place.name)
        yield partial
        give_usual_mode(partial)
        partial.replace(place)


def final_place(target: Path) -> Path:
    """Returns the path to write a file to, with symbolic links resolved.

    Raises:
        OSError: It is a device, pipe or the like, which a file would replace.
    """
    try:
        place = Path(os.path.realpath(target))
    except ValueError:  # on Windows, realpath takes it
        raise OSError(errno.EINVAL, "the name has a null character", str(target)) from None
    if place.exists() and not place.is_file() and not place.is_dir():
        raise OSError(errno.EINVAL, "a device, pipe or the like is not a file", str(target))
    return place


def give_usual_mode(path: Path) -> None:
    """Sets the default mode of new files on a file; temporary files are private to their owner."""
    # The only way to read the mask is to set it.
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(0o666 & ~mask)


def write_new(path: Path, content: bytes) -> None:
    """Writes a file that does not exist yet; any link at its path is an error too.

    Raises:
        OSError: It exists, or cannot be written.
    """
    with path.open("xb") as file:
        file.write(content)
