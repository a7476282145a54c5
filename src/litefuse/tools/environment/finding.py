"""Findings of ``litefuse doctor``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from litefuse.support.report.json_form import json_form
from litefuse.support.report.shown import Shown

Area: TypeAlias = Literal["system", "packages", "core", "kernels", "extras", "plug-ins"]
"""Subject of a finding."""

State: TypeAlias = Literal["works", "warning", "missing", "broken", "unknown"]
"""``works``; ``warning``: it works, but perhaps not always, or not safely; ``missing``: it is not installed;
``broken``: it is there, but does not work; ``unknown``: that could not be found out."""


@dataclass(frozen=True)
class Finding:
    """Something that was looked at.

    Attributes:
        area: What it is about.
        name: Its name.
        state: Whether it works.
        text: What was found.
        hint: What to do; may be empty.
        needed: Whether litefuse cannot do without.
    """

    area: Area
    name: str
    state: State
    text: str
    hint: str = ""
    needed: bool = False

    @property
    def is_fatal(self) -> bool:
        """Whether it is needed, and does not work."""
        return self.needed and self.state not in {"works", "warning"}


@dataclass(frozen=True)
class Diagnosis(Shown):
    """Everything that was found.

    Attributes:
        findings: The findings, by area.
        can_convert: Whether models can be converted: the lowering engine works.
        can_run: Whether models can be run: the runtime works.
        seconds: How long it took.
    """

    findings: tuple[Finding, ...]
    can_convert: bool
    can_run: bool
    seconds: float

    _sections_by = "litefuse.tools.environment.doctor:diagnosis_sections"

    @classmethod
    def of(cls, findings: Iterable[Finding], seconds: float) -> Diagnosis:
        """Makes it of findings."""
        all_findings = tuple(findings)
        works = {
            finding.name for finding in all_findings if finding.area == "core" and finding.state in {"works", "warning"}
        }
        return cls(all_findings, "engine" in works, "runtime" in works, seconds)

    @property
    def ok(self) -> bool:
        """Whether everything works that is needed."""
        return not any(finding.is_fatal for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Returns dictionaries and lists for ``json.dumps``."""
        return {"ok": self.ok, **json_form(self)}
