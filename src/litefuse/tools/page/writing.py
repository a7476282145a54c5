"""Writes a page: reads the models, and measures and compares what is to be shown."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litefuse.errors import LitefuseError
from litefuse.frontends.source_of import source_of
from litefuse.litert.metadata.names import original_names
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.support.files.digest import file_digest
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.files.whole_file import whole_file
from litefuse.support.processes.process import run_in_worker
from litefuse.tools.environment.machine import versions
from litefuse.tools.page.content import Content
from litefuse.tools.page.converted import read_converted
from litefuse.tools.page.document import document
from litefuse.tools.page.graph import Model
from litefuse.tools.page.links import links
from litefuse.tools.page.original import OriginalJob

if TYPE_CHECKING:
    from litefuse.conversion.verify.targets.target_check import TargetCheck
    from litefuse.conversion.verify.verification import Verification
    from litefuse.support.report import Report
    from litefuse.tools.benchmarking.measurement import Benchmark

__all__ = ["Findings", "check_possible", "read_graphs", "write_page"]

# The packages of the extra by their modules: for places of boxes, and for areas.
_REQUIRED = {"fast_sugiyama": "fast-sugiyama", "squarify": "squarify"}


@dataclass(frozen=True)
class Findings:
    """The findings about a file, to be shown on its page.

    Attributes:
        report: The report of its conversion.
        verification: The comparison with its original.
        check: The check for targets.
        benchmark: The measurement of its time.
        original: The graphs of its original.
        original_name: The name of that.
        options: The options that the user gave.
        notes: What could not be found out, and why.
    """

    report: Report | None = None
    verification: Verification | None = None
    check: TargetCheck | None = None
    benchmark: Benchmark | None = None
    original: Model | None = None
    original_name: str = ""
    options: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def check_possible() -> None:
    """Checks before the work that a page can be made.

    Raises:
        LitefuseError: A package is missing.
    """
    for name, package in _REQUIRED.items():
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise LitefuseError(
                f"a page needs the package {package}, which cannot be imported: {error}",
                hint="Install the extra: pip install 'litefuse[report]'. It needs Python 3.11 or newer.",
            ) from error


def read_graphs(
    model: object,
    *,
    tags: Iterable[str] | None = None,
    inputs: Iterable[str] | None = None,
    outputs: Iterable[str] | None = None,
    signatures: Iterable[str] | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> Model:
    """Reads the graphs of a TensorFlow model, in a process of their own.

    Args:
        model: The model, as :func:`litefuse.convert` takes it.
        tags: The tags of the meta graph; None means the one for serving.
        inputs: The input tensors of a frozen graph; None means its placeholders.
        outputs: Its output tensors; None means the only one that nothing reads.
        signatures: The keys of the signatures to show; None means all.
        on_step: Called with the name of each step at its start.

    Raises:
        LitefuseError: It cannot be read.
    """
    source = source_of(model)
    with ExitStack() as stack:
        temporary = stack.enter_context(make_temporary_folder())
        folder = source.folder(Path(temporary, "saved_model"))
        stack.enter_context(source.opened(folder, on_step))
        job = OriginalJob(folder, _tuple(tags), _tuple(inputs), _tuple(outputs), _tuple(signatures))
        worker: Model = run_in_worker("litefuse.tools.page.original:read_original", job, on_step)
        return worker


def write_page(target: Path, model: Path, findings: Findings) -> None:
    """Writes the page of a LiteRT file, whole or not at all.

    Args:
        target: The file to write.
        model: The LiteRT file.
        findings: What is known about it.

    Raises:
        LitefuseError: A package is missing, the file cannot be read, or the page cannot be written.
    """
    check_possible()
    converted = read_converted(model)
    original, notes = findings.original, findings.notes
    if original is not None and not original.graphs:
        original, notes = None, (*notes, "The original has no signature that could be shown.")
    with content_of(model) as data:
        renamed = original_names(data)
    content = Content(
        converted=converted,
        sha256=_digest(model),
        original=original,
        original_name=findings.original_name,
        links={} if original is None else links(original, converted.model, renamed),
        report=findings.report,
        verification=findings.verification,
        check=findings.check,
        benchmark=findings.benchmark,
        options=findings.options,
        versions=tuple(versions().items()),
        notes=notes,
    )
    text = document(content)
    try:
        with whole_file(target) as partial:
            # Names may have halves of surrogate pairs, which UTF-8 lacks.
            partial.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise LitefuseError(f"the page cannot be written: {error.strerror or error}", where=str(target)) from error


def _digest(model: Path) -> str:
    try:
        return file_digest(model)
    except OSError as error:
        raise LitefuseError(f"the file cannot be read: {error.strerror or error}", where=str(model)) from error


def _tuple(values: Iterable[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)
