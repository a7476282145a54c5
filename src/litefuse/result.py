"""Result of a conversion."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from litefuse.errors import LitefuseError
from litefuse.files.temporary import TemporaryFolder
from litefuse.files.whole_file import final_place, give_usual_mode, whole_file

if TYPE_CHECKING:
    from litefuse.report import Report

__all__ = ["ConversionResult"]


class ConversionResult:
    """A converted model and its report.

    Attributes:
        report: What was fused, what was not and why; variables, ops, sizes, timings.
    """

    def __init__(self, report: Report, path: Path, folder: TemporaryFolder) -> None:
        self.report = report
        self._path = path
        self._folder = folder  # removed with this object

    @property
    def path(self) -> Path:
        """The model's file: a temporary one, which is removed with this object, unless the model was moved."""
        return self._path

    @property
    def model_bytes(self) -> bytes:
        """The LiteRT model, read into memory."""
        return self._path.read_bytes()

    def save(self, path: str | os.PathLike[str], *, copy: bool = True) -> Path:
        """Writes the model atomically; replaces an existing file.

        Args:
            path: The file to write; its folder must exist.
            copy: Whether to copy the model; False moves it, which takes no time within a file system; from then on, the
                result's model is that file.

        Returns:
            The path.

        Raises:
            LitefuseError: It cannot be written.
        """
        target = Path(path)
        try:
            place = final_place(target)
            if not copy and self._path.stat().st_dev == place.parent.stat().st_dev:
                give_usual_mode(self._path)
                self._path.replace(place)
            else:
                with whole_file(target) as partial:
                    shutil.copyfile(self._path, partial)  # copied by the operating system if it supports that
        except OSError as error:
            raise LitefuseError(f"the model cannot be written: {error.strerror or error}", where=str(target)) from error
        if not copy:
            self._path = target.absolute()
        return target

    def __repr__(self) -> str:
        return f"<litefuse.ConversionResult of {self.report.source}: {self.report.size:,} bytes>"
