"""Findings of ``litefuse doctor`` as a report."""

from __future__ import annotations

from collections.abc import Mapping

from litefuse.support.report.section import Judgement, Section, count_of
from litefuse.tools.environment.finding import Area, Diagnosis, Finding, State

__all__ = ["diagnosis_sections"]

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


def diagnosis_sections(found: Diagnosis) -> list[Section]:
    """Returns a table for each area, and the verdict."""
    sections: list[Section] = []
    for area, title in _TITLES.items():
        findings = [each for each in found.findings if each.area == area]
        if findings:
            sections.append(Section(title, [*map(_row, findings)], judgements=[*map(_judgement, findings)]))
    return [*sections, _verdict(found)]


def _row(found: Finding) -> tuple[str, str, str]:
    text = f"{found.text}. {found.hint}" if found.hint else found.text
    return found.name, found.state, text


def _judgement(found: Finding) -> Judgement:
    return "bad" if found.is_fatal else _JUDGEMENTS[found.state]


def _verdict(found: Diagnosis) -> Section:
    fatal = [each.name for each in found.findings if each.is_fatal]
    warned = sum(each.state in {"warning", "broken", "unknown"} and not each.is_fatal for each in found.findings)
    rows = [
        ("convert", "possible" if found.can_convert else "not possible"),
        ("run, verify, quantize", "possible" if found.can_run else "not possible"),
    ]
    judgements: list[Judgement] = ["good" if each else "bad" for each in (found.can_convert, found.can_run)]
    if found.ok:
        title = "litefuse works here" + (f", with {count_of(warned, 'warning')}" if warned else "")
        return Section(title, rows, judgements=judgements, judgement="warn" if warned else "good")
    title = f"litefuse does not work here: {', '.join(fatal)}"
    return Section(title, rows, judgements=judgements, judgement="bad")
