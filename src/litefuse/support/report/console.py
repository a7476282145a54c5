"""Reports for a terminal: the content of the plain text with colors, in lines that fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from litefuse.support.report.printable import one_line, printable
from litefuse.support.report.sections import Judgement, Section
from litefuse.support.report.text import GAP, INDENT, TableLine, table_lines, wrapped

_STYLES = {"good": "green", "warn": "yellow", "bad": "bold red", "unclear": "magenta"}
_TITLES = {"good": "bold green", "warn": "bold yellow", "bad": "bold red", "unclear": "bold magenta"}


def sections_renderable(sections: Iterable[Section]) -> RenderableType:
    """Returns a renderable of the sections, one below the other, as wide as the terminal."""
    return _Sections(tuple(sections))


@dataclass(frozen=True)
class _Sections:
    sections: Sequence[Section]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for number, section in enumerate(self.sections):
            if number:
                yield Text()
            yield from _section_lines(section, options.max_width)


def _section_lines(section: Section, width: int) -> list[Text]:
    title = _TITLES.get(section.judgement or "", "bold")
    lines = [_line(text, title) for text in wrapped(one_line(section.title), width)]
    inside = width - len(INDENT)
    lines += [_table_line(section, line) for line in table_lines(section, inside)]
    if section.note:
        lines += [_line(INDENT + text, "dim") for text in wrapped(printable(section.note), inside)]
    return lines


def _table_line(section: Section, line: TableLine) -> Text:
    text = _line(INDENT, "")
    count = max(map(len, section.rows), default=0)
    for column, cell in enumerate(line.cells):
        style = "dim" if line.row is None else ""
        if line.row is not None and column == count - 1:
            style = _STYLES.get(_judgement(section, line.row) or "", "")
        text.append(f"{GAP if column else ''}", "")
        text.append(cell, style)
    text.rstrip()
    return text


def _judgement(section: Section, row: int) -> Judgement:
    return section.judgements[row] if row < len(section.judgements) else None


def _line(text: str, style: str) -> Text:
    # Lines are broken already: rich must not break or crop them, as it would where its widths of letters differ.
    return Text(text, style=style, no_wrap=True, overflow="ignore")
