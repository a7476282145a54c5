"""The form of recurrent layers for microcontrollers: loops, fused ops and unrolled steps are made, and measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from litefuse.conversion.job import ConversionJob
from litefuse.conversion.verify.targets.check import file_checks
from litefuse.errors import ConversionError, QuantizationError
from litefuse.litert.targets import find_target
from litefuse.support.report import FormReport, Report

_LSTM = "UNIDIRECTIONAL_SEQUENCE_LSTM"


class _Made(NamedTuple):
    """A form that was made."""

    job: ConversionJob
    report: Report
    form: FormReport


def convert_to_smallest(
    job: ConversionJob, run: Callable[[ConversionJob], Report], on_step: Callable[[str], None]
) -> tuple[Report, ConversionJob]:
    """Converts a model in each form of its recurrent layers; returns the smallest that tflite-micro runs, and its job.

    That is the one whose file and arena take the fewest bytes together; if it runs none, the first. Where tflite-micro
    is not installed, its table of ops answers, and the file alone counts.

    Raises:
        ConversionError: The model cannot be converted in any form; this is the error of the first.
        QuantizationError: Likewise.
    """
    made: list[_Made] = []
    errors: list[ConversionError | QuantizationError] = []
    for number, variant in enumerate(
        (job, replace(job, unroll=False), replace(job, options=replace(job.options, rnn="loop")))
    ):
        if made and not _differs(made[0].report, variant):
            continue
        form = replace(variant, output=job.output.with_name(f"form{number}.tflite"))
        try:
            report = run(form)
        except (ConversionError, QuantizationError) as error:
            errors.append(error)
            continue
        if all(report.op_counts != other.report.op_counts for other in made):
            made.append(_Made(form, report, FormReport(_name(report), report.size)))
    if not made:
        raise errors[0]
    (target,) = job.micro_targets
    if len(made) > 1:
        made = [one._replace(form=_measured(one.form, one.job.output, target, on_step)) for one in made]
    running = [one for one in made if not one.form.problem] or made[:1]
    best = min(running, key=lambda one: one.form.size + (one.form.arena or 0))
    best.job.output.replace(job.output)
    forms = tuple(replace(one.form, chosen=one is best) for one in made) if len(made) > 1 else ()
    return replace(best.report, forms=forms), replace(best.job, output=job.output)


def _differs(first: Report, form: ConversionJob) -> bool:
    """Whether another form may make another file than the first did, of fused ops and unrolled steps."""
    return _LSTM in first.op_counts if form.options.rnn == "loop" else bool(first.loops)


def _name(report: Report) -> str:
    counts: Mapping[str, int] = report.op_counts
    parts = ["fused"] * (_LSTM in counts) + ["a loop" if "WHILE" in counts else "unrolled"] * bool(report.loops)
    return " and ".join(parts) or "a loop"


def _measured(form: FormReport, path: Path, target: str, on_step: Callable[[str], None]) -> FormReport:
    """Asks tflite-micro about a form."""
    micro = find_target(target)
    with file_checks(path, on_step=on_step) as checks:
        report, answer = checks.report(micro), checks.asked.get(micro.name)
    reasons: Sequence[str] = [f"{op.op or 'the file'}: {op.reason}" for op in report.refused]
    problem = reasons[0] if reasons else "its numbers are others" if report.verdict == "differs" else ""
    return replace(form, arena=None if answer is None else answer.arena, problem=problem)
