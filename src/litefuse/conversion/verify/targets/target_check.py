"""The result of a check of a file for targets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from litefuse.conversion.verify.verification import OutputVerdict
from litefuse.support.report.json_form import json_form

__all__ = ["RefusedOps", "TargetCheck", "TargetReport", "TargetVerdict"]

TargetVerdict: TypeAlias = Literal["accelerated", "partly", "refused", "differs", "inconclusive", "unknown"]
"""The verdict for a target: ``accelerated``: it takes every op, and where it runs the file, it gives the CPU's numbers;
``partly``: it leaves ops to a CPU; ``refused``: it does not take the file; ``differs``: its numbers are others;
``inconclusive``: the numbers did not move with the inputs, or could not be compared; ``unknown``: its software was not
asked, and the table of its ops, which refuses nothing, proves nothing."""


@dataclass(frozen=True)
class RefusedOps:
    """Ops of one kind that a target refuses for one reason.

    Attributes:
        op: Their name; empty for the file as a whole.
        reason: Why they are refused.
        count: How many there are.
        places: The names of their results, of some at least, which are those of the model's layers.
        exact: Whether it is these ops; otherwise the target does not say which of those with this name.
        hint: What helps; may be empty.
    """

    op: str
    reason: str
    count: int = 1
    places: tuple[str, ...] = ()
    exact: bool = True
    hint: str = ""


@dataclass(frozen=True)
class TargetReport:
    """Verdict of a target on a file.

    Attributes:
        target: Its name.
        verdict: The verdict.
        software: The software that was asked, with its version; empty if it was not.
        missing: Why it was not, and what to do; the refused ops are then those of a table.
        table: Where that table is from; empty if the software was asked.
        refused: The ops that it refuses.
        ops: How many ops the file has.
        facts: What else the software says, as names and texts.
        outputs: The verdict on each output, compared with LiteRT's on the CPU.
        not_compared: Why there is none.
    """

    target: str
    verdict: TargetVerdict
    software: str = ""
    missing: str = ""
    table: str = ""
    refused: tuple[RefusedOps, ...] = ()
    ops: int = 0
    facts: tuple[tuple[str, str], ...] = ()
    outputs: tuple[OutputVerdict, ...] = ()
    not_compared: str = ""

    @property
    def error(self) -> float:
        """The largest error of an output; 0 without outputs."""
        return max((output.error for output in self.outputs), default=0.0)

    def to_json(self) -> dict[str, Any]:
        """Returns dictionaries and lists for ``json.dumps``; NaN and infinities are None."""
        outputs = [output.to_json() for output in self.outputs]
        return {**json_form(self), "facts": dict(self.facts), "outputs": outputs}


@dataclass(frozen=True)
class TargetCheck:
    """The result of a check.

    Attributes:
        model: The file.
        reports: What each target makes of it.
        skipped: The targets that were not named, and whose software is not installed, with the reasons.
    """

    model: str
    reports: tuple[TargetReport, ...]
    skipped: tuple[tuple[str, str], ...] = field(default_factory=tuple[tuple[str, str], ...])

    @property
    def accelerated(self) -> bool:
        """Whether every target takes all ops, as its software says, and gives the CPU's numbers where it runs."""
        return all(report.verdict == "accelerated" for report in self.reports)

    @property
    def ok(self) -> bool:
        """Whether every target takes the file, as its software says, and gives the CPU's numbers where it runs it."""
        return all(report.verdict in {"accelerated", "partly"} for report in self.reports)

    def to_json(self) -> dict[str, Any]:
        """Returns dictionaries and lists for ``json.dumps``."""
        return {
            "model": self.model,
            "ok": self.ok,
            "accelerated": self.accelerated,
            "targets": [report.to_json() for report in self.reports],
            "skipped": dict(self.skipped),
        }

    def __str__(self) -> str:
        from litefuse.conversion.verify.targets.sections import target_sections
        from litefuse.support.report.text import sections_text

        return sections_text(target_sections(self))

    def _repr_html_(self) -> str:
        from litefuse.conversion.verify.targets.sections import target_sections
        from litefuse.support.report.html import sections_html

        return sections_html(target_sections(self))
