"""The beginning of a report, which is all of it unless details are wanted: what became of a model, in plain words."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from litefuse.support.report import CompositeReport, Report
from litefuse.support.report.caveats import caveats, ops_without_kernels, quantization_is_far, without_uuids
from litefuse.support.report.sections import (
    VERDICTS,
    Column,
    Judgement,
    Section,
    count_of,
    listed,
    table,
    time_text,
    worst_of,
)

if TYPE_CHECKING:
    from litefuse.support.report.quantized import QuantizationReport

# The most lines, with the title.
_LINES = 8
# How soon lines are left out.
_NOTE, _VERIFY, _RUNTIME, _BENCHMARK = 1, 2, 3, 4
# Of a composite that keeps its body.
_KEPT = "STABLEHLO_COMPOSITE"


class _Line(NamedTuple):
    """A line of the answer; the more it can be spared, the sooner it is left out, and never for 0."""

    name: str
    text: str
    judgement: Judgement = None
    spare: int = 0


def answer_section(
    report: Report,
    written: str = "",
    original: str = "",
    kernels: str = "",
    plug_ins: Sequence[str] = (),
    samples: Sequence[str] = (),
    *,
    details: bool = False,
) -> Section:
    """Returns the section that a report begins with.

    Args:
        report: The report.
        written: The file that the model was written to; empty if it is not written yet.
        original: The model that was converted, as the user named it; empty: as the report names it.
        kernels: The folder that generated kernels were written to; empty if there are none.
        plug_ins: The code that the user named, which the next commands need too.
        samples: The options that name the samples, which the comparison needs too.
        details: Whether the report goes on behind it: nothing is left out then.
    """
    source = original or report.source
    verb = "Quantized" if report.quantization is not None and Path(report.source).suffix == ".tflite" else "Converted"
    title = f"{verb} {source} to {written}" if written else f"{verb} {source}"
    lines = [*_facts(report, kernels, details=details), *_notes(report, details=details)]
    if details:
        lines += _signatures(report)
    if written:
        lines += _next(report, _path(source) or _path(report.source), written, plug_ins, samples)
    shown, left = (lines, 0) if details else _fitting(lines)
    again = [line for line in shown if line.name == "next"][1:]
    return table(
        f"{title} in {report.seconds:,.1f} s" if report.seconds else title,
        shown,
        [Column("", lambda line: "" if line in again else line.name), Column("", lambda line: line.text)],
        judge=lambda line: line.judgement,
        note=f"{count_of(left, 'more note')} among the details (-v, report.details())" if left else "",
        judgement=worst_of(line.judgement for line in lines) or "good",
    )


def fused_of(composites: Iterable[CompositeReport]) -> tuple[int, int]:
    """Counts the calls of composites: those that were fused, and those that could have been.

    Those whose bodies are better than the fused op count as neither, those that nothing calls as one.
    """
    counted = [composite for composite in composites if not composite.better_inlined]
    fused = sum(max(composite.call_sites, 1) for composite in counted if composite.outcome == "fused")
    return fused, sum(max(composite.call_sites, 1) for composite in counted)


def _fitting(lines: Sequence[_Line]) -> tuple[list[_Line], int]:
    """Leaves out what is too much, the last of the least important lines first; returns how many notes are among it."""
    kept, left = list(lines), 0
    while 1 + len(kept) + bool(left) > _LINES and (most := max(line.spare for line in kept)):
        del kept[max(place for place, line in enumerate(kept) if line.spare == most)]
        left += most == _NOTE
    return kept, left


def _facts(report: Report, kernels: str, *, details: bool) -> Iterator[_Line]:
    yield _Line("size", _size_text(report))
    if report.least_runtime:
        alone = f"; of the targets, only {listed(report.taken_by)}" if report.taken_by else ""
        yield _Line("runs in", report.least_runtime + alone, spare=_RUNTIME)
    yield from _fused(report.composites)
    if not details:  # which list them
        yield from _loops(report)
    yield from _forms(report)
    yield from _kernels(report, kernels)
    if report.quantization is not None:
        from litefuse.support.report.quantized_sections import form_text  # few models are quantized

        yield _Line("quantized", form_text(report.quantization))
    yield from _checked(report)
    yield from _targets(report)


def _size_text(report: Report) -> str:
    text = f"{count_of(report.size, 'byte')}, {count_of(sum(report.op_counts.values()), 'op')}"
    before = 0 if report.quantization is None else report.quantization.size_before
    if not before or not report.size:
        return text
    if before >= 2 * report.size:
        change = f"{before / report.size:.1f} times smaller"
    else:
        change = f"{abs(report.size / before - 1):.0%} {'larger' if report.size > before else 'smaller'}"
    return f"{text}, {change} than the {before:,} before quantization"


def _fused(composites: Sequence[CompositeReport]) -> Iterator[_Line]:
    fused, whole = fused_of(composites)
    if not whole:
        return
    groups: dict[tuple[str, str], list[CompositeReport]] = {}
    for composite in composites:
        if composite.outcome == "fused":
            groups.setdefault((without_uuids(composite.name), composite.fused_into or ""), []).append(composite)
    ordered = sorted(groups.items(), key=lambda group: -fused_of(group[1])[0])
    what = listed(_became(name, into, group) for (name, into), group in ordered)
    count = f"{fused:,} of {count_of(whole, 'composite')}"
    yield _Line("fused", f"{count}: {what}" if what else count, "good" if fused == whole else "warn")


def _became(name: str, into: str, group: Sequence[CompositeReport]) -> str:
    number = fused_of(group)[0]
    several = f"{number:,} x " if number > 1 else ""
    layers = listed(dict.fromkeys(layer for composite in group for layer in composite.layers), 2)
    where = f" in {layers}" if layers else ""
    if into == name:
        return f"{several}{name} (custom op){where}"
    if into == f"{_KEPT} {name}":
        into = _KEPT
    return f"{several}{name} is {into}{where}"


def _loops(report: Report) -> Iterator[_Line]:
    """Says where loops stay, and why: they may be faster than fused ops."""
    layers: dict[str, list[str]] = {}
    for loop in report.loops:
        layers.setdefault(loop.reason, []).append(loop.layer)
    for composite in report.composites:
        if composite.better_inlined:
            names = composite.layers or (without_uuids(composite.name),)
            layers.setdefault(composite.reason or "", []).extend(names)
    if layers:
        reason, names = next(iter(layers.items()))
        more = sum(map(len, layers.values())) - len(names)
        text = f"{listed(names, 2)}: {reason}"
        yield _Line("loops", f"{text}; and {more:,} more" if more else text)


def _forms(report: Report) -> Iterator[_Line]:
    """Compares the forms of recurrent layers, the chosen one first."""
    texts: list[str] = []
    for form in sorted(report.forms, key=lambda form: not form.chosen):
        arena = "" if form.arena is None else f" and an arena of {form.arena:,}"
        refused = f", which tflite-micro does not run ({form.problem})" if form.problem else ""
        texts.append(f"{form.form}, {form.size:,} bytes{arena}{refused}")
    if texts:
        yield _Line("forms", f"{texts[0]}; not {'; nor '.join(texts[1:])}")


def _kernels(report: Report, folder: str) -> Iterator[_Line]:
    kernels = [(item.name, item.kernel) for item in (*report.composites, *(report.chains or ())) if item.kernel]
    if kernels:
        faster = listed(
            f"{without_uuids(name)} {kernel.body_seconds / max(kernel.kernel_seconds, 1e-9):.1f} times as fast"
            for name, kernel in kernels
        )
        place = f", in {folder}" if folder else ""
        yield _Line("kernels", f"{count_of(len(kernels), 'kernel')} generated{place}: {faster}", "good")


def _checked(report: Report) -> Iterator[_Line]:
    """Says in one line whether the file computes what it has to, and whether it runs."""
    told = [*_equal(report.composites)]
    if report.quantization is not None:
        told.append(_difference(report.quantization))
    check = report.file_check
    if check is not None:
        count = len(report.signatures)
        runs = "LiteRT runs it" if count == 1 else f"LiteRT runs each of its {count:,} signatures"
        times = listed(
            f"{time_text(seconds)}{f' ({key})' if count > 1 else ''}" for key, seconds in check.seconds.items()
        )
        takes = f" in {times} on one thread" if times else ""
        told.append((f"{runs}{takes}", "good") if check.ran else (f"not called: {check.reason}", "warn"))
    if told:
        yield _Line("checked", "; ".join(text for text, _ in told), worst_of(judgement for _, judgement in told))


def _equal(composites: Sequence[CompositeReport]) -> Iterator[tuple[str, Judgement]]:
    fused = [composite for composite in composites if composite.outcome == "fused"]
    if not fused:
        return
    errors = [composite.kernel.error if composite.kernel else composite.error for composite in fused]
    known = [error for error in errors if error is not None]
    if not known:
        yield "no fused op was compared with what it replaces", None
    elif len(known) == len(errors):
        yield f"each fused op computes what it replaces (error {max(known):.1g})", "good"
    else:
        which = f"{len(known):,} of {len(errors):,} fused ops compute what they replace (error {max(known):.1g})"
        yield f"{which}, {len(errors) - len(known):,} not compared", "good"


def _difference(quantization: QuantizationReport) -> tuple[str, Judgement]:
    if quantization.error is None:
        return f"outputs not compared with those before quantization: {quantization.unchecked}", "unclear"
    by = f"differ by {quantization.error:.1g} from" if quantization.error else "equal"
    text = f"outputs {by} those before quantization, on {quantization.inputs}"
    return text, "bad" if quantization_is_far(quantization) else "good"


def _targets(report: Report) -> Iterator[_Line]:
    if report.target == "cpu":
        return
    several = len(report.target_checks) > 1
    verdicts = [f"{check.target} {check.text}" if several else check.text for check in report.target_checks]
    batch = [f"a batch of {report.batch_taken}, not a dynamic one (--batch)"] if report.batch_taken else []
    ends = [value for value in report.narrowed if value.dtype in {"bool", "int64"}]
    dtypes = [f"{value.name.partition(':')[2]} is {value.new_dtype} for {value.dtype}" for value in ends]
    told = [*verdicts, *batch, *dtypes]
    text = f"{report.target}: {'; '.join(told)}" if told else report.target
    yield _Line("target", text, worst_of(VERDICTS.get(check.verdict) for check in report.target_checks))


def _notes(report: Report, *, details: bool) -> Iterator[_Line]:
    """Yields what users have to know, the worst first: all of a kind in one line, unless details are wanted."""
    notes = caveats(report, details=details)
    names = [note.name for note in notes]
    for number, note in enumerate(notes):
        alike = [] if details else [other.text for other in notes if other.name == note.name]
        if details or number == names.index(note.name):
            text = note.text if details else "; ".join(alike)
            yield _Line(note.name, without_uuids(text), note.judgement, spare=_NOTE if number else 0)


def _signatures(report: Report) -> Iterator[_Line]:
    yield _Line("signatures", ", ".join(report.signatures) or "none")
    for signature in report.left_out:
        if signature.usable:
            yield _Line("left out", f"{signature.signature}: {signature.reason}")


def _next(
    report: Report, original: str, written: str, plug_ins: Sequence[str], samples: Sequence[str]
) -> Iterator[_Line]:
    """Says how kernels are begun, how the whole is compared with the original, and how it is exported or measured."""
    code = [text for name in plug_ins for text in ("--plug-in", name)]
    commands: list[tuple[int, list[str]]] = []
    ran = report.file_check is not None and report.file_check.ran
    if not ran and (lacking := ops_without_kernels(report)) and (report.file_check is not None or not plug_ins):
        commands.append((_BENCHMARK, ["kernels", "new", lacking[0], "--from", written]))
        code += ["--kernels", "FILE.py"]
    if original:
        # A bundle's tokens must be the original's otherwise.
        rounded = ["--max-error", "0.1"] if report.quantization and written.endswith(".litertlm") else []
        commands.append((_VERIFY, ["verify", written, original, *samples, *rounded, *code]))
    if re.search(r"\bmicro\b", report.target):
        commands.append((0, ["export-micro", written]))
    elif ran:
        commands.append((_BENCHMARK, ["benchmark", written, *code]))
    for spare, command in commands:
        yield _Line("next", shlex.join(["litefuse", *command]), spare=spare)


def _path(name: str) -> str:
    try:
        return name if Path(name).exists() else ""
    except (OSError, ValueError):
        return ""
