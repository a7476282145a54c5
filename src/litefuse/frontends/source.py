"""Sources of models: a SavedModel, or something that can be written as one."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from litefuse.errors import LitefuseError

__all__ = ["Source"]

_STEP = "export"


@dataclass(frozen=True)
class Source:
    """Where a model comes from.

    Attributes:
        name: What it is called in reports and errors: the path of a file or folder, or what the object is.
        path: The folder of the SavedModel that it is already, or None.
        write: Else, writes it as a SavedModel into a folder that does not exist yet.
    """

    name: str
    path: Path | None = None
    write: Callable[[Path], None] | None = None

    def folder(self, temporary: Path) -> Path:
        """The SavedModel's folder: its own, or else ``temporary``."""
        return temporary if self.path is None else self.path

    @contextmanager
    def opened(self, temporary: Path, on_step: Callable[[str], None]) -> Generator[dict[str, float]]:
        """Has the SavedModel in its folder as long as the context lasts; errors then name the source, not that folder.

        Args:
            temporary: The folder to write to, where it is needed; it does not exist yet, and is removed.
            on_step: Called with the name of the step, if there is one.

        Yields:
            The seconds that the step took, by its name.

        Raises:
            LitefuseError: The model cannot be written as a SavedModel.
        """
        if self.write is None:
            yield {}
            return
        started = time.perf_counter()
        try:
            on_step(_STEP)
            self.write(temporary)
            yield {_STEP: time.perf_counter() - started}
        except LitefuseError as error:
            self._rename(error, str(temporary))
            raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def _rename(self, error: LitefuseError, temporary: str) -> None:
        folders = {temporary, os.path.realpath(temporary)}
        for folder in sorted(folders, key=len, reverse=True):
            error.message = error.message.replace(folder, self.name)
            error.where = error.where.replace(folder, self.name)
            error.hint = error.hint.replace(folder, self.name)
        error.where = error.where or self.name
        error.args = (error.message,)
