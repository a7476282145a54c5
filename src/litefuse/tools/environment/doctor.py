"""Looks at everything that litefuse works with, and reports it: ``litefuse doctor``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from litefuse.support.report.sections import Judgement, Section, count_of
from litefuse.tools.environment.finding import Area, Diagnosis, Finding, State
from litefuse.tools.environment.machine import resources, system
from litefuse.tools.environment.packages import conflicts, dependencies, extras
from litefuse.tools.environment.software import compiler, engine, native_kernels, plug_ins, runtime

_TITLES: Mapping[Area, str] = {
    "system": "System",
    "packages": "Packages",
    "core": "Converting and running",
    "kernels": "Kernels of custom ops",
    "extras": "Optional features",
    "plug-ins": "Plug-ins",
}
_JUDGEMENTS: Mapping[State, Judgement] = {
    "works": "good",
    "warning": "warn",
    "missing": None,
    "broken": "bad",
    "unknown": "unclear",
}
Check = Callable[[], Iterator[Finding]]

#: The checks, in the order of what they find, each with its area.
CHECKS: Mapping[str, tuple[Area, Check]] = {
    "system": ("system", system),
    "resources": ("system", resources),
    "dependencies": ("packages", dependencies),
    "conflicts": ("packages", conflicts),
    "engine": ("core", engine),
    "runtime": ("core", runtime),
    "native kernels": ("kernels", native_kernels),
    "compiler": ("kernels", compiler),
    "extras": ("extras", extras),
    "plug-ins": ("plug-ins", plug_ins),
}
# What waits for child processes, of which some run at once.
_AT_ONCE = 4


def diagnose(checks: Mapping[str, tuple[Area, Check]] = CHECKS) -> Diagnosis:
    """Looks at everything that litefuse works with. Never raises: a check that fails is a finding."""
    begun = time.perf_counter()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        waiting = [pool.submit(_guarded, name, area, check) for name, (area, check) in checks.items()]
        found_by_check = [future.result() for future in waiting]
    return Diagnosis.of((finding for findings in found_by_check for finding in findings), time.perf_counter() - begun)


def _guarded(name: str, area: Area, check: Check) -> list[Finding]:
    findings: list[Finding] = []
    try:
        findings += check()
    except Exception as error:  # noqa: BLE001  what was found before it counts, and the other checks do
        text = f"it could not be looked at: {type(error).__name__}: {error}"
        findings.append(Finding(area, name, "unknown", text, needed=area == "core"))
    return findings


def diagnosis_sections(diagnosis: Diagnosis, *, details: bool = False) -> list[Section]:
    """Returns the verdict, then what does not work and what is not installed.

    Args:
        diagnosis: The diagnosis.
        details: Whether to list what works, too, in a table for each area.
    """
    sections = [_verdict(diagnosis)]
    if not details:
        faults = [finding for finding in diagnosis.findings if finding.state not in {"works", "missing"}]
        faults += [finding for finding in diagnosis.findings if finding.state == "missing"]
        faults.sort(key=lambda finding: not finding.is_fatal)
        if faults:
            sections.append(
                Section("What is missing or broken", [*map(_row, faults)], judgements=[*map(_judgement, faults)])
            )
        return sections
    for area, title in _TITLES.items():
        findings = [finding for finding in diagnosis.findings if finding.area == area]
        if findings:
            sections.append(Section(title, [*map(_row, findings)], judgements=[*map(_judgement, findings)]))
    return sections


def _row(finding: Finding) -> tuple[str, str, str]:
    text = f"{finding.text}. {finding.hint}" if finding.hint else finding.text
    return finding.name, finding.state, text


def _judgement(finding: Finding) -> Judgement:
    return "bad" if finding.is_fatal else _JUDGEMENTS[finding.state]


def _verdict(diagnosis: Diagnosis) -> Section:
    fatal = [finding.name for finding in diagnosis.findings if finding.is_fatal]
    warned = sum(
        finding.state in {"warning", "broken", "unknown"} and not finding.is_fatal for finding in diagnosis.findings
    )
    rows = [
        ("convert", "possible" if diagnosis.can_convert else "not possible"),
        ("run, verify, quantize", "possible" if diagnosis.can_run else "not possible"),
    ]
    judgements: list[Judgement] = [
        "good" if is_possible else "bad" for is_possible in (diagnosis.can_convert, diagnosis.can_run)
    ]
    if diagnosis.ok:
        title = "litefuse works here" + (f", with {count_of(warned, 'warning')}" if warned else "")
        return Section(title, rows, judgements=judgements, judgement="warn" if warned else "good")
    title = f"litefuse does not work here: {', '.join(fatal)}"
    return Section(title, rows, judgements=judgements, judgement="bad")
