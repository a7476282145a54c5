"""The last step of a conversion: asks the software of its targets about the written file."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from litefuse.report import Report, TargetCheckReport
from litefuse.verify.targets.check import check
from litefuse.verify.targets.sections import verdict_text

__all__ = ["with_target_checks"]

# The name of the step.
_STEP = "check-target"


def with_target_checks(report: Report, path: Path, targets: Sequence[str], announce: Callable[[str], None]) -> Report:
    """Returns the report with what each target but the CPU makes of the file.

    Args:
        report: The report of the conversion.
        path: The written file.
        targets: The names of its targets.
        announce: Called with the name of the step.
    """
    begun = time.perf_counter()
    announce(_STEP)
    told: list[TargetCheckReport] = []
    for found in check(path, [each for each in targets if each != "cpu"]).reports:
        missing = f"{found.missing}; " if found.missing else ""
        refused = tuple(f"{each.op or 'the file'}: {each.reason}" for each in found.refused)
        told.append(TargetCheckReport(found.target, found.verdict, missing + verdict_text(found), refused, found.facts))
    timings = {**report.timings, _STEP: time.perf_counter() - begun}
    return replace(report, timings=timings, target_checks=tuple(told))
