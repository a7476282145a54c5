"""The result of a check of a file for targets, as data and as sections of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from litefuse.conversion.verify.verification import OutputVerdict
from litefuse.support.report.json_form import json_form
from litefuse.support.report.sections import VERDICTS, Judgement, Section, count_of, shape_text, worst_of

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
        from litefuse.support.report.text import sections_text

        return sections_text(target_sections(self))

    def _repr_html_(self) -> str:
        from litefuse.support.report.html import sections_html

        return sections_html(target_sections(self))


# A report is read by people: more are in JSON.
_KINDS, _NAMED, _PLACES = 12, 3, 5


def target_sections(check: TargetCheck) -> list[Section]:
    """Returns the sections of a check: one for each target, with the refused ops and the outputs."""
    rows = [(report.target, verdict_text(report)) for report in check.reports]
    rows += [(name, f"not checked: {why}") for name, why in check.skipped]
    judgements: list[Judgement] = [VERDICTS[report.verdict] for report in check.reports]
    sections = [
        Section(
            f"{check.model}: {_answer(check)}",
            rows,
            judgements=[*judgements, *[None] * len(check.skipped)],
            judgement=worst_of(judgements),
        )
    ]
    for report in check.reports:
        sections += _sections(report)
    return sections


def _answer(check: TargetCheck) -> str:
    """Says how many targets take all of the file, of those whose software was asked."""
    known = [report.verdict for report in check.reports if not report.table]
    unknown = len(check.reports) - len(known)
    if not known:
        return f"unknown whether {' and '.join(report.target for report in check.reports) or 'a target'} can run it"
    taken = known.count("accelerated")
    text = f"{taken:,} of {count_of(len(known), 'target')} {'takes' if taken == 1 else 'take'} all of it"
    return f"{text}, {unknown:,} unknown" if unknown else text


_TEXTS: Mapping[TargetVerdict, str] = {
    "accelerated": "takes all of it",
    "refused": "does not take it",
    "differs": "gives other numbers than LiteRT on the CPU",
    "inconclusive": "inconclusive",
}


def verdict_text(report: TargetReport) -> str:
    """Returns a verdict in words."""
    if report.table:
        if not report.refused:
            return "unknown: its software did not check the file, and its table refuses nothing"
        return f"by its table, it does not take {_refused_count(report)}"
    if report.verdict == "partly":
        return f"takes it except {_refused_count(report)}, which stay on the CPU"
    text = _TEXTS[report.verdict]
    if report.verdict == "accelerated" and report.outputs:
        text += f", and gives LiteRT's numbers (error {report.error:.2g})"
    elif report.verdict == "inconclusive" and report.not_compared:
        text += f": {report.not_compared}"
    elif report.not_compared:
        text += f"; not compared: {report.not_compared}"
    return text


def _refused_count(report: TargetReport) -> str:
    if any(not ops.op for ops in report.refused):
        return "it"
    exact = all(ops.exact for ops in report.refused)
    number = sum(ops.count if ops.exact else 1 for ops in report.refused)
    return f"{'' if exact else 'at least '}{number:,} of {count_of(report.ops, 'op')}"


def _sections(report: TargetReport) -> Iterator[Section]:
    rows = [("software", report.software)] if report.software else []
    if report.missing:
        rows.append(("not checked", report.missing))
        rows.append(("what follows", f"is from a table: {report.table}"))
    rows += report.facts
    yield Section(f"Target {report.target}", rows)
    if report.refused:
        refused = [row for ops in report.refused[:_KINDS] for row in _rows(ops)]
        more = len(report.refused) - _KINDS
        yield Section(
            "Refused",
            [row for row, _ in refused],
            judgements=[judgement for _, judgement in refused],
            note=f"And {count_of(more, 'more kind')}: --json lists them." if more > 0 else "",
        )
        helpful: dict[str, list[str]] = {}
        for ops in report.refused:
            if ops.hint:
                helpful.setdefault(ops.hint, []).append(ops.op or "the file")
        if helpful:
            yield Section("What helps", [(_listed(dict.fromkeys(ops)), hint) for hint, ops in helpful.items()])
    if report.outputs:
        yield Section(
            "Outputs",
            [
                (
                    output.signature,
                    output.name,
                    output.dtype,
                    shape_text(output.shape),
                    "" if output.error == float("inf") else f"{output.error:.2g}",
                    output.verdict + (f": {output.problem}" if output.problem else ""),
                )
                for output in report.outputs
            ],
            headings=("signature", "output", "dtype", "shape", "error", ""),
            right=frozenset({4}),
            judgements=[VERDICTS[output.verdict] for output in report.outputs],
        )


def _listed(ops: Iterable[str]) -> str:
    names = list(ops)
    return ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")


def _rows(refused: RefusedOps) -> Iterator[tuple[tuple[str, str], Judgement]]:
    if refused.op:
        count = f"{refused.count} x " if refused.exact else f"some of {refused.count} x "
        yield (refused.op, f"{count if refused.count > 1 else ''}{refused.reason}"), "bad"
    else:
        yield ("the file", refused.reason), "bad"
    if refused.places:
        listed = refused.places[:_PLACES]
        more = f", and {refused.count - len(listed):,} more" if refused.count > len(listed) else ""
        yield ("", f"at {', '.join(map(_shortened, listed))}{more}"), None


def _shortened(name: str) -> str:
    """Returns the first of the names that a tensor has of the ops fused into it."""
    first, more, _ = name.partition(";")
    return f"{first};..." if more else first
