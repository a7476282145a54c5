"""Writing files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["final_place", "give_usual_mode", "whole_file", "write_new"]


@contextmanager
def whole_file(target: Path) -> Generator[Path]:
    """A file to write, which takes the target's place when the context ends without an error.

    It is new, and in the target's folder; its name cannot be known before, so that nobody can put a link there. A
    target that is a link stays one, and what it leads to is written.

    Args:
        target: The file that is to appear; its folder must exist.

    Yields:
        The path to write to: an empty file.

    Raises:
        OSError: It cannot be written.
    """
    place = final_place(target)
    handle, name = tempfile.mkstemp(prefix=".litefuse-", dir=place.parent)
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        give_usual_mode(partial)
        partial.replace(place)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


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
