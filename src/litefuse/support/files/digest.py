"""The SHA-256 of files, and of folders."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

_BLOCK = 1 << 20


def file_digest(path: str | os.PathLike[str]) -> str:
    """Returns the SHA-256 of a file's bytes, in hexadecimal.

    Raises:
        OSError: It cannot be read.
    """
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def file_size(path: str | os.PathLike[str]) -> int:
    """Returns the bytes of a file, or of all files in a folder.

    Raises:
        OSError: It cannot be read.
    """
    place = Path(path)
    return sum(file.stat().st_size for file in folder_files(place)) if place.is_dir() else place.stat().st_size


def folder_digest(folder: str | os.PathLike[str], *, within: bool = False) -> str:
    r"""Returns the SHA-256 of a folder, in hexadecimal: that of a list of its files.

    The list has a line for each regular file in the folder and its subfolders, links to files included: its SHA-256,
    two spaces, its path relative to the folder with slashes, and a newline; sorted by the bytes of the paths. So it is
    what this prints: ``find . -xtype f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum``. Empty
    folders, times and permissions do not count.

    Args:
        folder: The folder.
        within: Whether to leave out links that lead out of the folder.

    Raises:
        OSError: A file cannot be read.
    """
    digest = hashlib.sha256()
    place = Path(folder)
    for path in folder_files(place, within=within):
        digest.update(f"{file_digest(path)}  ".encode() + os.fsencode(path.relative_to(place).as_posix()) + b"\n")
    return digest.hexdigest()


def folder_files(folder: Path, *, within: bool = False) -> list[Path]:
    """Returns the regular files in a folder and its subfolders, sorted by the bytes of their paths in it.

    Args:
        folder: The folder.
        within: Whether to leave out links that lead out of the folder.

    Raises:
        OSError: One of the folders cannot be read.
    """
    paths: list[Path] = []
    for name, _, files in os.walk(folder, onerror=_raise):
        paths += [path for file in files if (path := Path(name, file)).is_file()]
    if within:
        inside = folder.resolve()
        paths = [path for path in paths if path.resolve().is_relative_to(inside)]
    return sorted(paths, key=lambda path: os.fsencode(path.relative_to(folder).as_posix()))


def _raise(error: OSError) -> None:
    raise error
