"""A check for targets as sections of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from litefuse.conversion.verify.targets.target_check import RefusedOps, TargetCheck, TargetReport, TargetVerdict
from litefuse.support.report.sections import VERDICTS, Judgement, Section, count_of, shape_text, worst_of

__all__ = ["target_sections", "verdict_text"]

# A report is read by people: more are in JSON.
_KINDS, _NAMED, _PLACES = 12, 3, 5


def target_sections(check: TargetCheck) -> list[Section]:
    """Returns the sections of a check: one for each target, with the refused ops and the outputs."""
    rows = [(report.target, verdict_text(report)) for report in check.reports]
    rows += [(name, f"not checked: {why}") for name, why in check.skipped]
    judgements: list[Judgement] = [VERDICTS[report.verdict] for report in check.reports]
    taken = [report.verdict for report in check.reports].count("accelerated")
    takes = "takes" if taken == 1 else "take"
    title = f"{check.model}: {taken:,} of {count_of(len(check.reports), 'target')} {takes} all of it"
    sections = [
        Section(title, rows, judgements=[*judgements, *[None] * len(check.skipped)], judgement=worst_of(judgements))
    ]
    for report in check.reports:
        sections += _sections(report)
    return sections


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
    if any(not each.op for each in report.refused):
        return "it"
    exact = all(each.exact for each in report.refused)
    number = sum(each.count if each.exact else 1 for each in report.refused)
    return f"{'' if exact else 'at least '}{number:,} of {count_of(report.ops, 'op')}"


def _sections(report: TargetReport) -> Iterator[Section]:
    rows = [("software", report.software)] if report.software else []
    if report.missing:
        rows.append(("not checked", report.missing))
        rows.append(("what follows", f"is from a table: {report.table}"))
    rows += report.facts
    yield Section(f"Target {report.target}", rows)
    if report.refused:
        refused = [row for each in report.refused[:_KINDS] for row in _rows(each)]
        more = len(report.refused) - _KINDS
        yield Section(
            "Refused",
            [row for row, _ in refused],
            judgements=[judgement for _, judgement in refused],
            note=f"And {count_of(more, 'more kind')}: --json lists them." if more > 0 else "",
        )
        helpful: dict[str, list[str]] = {}
        for each in report.refused:
            if each.hint:
                helpful.setdefault(each.hint, []).append(each.op or "the file")
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
