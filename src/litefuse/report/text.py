"""Reports as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from litefuse.report.printable import printable
from litefuse.report.report import Report
from litefuse.report.sections import Section, report_sections

__all__ = ["report_text", "sections_text"]

_INDENT = "  "
_GAP = "  "


def report_text(report: Report) -> str:
    """Formats a conversion's report: what was fused and what was not, variables, ops, size, time."""
    return sections_text(report_sections(report))


def sections_text(sections: Iterable[Section]) -> str:
    """Formats sections with aligned columns; without trailing spaces, and without a newline at the end."""
    return "\n\n".join("\n".join(_section_lines(section)) for section in sections)


def _section_lines(section: Section) -> list[str]:
    rows: list[Sequence[str]] = [section.headings, *section.rows] if section.headings else [*section.rows]
    rows = [[printable(cell) for cell in row] for row in rows]
    count = max((len(row) for row in rows), default=0)
    widths = [max(len(row[column]) for row in rows if column < len(row)) for column in range(count)]
    lines = [printable(section.title)]
    for row in rows:
        cells = [
            cell.rjust(width) if column in section.right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]
        lines.append((_INDENT + _GAP.join(cells)).rstrip())
    if section.note:
        lines.append(_INDENT + printable(section.note))
    return lines
