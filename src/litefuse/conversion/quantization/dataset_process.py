"""Representative datasets that a function of a file makes, in a process in which it may import what it needs."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litefuse.conversion.quantization.progress import SampleProgress
from litefuse.conversion.quantization.recorded import RecordedSamples, record
from litefuse.errors import LitefuseError
from litefuse.support.plug_ins.entry_points import what_was_raised

__all__ = ["DatasetJob", "names_function", "record_dataset"]

_FUNCTION = re.compile(r"(?P<file>.+\.py):(?P<name>[^\W\d]\w*)")


@dataclass(frozen=True)
class DatasetJob:
    """A request to record the samples of a dataset.

    Attributes:
        function: ``FILE.py:FUNCTION``, which returns samples, or makes one of an image.
        target: The file for the samples.
        images: The folder of images that the function makes samples of; None if it returns the samples itself.
    """

    function: str
    target: Path
    images: Path | None = None


def names_function(text: str) -> bool:
    """Whether a text is ``FILE.py:FUNCTION``."""
    return _FUNCTION.fullmatch(text) is not None


def record_dataset(job: DatasetJob, announce: Callable[[str], None]) -> RecordedSamples:
    """Records the samples of a dataset.

    Raises:
        LitefuseError: The function cannot be imported, or fails; or its samples are none.
    """
    from litefuse.conversion.quantization.dataset import samples_in
    from litefuse.conversion.quantization.images import images_in

    gc.enable()  # unlike a conversion, what users' libraries do may leave cycles for each sample
    announce("samples")
    function = _imported(job.function)
    if job.images is None:
        given = samples_in(_Guarded(function, job.function))
    else:
        given = samples_in(images_in(job.images, function))
    return record(given, job.target, SampleProgress(announce, "samples").advance)


class _Guarded:
    """The samples that a function returns; its errors become litefuse's, with the place where they were raised.

    Raises:
        LitefuseError: The function fails, or does not return samples.
    """

    def __init__(self, function: Callable[[], Iterable[Any]], where: str) -> None:
        self._where = where
        self._number = 0
        try:
            self._given: Any = function()
        except Exception as error:
            raise self._failure(error) from error
        if not hasattr(self._given, "__iter__") or hasattr(self._given, "keys"):
            raise LitefuseError(
                f"the function returns a {type(self._given).__name__}, not a sequence of samples",
                where=where,
                hint="Return or yield samples such as {'x': array}.",
            )

    def __iter__(self) -> Iterator[Any]:
        try:
            for sample in self._given:
                self._number += 1
                yield sample
        except Exception as error:
            raise self._failure(error) from error

    def _failure(self, error: Exception) -> LitefuseError:
        if isinstance(error, LitefuseError):
            return error
        when = f" after sample {self._number}" if self._number else ""
        return LitefuseError(f"the function fails{when}: {what_was_raised(error)}", where=self._where)


def _imported(function: str) -> Callable[..., Any]:
    """Imports a function from a file, which may import others beside it.

    Raises:
        LitefuseError: No such file or function, or importing it fails.
    """
    from litefuse.support.plug_ins.modules import import_file

    matched = _FUNCTION.fullmatch(function)
    if matched is None:
        raise LitefuseError("this is not FILE.py:FUNCTION", where=function)
    path = Path(matched["file"]).absolute()
    sys.path.insert(0, str(path.parent))
    try:
        module = import_file(path)
    except LitefuseError:
        raise
    except Exception as error:  # any error of a user's file
        raise LitefuseError(f"it cannot be imported: {what_was_raised(error)}", where=str(path)) from error
    made = getattr(module, matched["name"], None)
    if not callable(made):
        raise LitefuseError(f"the file has no function {matched['name']!r}", where=str(path))
    return made
