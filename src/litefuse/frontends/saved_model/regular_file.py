"""Opening of a SavedModel's files: regular files inside its folder, and nothing else.

A SavedModel may come from an untrusted source. Its asset names, and the symbolic links in its folder, must not make the
reader open a file elsewhere or block on a device.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from litefuse.errors import SavedModelError

if sys.platform == "win32":
    _READ = os.O_RDONLY | os.O_BINARY
else:  # without O_NONBLOCK, opening a FIFO would wait for a writer
    _READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
_LINK_HINT = "Copy the SavedModel with its links resolved (cp -rL) and load the copy."


def resolve_inside(folder: Path, name: str, error: type[SavedModelError] = SavedModelError) -> Path:
    """Returns the path of ``name`` in ``folder``, symbolic links resolved; it need not exist.

    Args:
        folder: The SavedModel's folder, symbolic links resolved.
        name: A path relative to it, with ``/`` between its parts.
        error: The class to raise.

    Raises:
        SavedModelError: The name is empty, absolute or has ``..`` parts, or a link leads out of the folder.
    """
    where = str(folder)
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or name.startswith("/") or "\\" in name or "\0" in name:
        raise error(f"{name!r} is not the name of a file inside the folder", where=where)
    try:
        path = folder.joinpath(*map(file_name, parts)).resolve()
    except (OSError, RuntimeError, ValueError) as reason:  # RuntimeError: a loop of links, before Python 3.13
        raise error(f"{name!r} cannot be resolved: {reason}", where=where) from None
    if not path.is_relative_to(folder):
        raise error(f"{name!r} is a symbolic link to {path}, outside the folder", where=where, hint=_LINK_HINT)
    return path


def file_name(text: str) -> str:
    """Converts a name in a SavedModel, which is UTF-8, to this process's file names, which differ in the C locale."""
    return os.fsdecode(text.encode("utf-8", "surrogateescape"))


def open_regular(folder: Path, name: str, error: type[SavedModelError] = SavedModelError) -> BinaryIO:
    """Opens the regular file ``name`` inside ``folder`` for reading, unbuffered.

    Args:
        folder: The SavedModel's folder, symbolic links resolved.
        name: A path relative to it, with ``/`` between its parts.
        error: The class to raise.

    Raises:
        SavedModelError: The file is missing, unreadable, not a regular file, or not inside the folder.
    """
    path = resolve_inside(folder, name, error)
    try:
        descriptor = os.open(path, _READ)
    except OSError as reason:
        raise error(f"{name!r} cannot be opened: {reason.strerror}", where=str(folder)) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise error(f"{name!r} is not a regular file", where=str(folder))
    return os.fdopen(descriptor, "rb", buffering=0)


def read_regular(folder: Path, name: str, error: type[SavedModelError] = SavedModelError) -> bytes:
    """Returns the contents of the regular file ``name`` inside ``folder``; see :func:`open_regular`."""
    with open_regular(folder, name, error) as file:
        try:
            return file.read()
        except OSError as reason:
            raise error(f"{name!r} cannot be read: {reason.strerror}", where=str(folder)) from None
