"""Reports as HTML: the content of the plain text as headings and tables, for notebooks and pages."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Sequence

from litefuse.support.report.sections import Judgement, Section

#: The class of the element around a report, which alone the style applies to.
SECTIONS_CLASS = "litefuse-report"

#: The sign in front of a judged cell, and its name, for each judgement: nothing is told by color alone.
MARKS = {"good": ("✓", "good"), "warn": ("!", "worth knowing"), "bad": ("✗", "bad"), "unclear": ("?", "unclear")}

_LIGHT = "--good:#1a7f37;--warn:#9a6700;--bad:#cf222e;--unclear:#8250df"
_DARK = "--good:#3fb950;--warn:#d29922;--bad:#ff7b72;--unclear:#bc8cff"

# Text takes the color of the page around it, which is right in every theme. Notebooks say whether their theme is light
# or dark, which need not be what the system prefers: JupyterLab by an attribute, Colab by another, VS Code by a class.
SECTIONS_STYLE = f"""
.{SECTIONS_CLASS}{{{_LIGHT};font-family:var(--jp-ui-font-family,var(--vscode-font-family,system-ui,sans-serif));
font-size:var(--jp-ui-font-size1,var(--vscode-font-size,.875rem));line-height:1.45;
color:var(--jp-content-font-color1,var(--vscode-foreground,inherit));overflow-x:auto}}
@media (prefers-color-scheme:dark){{.{SECTIONS_CLASS}{{{_DARK}}}}}
[data-jp-theme-light=true] .{SECTIONS_CLASS},[theme=light] .{SECTIONS_CLASS},.vscode-light .{SECTIONS_CLASS}{{{_LIGHT}}}
[data-jp-theme-light=false] .{SECTIONS_CLASS},[theme=dark] .{SECTIONS_CLASS},.vscode-dark .{SECTIONS_CLASS}{{{_DARK}}}
.{SECTIONS_CLASS} .title{{font-size:1.05em;font-weight:600;margin:.9em 0 .25em;overflow-wrap:anywhere}}
.{SECTIONS_CLASS} table{{border-collapse:collapse;margin:0;border:0}}
.{SECTIONS_CLASS} th,.{SECTIONS_CLASS} td{{padding:.15em 1em .15em 0;text-align:left;vertical-align:top;border:0;
background:none;white-space:pre-wrap;max-width:48em}}
.{SECTIONS_CLASS} .long{{overflow-wrap:anywhere;min-width:12em}}
.{SECTIONS_CLASS} th{{font-weight:400;opacity:.75}}
.{SECTIONS_CLASS} th[scope=row]{{min-width:5.5em}}
.{SECTIONS_CLASS} thead th{{border-bottom:1px solid var(--jp-border-color2,var(--vscode-panel-border,#8886))}}
.{SECTIONS_CLASS} .right{{text-align:right;font-variant-numeric:tabular-nums}}
.{SECTIONS_CLASS} .note{{margin:.25em 0;opacity:.75;white-space:pre-wrap;overflow-wrap:anywhere}}
.{SECTIONS_CLASS} .mark{{display:inline-block;min-width:1.1em;font-weight:700}}
.{SECTIONS_CLASS} .good .mark{{color:var(--good)}}.{SECTIONS_CLASS} .warn .mark{{color:var(--warn)}}
.{SECTIONS_CLASS} .bad .mark{{color:var(--bad)}}.{SECTIONS_CLASS} .unclear .mark{{color:var(--unclear)}}
""".strip()

# A cell with a longer word breaks it where it does not fit; other words stay whole.
_LONG_WORD = 28

# Characters of these categories are invisible, or change how others are shown: controls, formats such as those that
# reverse text, parts of surrogate pairs, which UTF-8 lacks, and separators of lines.
_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# Those that writing needs: lines, tabs, and what joins or separates letters.
_KEPT = {"\n", "\t", "\u200c", "\u200d"}


def sections_html(sections: Iterable[Section], *, level: int = 3, style: bool = True) -> str:
    """Formats sections as a fragment of HTML, which needs nothing else: no script, no other file.

    Args:
        sections: The sections.
        level: The level of their headings, from 1 to 6.
        style: Whether the style comes along; a page with several fragments has ``SECTIONS_STYLE`` once.

    Returns:
        A ``div`` of the class ``SECTIONS_CLASS`` with a ``section`` for each; every text in it is escaped.
    """
    parts = [f'<div class="{SECTIONS_CLASS}">']
    if style:
        parts.append(f"<style>{SECTIONS_STYLE}</style>")
    for section in sections:
        judged = f" {section.judgement}" if section.judgement else ""
        title = f"{_mark(section.judgement)}{escaped(section.title)}"
        parts += ["<section>", f'<h{level} class="title{judged}">{title}</h{level}>']
        if section.rows:
            parts += _table(section)
        if section.note:
            parts.append(f'<p class="note">{escaped(section.note)}</p>')
        parts.append("</section>")
    return "\n".join([*parts, "</div>"])


def escaped(text: str) -> str:
    r"""Escapes a text for elements and quoted attributes of HTML; invisible characters become visible escapes.

    Names of models come from anyone: a character that reverses the text after it is shown as ``\u202e``.
    """
    if not text.isprintable():
        text = "".join(map(_shown, text))
    return html.escape(text)


def _shown(character: str) -> str:
    if character in _KEPT or unicodedata.category(character) not in _HIDDEN:
        return character
    return (
        character.encode("ascii", "backslashreplace").decode() if ord(character) > 0x7F else f"\\x{ord(character):02x}"
    )


def _table(section: Section) -> list[str]:
    count = max(len(row) for row in [section.headings, *section.rows])
    # A column of names without a heading is a heading of its rows.
    has_names = not section.headings and count > 1 and 0 not in section.right
    parts = ["<table>"]
    if section.headings:
        headings = [*section.headings, *[""] * (count - len(section.headings))]
        cells = "".join(
            f'<th scope="col"{_classes(section, column, heading)}>{escaped(heading)}</th>'
            for column, heading in enumerate(headings)
        )
        parts.append(f"<thead><tr>{cells}</tr></thead>")
    parts.append("<tbody>")
    for number, row in enumerate(section.rows):
        judgement = section.judgements[number] if number < len(section.judgements) else None
        parts.append(_row(section, row, judgement, count, has_names=has_names))
    return [*parts, "</tbody>", "</table>"]


def _row(section: Section, row: Sequence[str], judgement: Judgement, count: int, *, has_names: bool) -> str:
    cells: list[str] = []
    for column, cell in enumerate(row):
        is_last = column == len(row) - 1
        text = escaped(cell)
        if is_last:
            text = _mark(judgement) + text
        # The last cell of a short row has the place of those that are missing.
        span = f' colspan="{count - column}"' if is_last and column < count - 1 else ""
        kind, scope = ("th", ' scope="row"') if has_names and column == 0 and cell and not is_last else ("td", "")
        cells.append(f"<{kind}{scope}{span}{_classes(section, column, cell)}>{text}</{kind}>")
    mark = f' class="{judgement}"' if judgement else ""
    return f"<tr{mark}>{''.join(cells)}</tr>"


def _mark(judgement: Judgement) -> str:
    if not judgement:
        return ""
    sign, name = MARKS[judgement]
    return f'<span class="mark" role="img" aria-label="{name}" title="{name}">{sign}</span>'


def _classes(section: Section, column: int, text: str) -> str:
    is_long = max(map(len, text.split()), default=0) > _LONG_WORD
    names = [*(["right"] if column in section.right else []), *(["long"] if is_long else [])]
    return f' class="{" ".join(names)}"' if names else ""
