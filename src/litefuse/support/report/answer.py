"""The beginning of a report: the answer to what became of a model, in plain words."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from litefuse.support.report import CompositeReport, Report
from litefuse.support.report.caveats import quantization_is_far
from litefuse.support.report.sections import VERDICTS, Column, Judgement, Section, count_of, listed, table, time_text

if TYPE_CHECKING:
    from litefuse.support.report.quantized import QuantizationReport

# Of a composite that keeps its body.
_KEPT = "STABLEHLO_COMPOSITE"


class _Line(NamedTuple):
    name: str
    text: str
    judgement: Judgement = None


def answer_section(
    report: Report, *, written: str = "", original: str = "", kernels: str = "", caveats: Judgement = None
) -> Section:
    """Returns the section that a report begins with.

    Args:
        report: The report.
        written: The file that the model was written to; empty if it is not written yet.
        original: The model that was converted, as the user named it; empty: as the report names it.
        kernels: The folder that generated kernels were written to; empty if there are none.
        caveats: The judgement of the caveats that follow it.
    """
    source = original or report.source
    verb = "Quantized" if report.quantization is not None and Path(report.source).suffix == ".tflite" else "Converted"
    return table(
        f"{verb} {source} to {written}" if written else f"{verb} {source}",
        _lines(report, source, written, kernels),
        [Column("", lambda line: line.name), Column("", lambda line: line.text)],
        judge=lambda line: line.judgement,
        judgement=caveats or "good",
    )


def _lines(report: Report, source: str, written: str, kernels: str) -> Iterator[_Line]:
    yield _Line("size", _size_text(report))
    yield from _fused(report)
    yield from _checked(report.composites)
    yield from _kernels(report, kernels)
    if report.quantization is not None:
        yield from _quantized(report.quantization)
    yield from _run(report)
    if report.least_runtime:
        yield _Line("runs in", report.least_runtime)
    yield from _targets(report)
    yield _Line("signatures", ", ".join(report.signatures) or "none")
    for signature in report.left_out:
        if signature.usable:
            yield _Line("left out", f"{signature.signature}: {signature.reason}")
    yield _Line("time", f"{sum(report.timings.values()):.2f} s")
    if written:
        yield from _next(report, _path(source) or _path(report.source), shlex.quote(written))


def _size_text(report: Report) -> str:
    size = count_of(report.size, "byte")
    if not report.source_size or not report.size:
        return size
    whole = f"the original's {report.source_size:,}"
    larger, smaller = report.size / report.source_size, report.source_size / report.size
    if smaller >= 2:
        return f"{size}, {smaller:.1f} times smaller than {whole}"
    if larger >= 2:
        return f"{size}, {larger:.1f} times larger than {whole}"
    if abs(larger - 1) < 0.01:
        return f"{size}, about as many as {whole}"
    return f"{size}, {abs(larger - 1):.0%} {'smaller' if larger < 1 else 'larger'} than {whole}"


def _fused(report: Report) -> Iterator[_Line]:
    composites = report.composites
    if not composites:
        if Path(report.source).suffix != ".tflite":
            yield _Line("fused", "nothing: no function is annotated as a composite, and no layer was recognized as one")
        return
    fused = [composite for composite in composites if composite.outcome == "fused"]
    count = f"{len(fused):,} of {count_of(len(composites), 'composite')}"
    what = listed(_became(name, into, number) for (name, into), number in _groups(fused))
    yield _Line("fused", f"{count}: {what}" if what else count, "good" if len(fused) == len(composites) else "warn")


def _groups(fused: Sequence[CompositeReport]) -> list[tuple[tuple[str, str], int]]:
    counts = Counter[tuple[str, str]]()
    for composite in fused:
        counts[composite.name, composite.fused_into or ""] += composite.call_sites
    return counts.most_common()


def _became(name: str, into: str, number: int) -> str:
    several = f"{number:,} x " if number > 1 else ""
    if into == name:
        return f"{several}{name} (custom op)"
    if into == f"{_KEPT} {name}":
        into = _KEPT
    return f"{several}{name} is {into}"


def _checked(composites: Sequence[CompositeReport]) -> Iterator[_Line]:
    """Says whether fused ops compute what they replace."""
    fused = [composite for composite in composites if composite.outcome == "fused"]
    if not fused:
        return
    errors = [composite.kernel.error if composite.kernel else composite.error for composite in fused]
    known = [error for error in errors if error is not None]
    left = len(errors) - len(known)
    if not known:
        yield _Line("equal", "unknown: no fused op was compared with what it replaces")
    elif not left:
        yield _Line("equal", f"each fused op computes what it replaces (largest error {max(known):.1g})", "good")
    else:
        which = f"{len(known):,} of {len(errors):,} fused ops, as checked (largest error {max(known):.1g})"
        yield _Line("equal", f"{which}; {left:,} not compared", "good")


def _kernels(report: Report, folder: str) -> Iterator[_Line]:
    kernels = [(item.name, item.kernel) for item in (*report.composites, *(report.chains or ())) if item.kernel]
    if kernels:
        faster = listed(
            f"{name} {kernel.body_seconds / max(kernel.kernel_seconds, 1e-9):.1f} times as fast"
            for name, kernel in kernels
        )
        place = f", in {folder}" if folder else ""
        yield _Line("kernels", f"{count_of(len(kernels), 'kernel')} generated{place}: {faster}", "good")


def _quantized(quantization: QuantizationReport) -> Iterator[_Line]:
    if quantization.error is None:
        yield _Line("outputs", f"not compared with those before quantization: {quantization.unchecked}", "unclear")
        return
    is_far = quantization_is_far(quantization)
    text = f"differ by up to {quantization.error:.1g} from those before quantization, on {quantization.inputs}"
    yield _Line("outputs", text, "bad" if is_far else "good")


def _run(report: Report) -> Iterator[_Line]:
    check = report.file_check
    if check is None:
        return
    if check.ran:
        yield _Line("run", f"LiteRT called {_each(len(report.signatures))}", "good")
        if check.seconds:
            several = len(report.signatures) > 1
            told = (f"{time_text(seconds)}{f' ({key})' if several else ''}" for key, seconds in check.seconds.items())
            yield _Line("speed", f"a call takes about {listed(told)} on this machine")
    else:
        yield _Line("run", f"not called: {check.reason}", "warn")


def _each(signatures: int) -> str:
    return "its signature" if signatures == 1 else f"each of its {signatures:,} signatures"


def _targets(report: Report) -> Iterator[_Line]:
    if report.target == "cpu":
        return
    batch = f"; a batch of {report.batch_taken}, not a dynamic one (--batch)" if report.batch_taken else ""
    yield _Line("target", f"{report.target}{batch}")
    for check in report.target_checks:
        name = f"check {check.target}" if len(report.target_checks) > 1 else "check"
        yield _Line(name, check.text, VERDICTS.get(check.verdict))


def _next(report: Report, original: str, written: str) -> Iterator[_Line]:
    """Says how the whole is compared with the original, and how it is measured if it runs here."""
    texts: list[str] = []
    if original:
        texts.append(f"litefuse verify {written} {shlex.quote(original)} compares it with the original")
    if report.file_check is not None and report.file_check.ran:
        texts.append(f"litefuse benchmark {written} measures how fast it is")
    for number, text in enumerate(texts):
        yield _Line("" if number else "next", text)


def _path(name: str) -> str:
    try:
        return name if Path(name).exists() else ""
    except (OSError, ValueError):
        return ""
