"""Public function ``save_report()``."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from litefuse.conversion.verify.reference import is_litert, path_of
from litefuse.errors import LitefuseError
from litefuse.frontends.source_of import source_of
from litefuse.litert.metadata.names import original_names
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.support.cloud.names import name_of
from litefuse.support.cloud.paths import local, saved_to
from litefuse.support.files.digest import file_digest
from litefuse.support.files.readable import os_errors
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.files.whole_file import whole_file
from litefuse.support.options.names import listed_names
from litefuse.support.processes.process import run_in_worker
from litefuse.support.progress.show import shown_progress
from litefuse.support.report.sections import Section
from litefuse.support.result import ConversionResult
from litefuse.tools.environment.machine import versions
from litefuse.tools.page.content import Content
from litefuse.tools.page.converted import Converted, Place, read_converted
from litefuse.tools.page.document import document
from litefuse.tools.page.graph import Model
from litefuse.tools.page.links import links
from litefuse.tools.page.original import OriginalJob

if TYPE_CHECKING:
    from litefuse.conversion.verify.targets.target_check import TargetCheck
    from litefuse.conversion.verify.verification import Verification
    from litefuse.tools.benchmarking.measurement import Benchmark

# Packages by their modules: for places of boxes, and for areas.
_REQUIRED = {"fast_sugiyama": "fast-sugiyama", "squarify": "squarify"}


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
                hint=f"Install it: pip install {package}. It requires Python 3.11 or newer.",
            ) from error


def save_report(
    target: str | os.PathLike[str],
    model: ConversionResult | str | os.PathLike[str],
    original: object = None,
    *,
    verification: Verification | None = None,
    check: TargetCheck | None = None,
    benchmark: Benchmark | None = None,
    tags: Iterable[str] | None = None,
    input_arrays: Iterable[str] | None = None,
    output_arrays: Iterable[str] | None = None,
    signatures: Iterable[str] | None = None,
    options: Mapping[str, str] | None = None,
    notes: Iterable[str] = (),
    bundle: Iterable[Section] = (),
    progress: bool = False,
    on_step: Callable[[str], None] = lambda _: None,
) -> Path:
    """Writes a page about a LiteRT file: one HTML file that needs no server and loads nothing.

    It shows the graph of the file, and beside it that of the original, both folded by layer and function and linked by
    the names of nodes; the bytes of each layer, and what else is given: the report of the conversion, how far the
    outputs and layers are from the original's, the time of each op, and the ops that targets refuse. Without a script,
    it has the same as tables. The extra ``report`` is needed.

    Args:
        target: The file to write, whole or not at all; its folder must exist. Or a URL to upload it to.
        model: The result of a conversion, or the file of a LiteRT model of any converter.
        original: What it was converted from, as :func:`litefuse.convert` takes it; or the file of another LiteRT model,
            such as that before quantization. None: of a result, the folder or file that was converted, if it is still
            there.
        verification: Of :func:`litefuse.verify_model`, with ``layers=True`` for the errors of layers.
        check: Of :func:`litefuse.check`.
        benchmark: Of :func:`litefuse.benchmark`, of this file first.
        tags: The tags of the meta graph of a SavedModel; None means the one for serving.
        input_arrays: The input tensors of a frozen graph; None means its placeholders.
        output_arrays: Its output tensors; None means the only one that nothing reads.
        signatures: The keys of the original's signatures to show; None means all.
        options: The options of the conversion, to be shown.
        notes: Sentences to be shown below the answers.
        bundle: Tables of what else is in the bundle that the file is of.
        progress: Show the progress, as :func:`litefuse.convert` does.
        on_step: Called with the name of each step at its start.

    Returns:
        The path of the page, as it was given.

    Raises:
        LitefuseError: A package is missing, an argument is of another kind, one of the models cannot be read, or the
            page cannot be written.
    """
    check_possible()
    _check_findings(verification, check, benchmark)
    original = local(original)
    report = model.report if isinstance(model, ConversionResult) else None
    if isinstance(model, ConversionResult):
        if original is None and Path(model.report.source).exists():
            original = model.report.source
        file, title = model.path, model.report.source
    elif isinstance(model, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
        file = Path(os.fspath(local(model)))
        title = name_of(file)
    else:
        raise LitefuseError(
            f"model is {_kind(model)}; it must be the result of a conversion or the path of a LiteRT file",
            hint="Write the content to a file.",
        )
    with (
        saved_to(target) as path,
        shown_progress(f"Reporting on {title}", show=progress, also=on_step) as announce,
    ):
        _check_target(path, file, original)
        graphs: Model | None = None
        if original is not None:
            announce("read")
            graphs = _of_file(original) or _read_graphs(
                original,
                tags=listed_names(tags, "tags"),
                inputs=listed_names(input_arrays, "input_arrays"),
                outputs=listed_names(output_arrays, "output_arrays"),
                signatures=listed_names(signatures, "signatures"),
                on_step=announce,
            )
        original_name = "" if original is None else _name_of(original)
        announce("write")
        converted = read_converted(file)
        if graphs is not None and not graphs.graphs:
            graphs, notes = None, (*notes, "The original has no signature that could be shown.")
        content = Content(
            converted=converted,
            links={} if graphs is None else _links(graphs, converted, file),
            sha256=_digest(file),
            original=graphs,
            original_name=original_name,
            report=report,
            verification=verification,
            check=check,
            benchmark=benchmark,
            options=tuple((options or {}).items()),
            versions=tuple(versions().items()),
            notes=tuple(notes),
            bundle=tuple(bundle),
        )
        _write(path, document(content))
    return Path(target)


def _check_findings(verification: object, check: object, benchmark: object) -> None:
    """Checks that each finding is what its function returns."""
    from litefuse.conversion.verify.targets.target_check import TargetCheck
    from litefuse.conversion.verify.verification import Verification
    from litefuse.tools.benchmarking.measurement import Benchmark

    for name, value, kind, function in (
        ("verification", verification, Verification, "verify_model"),
        ("check", check, TargetCheck, "check"),
        ("benchmark", benchmark, Benchmark, "benchmark"),
    ):
        if value is not None and not isinstance(value, kind):
            raise LitefuseError(f"{name} is {_kind(value)}; it must be a result of litefuse.{function}")


def _kind(value: object) -> str:
    return "True" if value is True else f"of the type {type(value).__name__}"


def _check_target(target: Path, *read: object) -> None:
    """Checks that the page does not replace a file that it is about."""
    for path in read:
        if isinstance(path, str | os.PathLike):
            place = Path(cast("str | os.PathLike[str]", path))
            if os.path.realpath(place) == os.path.realpath(target):
                raise LitefuseError(
                    "the page cannot be written: it would replace what it is made from",
                    where=str(target),
                    hint="Name another file as target.",
                )


def _of_file(original: object) -> Model | None:
    """Returns the graphs of an original that is a LiteRT file; None for any other."""
    path = path_of(original)
    return read_converted(path).model if path is not None and is_litert(original) else None


def _name_of(original: object) -> str:
    path = path_of(original)
    return source_of(original).name if path is None else name_of(path)


def _read_graphs(
    model: object,
    *,
    tags: Iterable[str] | None = None,
    inputs: Iterable[str] | None = None,
    outputs: Iterable[str] | None = None,
    signatures: Iterable[str] | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> Model:
    """Reads the graphs of a TensorFlow model, in a process of their own; the arguments are those of an OriginalJob."""
    source = source_of(model)
    with ExitStack() as stack:
        temporary = stack.enter_context(make_temporary_folder())
        folder = source.folder(Path(temporary, "saved_model"))
        stack.enter_context(source.opened(folder, on_step))
        job = OriginalJob(folder, _tuple(tags), _tuple(inputs), _tuple(outputs), _tuple(signatures))
        worker: Model = run_in_worker("litefuse.tools.page.original:read_original", job, on_step)
        return worker


def _links(original: Model, converted: Converted, file: Path) -> Mapping[Place, tuple[Place, ...]]:
    with content_of(file) as data:
        renamed = original_names(data)
    return links(original, converted.model, renamed)


def _write(target: Path, text: str) -> None:
    """Writes the page, whole or not at all."""
    with os_errors("the page cannot be written", target), whole_file(target) as partial:
        # Names may have halves of surrogate pairs, which UTF-8 lacks.
        partial.write_text(text, encoding="utf-8", errors="backslashreplace")


def _digest(model: Path) -> str:
    with os_errors("the file cannot be read", model):
        return file_digest(model)


def _tuple(values: Iterable[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)
