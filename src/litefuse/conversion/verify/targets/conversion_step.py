"""The last step of a conversion: asks the software of its targets about the written file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from litefuse.conversion.job import ConversionJob
from litefuse.errors import LitefuseError, NotAcceleratedError
from litefuse.litert.targets import find_target
from litefuse.support.options.conversion import Conversion

if TYPE_CHECKING:
    from litefuse.conversion.verify.targets.target_check import TargetReport
    from litefuse.support.report import Report

# The name of the step.
_STEP = "check-target"
# The verdicts that pass where acceleration is required: an inconclusive check has not refused anything.
_TAKEN = ("accelerated", "inconclusive")


def check_required(options: Conversion) -> None:
    """Checks, before the conversion, that targets which are required to take the whole file can be checked.

    Raises:
        LitefuseError: The CPU is the only target.
        NotAcceleratedError: The software of a target is known not to be installed.
    """
    if options.checks.targets != "required":
        return
    asked = [target for target in options.target if target != "cpu"]
    if not asked:
        raise LitefuseError(
            "Checks(targets='required') needs a target that can be checked, and cpu is the only one",
            hint="Pass a target such as gpu, or leave it out (on the command line, --target and --check-target).",
        )
    for name in asked:
        if missing := find_target(name).missing():
            raise NotAcceleratedError(f"whether it takes the whole file is not known: {missing}", where=name)


def with_target_checks(report: Report, job: ConversionJob, announce: Callable[[str], None]) -> Report:
    """Returns the report with what each target but the CPU makes of the file, if it is to be checked.

    Raises:
        NotAcceleratedError: A target does not, and has to.
    """
    if not job.options.checks.targets or job.options.target == ("cpu",):
        return report
    from litefuse.conversion.verify.targets.check import check  # few conversions are for others
    from litefuse.conversion.verify.targets.target_check import verdict_text
    from litefuse.support.report import TargetCheckReport

    begun = time.perf_counter()
    announce(_STEP)
    targets, required = job.options.target, job.options.checks.targets == "required"
    reports = check(job.output, [target for target in targets if target != "cpu"], on_step=announce).reports
    refusing = [
        target_report for target_report in reports if target_report.refused or target_report.verdict not in _TAKEN
    ]
    if required and refusing:
        raise NotAcceleratedError(
            "\n".join(_reasons(refusing)),
            hint="; ".join(
                dict.fromkeys(op.hint for target_report in refusing for op in target_report.refused if op.hint)
            ),
            refused=[
                f"{target_report.target}: {text}" for target_report in refusing for text in _refused(target_report)
            ],
        )
    told = [
        TargetCheckReport(
            target_report.target,
            target_report.verdict,
            verdict_text(target_report) + (" (litefuse check says why)" if target_report.missing else ""),
            _refused(target_report),
            (*([("not checked", target_report.missing)] if target_report.missing else []), *target_report.facts),
        )
        for target_report in reports
    ]
    timings = {**report.timings, _STEP: time.perf_counter() - begun}
    return replace(report, timings=timings, target_checks=tuple(told))


def _text(report: TargetReport) -> str:
    from litefuse.conversion.verify.targets.target_check import verdict_text

    return (f"{report.missing}; " if report.missing else "") + verdict_text(report)


def _refused(report: TargetReport) -> tuple[str, ...]:
    return tuple(f"{op.op or 'the file'}: {op.reason}" for op in report.refused)


def _reasons(reports: Sequence[TargetReport]) -> Iterator[str]:
    for report in reports:
        yield f"target {report.target}: {_text(report)}"
        for op in report.refused:
            at = f", at {op.places[0]}" if op.places else ""
            yield f"  {op.op or 'the file'}: {op.reason}{at}"
