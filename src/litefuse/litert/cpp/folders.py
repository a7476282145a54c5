"""Folders of C++ sources that litefuse writes: new ones, whole or not at all, with the kit."""

from __future__ import annotations

import re
import shutil
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from litefuse.errors import LitefuseError
from litefuse.litert.cpp.compiler import native_sources
from litefuse.support.files.whole_file import write_new

_NOT_COPIED = frozenset({"build", "__pycache__"})


def check_empty(target: Path) -> None:
    """Checks before the work that a folder can be written.

    Raises:
        LitefuseError: It is a file, or not empty.
    """
    try:
        reason = ""
        if target.exists() and not target.is_dir():
            reason = "this is a file, not a folder"
        elif target.is_dir() and any(target.iterdir()):
            reason = "the folder is not empty"
    except OSError as error:
        reason = f"the folder cannot be read: {error.strerror or error}"
    if reason:
        raise LitefuseError(reason, where=str(target), hint="Name a folder that is new or empty.")


@contextmanager
def new_folder(target: Path) -> Generator[None]:
    """Creates a folder, which must not exist or be empty; an error in the context leaves nothing in it.

    Raises:
        LitefuseError: It is not empty, or it cannot be created or written.
    """
    check_empty(target)
    there = target.is_dir()
    try:
        target.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException as error:
        for path in target.iterdir() if target.is_dir() else ():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        if target.is_dir() and not there:
            target.rmdir()
        if not isinstance(error, OSError):
            raise
        raise LitefuseError(
            f"the folder cannot be written: {error.strerror or error}", where=str(target), hint="Name another folder."
        ) from error


def filled(text: str, names: Mapping[str, str]) -> str:
    """Fills in the names of a template, ``@NAME@``."""
    return re.sub(r"@([A-Z_]+)@", lambda match: names.get(match[1], match[0]), text)


def copy_kit(target: Path) -> None:
    """Copies the sources that every kernel in C++ needs, without the pack's kernels: ``include`` and ``src``.

    Raises:
        OSError: It cannot be written.
    """
    sources = native_sources()
    target.mkdir()
    for part in ("include", "src"):
        (target / part).mkdir()
        copy_folder(sources / part, target / part)


def copy_folder(source: Path, target: Path) -> None:
    """Copies a folder's files without their modes: those of an installation may be read-only."""
    for path in source.iterdir():
        if path.is_file():
            write_new(target / path.name, path.read_bytes())
        elif path.name not in _NOT_COPIED:
            (target / path.name).mkdir()
            copy_folder(path, target / path.name)
