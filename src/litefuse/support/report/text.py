"""Reports as plain text: the widths of columns, and cells as lines of text that are safe to print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from litefuse.support.report.printable import fitting, one_line, printable, shortened, text_width
from litefuse.support.report.sections import Section

INDENT = "  "
GAP = "  "

# Without a width, a cell that is wider than this does not widen its column.
_WIDEST = 60
# A column gets no narrower.
_NARROWEST = 8
_TEXT = 20  # a column of texts, before columns of names are narrowed
_LEAST = 2  # where that does not fit
# The lines that a name and a text may take; longer ones are shortened.
_NAME_LINES, _TEXT_LINES = 3, 16

# The places where a name may go on in the next line.
_PARTS = re.compile(r"[^/_;:,.\-]*[/_;:,.\-]*")


class TableLine(NamedTuple):
    """A line of a table.

    Attributes:
        row: The number of the row that it belongs to; None for the headings.
        cells: The padded cells; the last one without trailing spaces.
    """

    row: int | None
    cells: list[str]


def table_lines(section: Section, width: int | None = None) -> Iterator[TableLine]:
    """Yields the lines of a section's table, its headings first.

    Args:
        section: The section.
        width: The columns that there are for it, in which long cells are wrapped or shortened in the middle; None:
            each row is one line, unless a cell has line feeds.
    """
    rows = [[printable(cell) for cell in row] for row in section.rows]
    headings = [printable(cell) for cell in section.headings]
    if headings:
        rows.insert(0, headings)
    count = max(map(len, rows), default=0)
    widths = _widths(rows, count, section.right, width)
    for number, row in enumerate(rows):
        cells = [
            cell.split("\n")
            if width is None
            else wrapped(cell, widths[column], _NAME_LINES if column < count - 1 and " " not in cell else _TEXT_LINES)
            for column, cell in enumerate(row)
        ]
        index = (number - 1 if number else None) if headings else number
        for line in range(max(map(len, cells), default=1)):
            texts = [cell[line] if line < len(cell) else "" for cell in cells]
            while texts and not texts[-1]:
                del texts[-1]
            padded = [
                _padded(text, widths[column], right=column in section.right, last=column == len(texts) - 1)
                for column, text in enumerate(texts)
            ]
            yield TableLine(index, padded)


def _padded(text: str, width: int, *, right: bool, last: bool) -> str:
    padding = " " * (width - text_width(text))
    return padding + text if right else text if last else text + padding


def _widths(rows: Sequence[Sequence[str]], count: int, right: frozenset[int], width: int | None) -> list[int]:
    natural = [0] * count
    for row in rows:
        for column, cell in enumerate(row):
            widest = max(map(text_width, cell.split("\n")))
            if width is not None or widest <= _WIDEST:
                natural[column] = max(natural[column], widest)
    if width is None:
        return natural
    available = width - len(GAP) * (count - 1)
    # Texts give way before names, which are harder to read in pieces.
    texts = {column for row in rows for column, cell in enumerate(row) if " " in cell.strip()} - right
    least = [min(size, _TEXT) if column in texts else size for column, size in enumerate(natural)]
    if sum(least) > available:
        least = [
            size if column in right else min(size, _TEXT if column in texts else _NARROWEST)
            for column, size in enumerate(natural)
        ]
    if sum(least) > available:
        least = [size if column in right else min(size, _NARROWEST) for column, size in enumerate(natural)]
    if sum(least) > available:
        least = [min(size, _LEAST) for size in natural]
    return _narrowed(natural, least, available)


def _narrowed(natural: Sequence[int], least: Sequence[int], available: int) -> list[int]:
    """Narrows the widest columns to one width, so that all fit."""
    low, high = 0, max(natural, default=0)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(max(floor, min(size, middle)) for size, floor in zip(natural, least, strict=True)) <= available:
            low = middle
        else:
            high = middle - 1
    widths = [max(floor, min(size, low)) for size, floor in zip(natural, least, strict=True)]
    for column in reversed(range(len(widths))):  # what is left over
        widths[column] += min(natural[column] - widths[column], max(0, available - sum(widths)))
    return widths


def wrapped(text: str, width: int, lines: int | None = None) -> list[str]:
    """Breaks a text into lines, between words where possible, within a name after a separator, or anywhere.

    Args:
        text: The text; line feeds in it end a line.
        width: The width of a line.
        lines: The greatest number of lines, to which a longer text is shortened in its middle; None: any.
    """
    width = max(width, 2)  # a wide letter
    if lines is not None:
        while len(broken := _broken(text, width)) > lines:
            text = shortened(text.replace("\n", " "), min(text_width(text) - 1, lines * width))
        return broken
    return _broken(text, width)


def _broken(text: str, width: int) -> list[str]:
    lines: list[str] = []
    for paragraph in text.split("\n"):
        if text_width(paragraph) <= width:
            lines.append(paragraph)
            continue
        line = ""
        for word in paragraph.split(" "):
            joined = f"{line} {word}" if line else word
            if text_width(joined) <= width:
                line = joined
                continue
            if line:
                lines.append(line.rstrip())
            *whole, line = _pieces(word, width)
            lines.extend(whole)
        lines.append(line.rstrip())
    return lines


def _pieces(word: str, width: int) -> list[str]:
    """Breaks a word that may be wider than a line."""
    pieces = [""]
    for part in _PARTS.findall(word):
        rest = part
        if text_width(pieces[-1] + rest) > width and pieces[-1]:
            pieces.append("")
        while text_width(rest) > width:
            piece = fitting(rest, width)
            pieces[-1:] = [piece, ""]
            rest = rest[len(piece) :]
        pieces[-1] += rest
    return [piece for piece in pieces if piece] or [""]


def sections_text(sections: Iterable[Section]) -> str:
    """Formats sections with aligned columns and one line for each row, without trailing spaces or a last newline."""
    return "\n\n".join("\n".join(_section_lines(section)) for section in sections)


def _section_lines(section: Section) -> list[str]:
    lines = [one_line(section.title)]
    lines += [(INDENT + GAP.join(line.cells)).rstrip() for line in table_lines(section)]
    if section.note:
        lines += [(INDENT + line).rstrip() for line in printable(section.note).split("\n")]
    return lines
