"""Public function ``save_report()``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from litefuse.conversion.verify.reference import is_litert, path_of
from litefuse.errors import LitefuseError
from litefuse.frontends.source_of import source_of
from litefuse.support.cloud.names import name_of
from litefuse.support.cloud.paths import local, saved_to
from litefuse.support.options.names import listed_names
from litefuse.support.progress.show import shown_progress
from litefuse.support.result import ConversionResult
from litefuse.tools.page.converted import read_converted
from litefuse.tools.page.graph import Model
from litefuse.tools.page.writing import Findings, check_possible, read_graphs, write_page

if TYPE_CHECKING:
    from litefuse.conversion.verify.targets.target_check import TargetCheck
    from litefuse.conversion.verify.verification import Verification
    from litefuse.tools.benchmarking.measurement import Benchmark

__all__ = ["save_report"]


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
    found = Findings(
        verification=verification,
        check=check,
        benchmark=benchmark,
        options=tuple((options or {}).items()),
        notes=tuple(notes),
    )
    if isinstance(model, ConversionResult):
        found = replace(found, report=model.report)
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
        if original is not None:
            announce("read")
            graphs = _of_file(original) or read_graphs(
                original,
                tags=listed_names(tags, "tags"),
                inputs=listed_names(input_arrays, "input_arrays"),
                outputs=listed_names(output_arrays, "output_arrays"),
                signatures=listed_names(signatures, "signatures"),
                on_step=announce,
            )
            found = replace(found, original=graphs, original_name=_name_of(original))
        announce("write")
        write_page(path, file, found)
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
    for each in read:
        if isinstance(each, str | os.PathLike):
            place = Path(cast("str | os.PathLike[str]", each))
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
