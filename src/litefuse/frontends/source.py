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
from litefuse.support.options.limits import held_bytes

_STEP = "export"


@dataclass(frozen=True)
class Source:
    """The source of a model.

    Attributes:
        name: Its name in reports and errors: the path of a file or folder, or a description of the object.
        path: The folder, if it already is a SavedModel; otherwise None.
        write: Writes it as a SavedModel into a folder that does not exist yet; None if it already is one.
    """

    name: str
    path: Path | None = None
    write: Callable[[Path], None] | None = None

    def folder(self, temporary: Path) -> Path:
        """Returns the SavedModel's folder: its own, or else ``temporary``."""
        return temporary if self.path is None else self.path

    def size(self, folder: Path) -> int:
        """Returns the bytes of the model: of the file that it was read from, or of its SavedModel; 0 if not known."""
        try:
            path = Path(self.name)
            return path.stat().st_size if self.write is not None and path.is_file() else held_bytes(folder)
        except (OSError, ValueError):  # the name is not one of a file
            return 0

    @contextmanager
    def opened(self, temporary: Path, on_step: Callable[[str], None]) -> Generator[dict[str, float]]:
        """Provides the SavedModel in its folder during the context; errors name the source instead of that folder.

        Args:
            temporary: The folder to write to if needed; it does not exist yet, and is removed.
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
