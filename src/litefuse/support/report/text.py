"""Reports as plain text."""

from __future__ import annotations

from collections.abc import Iterable

from litefuse.support.report.layout import GAP, INDENT, table_lines
from litefuse.support.report.printable import one_line, printable
from litefuse.support.report.report import Report
from litefuse.support.report.section import Section
from litefuse.support.report.sections import report_sections

__all__ = ["report_text", "sections_text"]


def report_text(report: Report) -> str:
    """Formats a conversion's report: the answer first, then what was fused and what was not, variables, ops."""
    return sections_text(report_sections(report))


def sections_text(sections: Iterable[Section]) -> str:
    """Formats sections with aligned columns and one line for each row, without trailing spaces or a last newline."""
    return "\n\n".join("\n".join(_section_lines(section)) for section in sections)


def _section_lines(section: Section) -> list[str]:
    lines = [one_line(section.title)]
    lines += [(INDENT + GAP.join(line.cells)).rstrip() for line in table_lines(section)]
    if section.note:
        lines += [(INDENT + line).rstrip() for line in printable(section.note).split("\n")]
    return lines
