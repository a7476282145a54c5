"""Reports as plain text."""

from __future__ import annotations

from collections.abc import Iterable

from litefuse.support.report.layout import GAP, INDENT, table_lines
from litefuse.support.report.printable import one_line, printable
from litefuse.support.report.sections import Section

__all__ = ["sections_text"]


def sections_text(sections: Iterable[Section]) -> str:
    """Formats sections with aligned columns and one line for each row, without trailing spaces or a last newline."""
    return "\n\n".join("\n".join(_section_lines(section)) for section in sections)


def _section_lines(section: Section) -> list[str]:
    lines = [one_line(section.title)]
    lines += [(INDENT + GAP.join(line.cells)).rstrip() for line in table_lines(section)]
    if section.note:
        lines += [(INDENT + line).rstrip() for line in printable(section.note).split("\n")]
    return lines
