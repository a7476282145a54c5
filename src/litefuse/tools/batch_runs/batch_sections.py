"""The table of a batch, as sections, as a page and as JUnit's XML."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from litefuse.support.files.readable import os_errors
from litefuse.support.files.whole_file import whole_file
from litefuse.support.report.sections import Judgement, Section, count_of
from litefuse.tools.batch_runs.outcome import BatchResult, Outcome, Status, StepOutcome

_JUDGEMENTS: Mapping[Status, Judgement] = {"done": "good", "inconclusive": "unclear", "interrupted": "unclear"}
_HEADINGS = ("model", "bytes", "smaller", "fused", "error", "quantized", "time", "outcome")


def batch_sections(result: BatchResult, *, hint: str = "") -> list[Section]:
    """Returns the sections: a row for each model, and the messages of those that are not done."""
    counts = ", ".join(f"{count:,} {status}" for status, count in result.counts.items())
    known = sum(not outcome.attempts for outcome in result.outcomes)
    title = f"{count_of(len(result.outcomes), 'model')}: {counts}"
    sections = [
        Section(
            title,
            [_row(outcome) for outcome in result.outcomes],
            headings=_HEADINGS,
            right=frozenset(range(1, 7)),
            judgements=[_judged(outcome.status) for outcome in result.outcomes],
            note=f"{f'{known:,} of them were done before. ' if known else ''}Files: {result.output}{hint}",
            judgement="good" if result.ok else max((_judged(status) for status in _present(result)), key=_weight),
        )
    ]
    messages = [(outcome.name, _said(outcome)) for outcome in result.outcomes if outcome.message]
    if messages:
        sections.append(Section("Not done, or not equal", messages))
    return sections


def _said(outcome: Outcome) -> str:
    tries = f" ({count_of(outcome.attempts, 'attempt')})" if outcome.attempts > 1 else ""
    return outcome.message.strip() + tries


def _present(result: BatchResult) -> list[Status]:
    return [outcome.status for outcome in result.outcomes]


def _judged(status: Status) -> Judgement:
    return _JUDGEMENTS.get(status, "bad")


def _weight(judgement: Judgement) -> int:
    return ("good", "unclear", "bad").index(judgement) if judgement in {"good", "unclear", "bad"} else 0


def _row(outcome: Outcome) -> tuple[str, ...]:
    facts = {step.step: step.facts for step in outcome.steps}
    converted: Mapping[str, Any] = facts.get("convert", {})
    size, source = converted.get("bytes"), converted.get("source_bytes")
    error = facts.get("verify", {}).get("error")
    quantized = [fact["bytes"] for step, fact in facts.items() if step.startswith("quantize ") and "bytes" in fact]
    return (
        outcome.name,
        "" if size is None else f"{size:,}",
        f"{source / size:.1f} times" if size and source else "",
        f"{converted['fused']} of {converted['composites']}" if converted.get("composites") else "",
        "" if error is None else f"{error:.2g}",
        "" if not quantized else f"{min(quantized):,}",
        f"{outcome.seconds:.1f} s" if outcome.attempts else "before",
        outcome.status,
    )


def save_page(result: BatchResult, target: Path) -> None:
    """Writes the table as an HTML file that needs no other.

    Raises:
        LitefuseError: It cannot be written.
    """
    from litefuse.support.report.html import escaped, sections_html

    title = escaped(f"litefuse: {count_of(len(result.outcomes), 'model')}")
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
        f"<title>{title}</title></head><body>\n{sections_html(batch_sections(result), level=1)}\n</body></html>\n"
    )
    _write(target, page.encode(errors="backslashreplace"), "the page")


def save_junit(result: BatchResult, target: Path) -> None:
    """Writes the outcome of each step of each model as XML that CI systems read.

    Raises:
        LitefuseError: It cannot be written.
    """
    junit: Any = importlib.import_module("junitparser")
    document = junit.JUnitXml("litefuse batch")
    for outcome in result.outcomes:
        suite = junit.TestSuite(_xml(outcome.name))
        for step in outcome.steps or (StepOutcome("start", "interrupted"),):
            case = junit.TestCase(_xml(step.step), _xml(outcome.name), step.seconds)
            if step.status != "done":
                kinds = {"differs": junit.Failure, "refused": junit.Failure, "failed": junit.Failure}
                kinds |= {"inconclusive": junit.Skipped, "interrupted": junit.Skipped}
                kind = kinds.get(step.status, junit.Error)
                case.result = [kind(_xml(step.message or step.status), step.status)]
            suite.add_testcase(case)
        document.add_testsuite(suite)
    _write(target, document.tostring(), "the XML for JUnit")


def _xml(text: str) -> str:
    """Escapes characters that XML has no way to write."""
    from litefuse.support.report.printable import printable

    return "".join(
        character if character in "\n\t" or character.isprintable() else ascii(character)[1:-1]
        for character in printable(text)
    )


def _write(target: Path, content: bytes, what: str) -> None:
    with os_errors(f"{what} cannot be written", target), whole_file(target) as partial:
        partial.write_bytes(content)
