"""The module as text after each step of a conversion, for those who write passes and fusions."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from litefuse.errors import LitefuseError
from litefuse.support.files.readable import os_errors
from litefuse.support.files.whole_file import write_new

if TYPE_CHECKING:
    from litefuse.ir.mlir import ir

_INDEX = "index.txt"
# The first line of the index, by which a folder is known to be litefuse's.
_HEADER = "The modules of a conversion by litefuse; the next one that is told to write here replaces them."
_OWN = re.compile(r"\d{3,}-[A-Za-z0-9_.-]+\.mlir", re.ASCII)
# The most elements of a constant that are written, and the most characters of one that lies beside the module.
_LARGEST = 16


def prepare_dump_folder(folder: Path) -> None:
    """Makes a folder for modules, or empties one that litefuse made; other files in it stay.

    Raises:
        LitefuseError: It cannot be made, or it has files but is not litefuse's.
    """
    with _writing(folder):
        if not folder.exists():
            folder.mkdir()
            return
        names = sorted(path.name for path in folder.iterdir())
        if names and not _is_own(folder):
            raise LitefuseError(
                "the modules cannot be written: the folder has files that litefuse did not write, such as "
                f"{names[0]!r}",
                where=str(folder),
                hint="Name a new folder, or an empty one.",
            )
        for name in names:
            if name == _INDEX or _OWN.fullmatch(name):
                (folder / name).unlink()


def _is_own(folder: Path) -> bool:
    index = folder / _INDEX
    if index.is_symlink() or not index.is_file():
        return False
    with index.open("rb") as file:
        return file.read(len(_HEADER)) == _HEADER.encode()


def _writing(folder: Path) -> AbstractContextManager[None]:
    return os_errors("the modules cannot be written", folder)


class ModuleDump:
    """Writes the module after the steps that change it, and an index of all steps with their times.

    The index is written line by line, so that it ends with the step in which the process died. Constants of more than
    16 elements are left out: a step that changes nothing but these counts as one that changes nothing.

    Args:
        folder: The folder, which is made or emptied.
        after: The names of the passes after which the module is written, if it is not that of the last file; empty for
            all that change it.

    Raises:
        LitefuseError: The folder cannot be written, or has other files; also raised by the methods.
    """

    def __init__(self, folder: Path, after: Collection[str] = ()) -> None:
        prepare_dump_folder(folder)
        self._folder = folder
        self._after = frozenset(after)
        self._number = 0
        self._step = ""
        self._text = self._last = ""  # of the step before, and of the last file
        with _writing(folder):
            self._index: IO[str] = (folder / _INDEX).open("x", encoding="utf-8", errors="backslashreplace")
        self._write(f"{_HEADER}\n\n")

    def begin(self, step: str) -> None:
        """Notes that a step begins."""
        self._number += 1
        self._step = step
        self._write(f"{self._number:03}  {step:32}")

    def end(self, module: ir.Module | None, seconds: float, failure: str = "") -> None:
        """Writes what the module is at the end of the step, if it has changed, or if the step failed.

        Args:
            module: The module; None if there is none yet.
            seconds: How long the step took.
            failure: Why the step failed; empty if it did not.
        """
        if not self._step:
            return
        outcome = "no module yet" if module is None else self._written(module, failed=bool(failure))
        if failure:
            outcome += f"; failed: {failure.splitlines()[0]}"
        self._write(f"{seconds * 1000:12,.1f} ms  {outcome}\n")
        self._step = ""

    def close(self) -> None:
        self._index.close()

    def _written(self, module: ir.Module, *, failed: bool) -> str:
        # The locations are left out: they are longer than the ops.
        text = module.operation.get_asm(large_elements_limit=_LARGEST, large_resource_limit=_LARGEST)
        is_same = text == (self._last if self._step in self._after else self._text)
        self._text = text
        if is_same and not failed:
            return "unchanged"
        if self._after and self._step not in self._after and not failed:
            return "changed"
        self._last = text
        name = f"{self._number:03}-{re.sub('[^A-Za-z0-9_.-]', '-', self._step)}.mlir"
        with _writing(self._folder):
            write_new(self._folder / name, text.encode(errors="backslashreplace"))
        return name

    def _write(self, text: str) -> None:
        with _writing(self._folder):
            self._index.write(text)
            self._index.flush()
