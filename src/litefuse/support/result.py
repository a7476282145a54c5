"""Result of a conversion."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from litefuse.errors import LitefuseError
from litefuse.support.cloud.paths import saved_to
from litefuse.support.files.readable import check_model_name, os_errors
from litefuse.support.files.temporary import TemporaryFolder, make_temporary_folder
from litefuse.support.files.whole_file import final_place, give_usual_mode, whole_file

if TYPE_CHECKING:
    from litefuse.support.report import Report


class ConversionResult:
    """A converted model and its report.

    Attributes:
        report: What was fused, what was not and why; variables, ops, sizes, timings.
    """

    def __init__(self, report: Report, path: Path, folder: TemporaryFolder, kernels: Path | None = None) -> None:
        self.report = report
        self._path = path
        self._kernels = kernels
        self._folder = folder  # removed with this object

    @property
    def path(self) -> Path:
        """The model's file: a temporary one, which is removed with this object, unless the model was moved."""
        return self._path

    @property
    def kernels(self) -> Path | None:
        """The folder of the kernels that were generated: sources, and the library for this machine.

        None if there are none. As with the model, it is temporary until it is saved.
        """
        return self._kernels

    @property
    def model_bytes(self) -> bytes:
        """The LiteRT model, read into memory."""
        return self._path.read_bytes()

    def save(self, path: str | os.PathLike[str], *, copy: bool = True) -> Path:
        """Writes the model atomically; replaces an existing file.

        Kernels that were generated are written beside it, to a folder of the model's name that ends in ``.kernels``.

        Args:
            path: The file to write; its folder must exist. Or a URL to upload it to.
            copy: Whether to copy the model; False moves it, which takes no time within a file system; from then on, the
                result's model is that file.

        Returns:
            The path; of what was uploaded, that of the file here.

        Raises:
            LitefuseError: It cannot be written, or its name is that of another format.
        """
        with saved_to(path) as target:
            check_model_name(target)
            if target == Path(path):
                self._save(target, copy=copy)
                return target
            kernels = self._kernels
            self._save(target, copy=True)
            self._kernels = kernels
        return self._path

    def _save(self, target: Path, *, copy: bool) -> None:
        """Writes the model to a local path; see :meth:`save`."""
        with os_errors("the model cannot be written", target):
            place = final_place(target)
            if self._kernels is not None:
                self._save_kernels(self._kernels, place)
            if not copy and self._path.stat().st_dev == place.parent.stat().st_dev:
                give_usual_mode(self._path)
                self._path.replace(place)
            else:
                with whole_file(target) as partial:
                    shutil.copyfile(self._path, partial)  # copied by the operating system if it supports that
        if not copy:
            self._path = target.absolute()

    def _save_kernels(self, kernels: Path, model: Path) -> None:
        """Writes the kernels beside the model; replaces those of an earlier conversion, and no other file or folder."""
        target = model.with_name(f"{model.stem}.kernels")
        if kernels == target:
            return
        if target.is_symlink() or (target.exists() and not (target / "registry.cc").is_file()):
            raise LitefuseError(
                "the kernels cannot be written: something else is in their place",
                where=str(target),
                hint="Move it, or give the model another name.",
            )
        with make_temporary_folder(model.parent) as work:
            made, old = Path(work, "new"), Path(work, "old")
            shutil.copytree(kernels, made, copy_function=shutil.copyfile)
            readme = made / "README.md"
            readme.write_text(readme.read_text("utf-8").replace("model.tflite", model.name), "utf-8")
            if target.exists():
                target.rename(old)
            made.rename(target)
        self._kernels = target

    def __repr__(self) -> str:
        return f"<litefuse.ConversionResult of {self.report.source}: {self.report.size:,} bytes>"

    def _repr_html_(self) -> str:
        from litefuse.support.report.conversion_sections import report_sections
        from litefuse.support.report.html import sections_html
        from litefuse.support.report.sections import Section

        kept = "" if os.path.lexists(self._path) else ", which is no longer there"
        if not kept and self._path.is_relative_to(self._folder.name):
            kept = ", until save() keeps it elsewhere"
        rows = [("file", f"{self._path}{kept}")]
        if self._kernels is not None:
            rows.append(("kernels", str(self._kernels)))
        return sections_html([Section("Converted", rows), *report_sections(self.report)])
