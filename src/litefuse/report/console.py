"""Reports for a terminal: the content of the plain text with colors and line wrapping."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from litefuse.report.printable import printable
from litefuse.report.sections import Section

__all__ = ["sections_renderable"]

_STYLES = {"good": "green", "warn": "yellow", "bad": "bold red", "unclear": "magenta"}


def sections_renderable(sections: Iterable[Section]) -> RenderableType:
    """Returns a renderable of the sections, one below the other."""
    parts: list[RenderableType] = []
    for section in sections:
        if parts:
            parts.append(Text())
        parts.append(Text(printable(section.title), style="bold"))
        if section.rows:
            parts.append(Padding(_table(section), (0, 0, 0, 2)))
        if section.note:
            parts.append(Padding(Text(printable(section.note), style="dim"), (0, 0, 0, 2)))
    return Group(*parts)


def _table(section: Section) -> Table:
    count = max(len(row) for row in section.rows)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=bool(section.headings))
    for column in range(count):
        heading = section.headings[column] if column < len(section.headings) else ""
        justify = "right" if column in section.right else "left"
        table.add_column(Text(heading, style="dim"), justify=justify, overflow="fold")
    for number, row in enumerate(section.rows):
        judgement = section.judgements[number] if number < len(section.judgements) else None
        style = _STYLES.get(judgement or "", "")
        cells = [Text(printable(cell), style=style if column == count - 1 else "") for column, cell in enumerate(row)]
        table.add_row(*cells)
    return table
