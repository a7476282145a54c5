from __future__ import annotations

import re
from dataclasses import replace

import pytest

from litefuse.support.report import CompositeReport, KernelReport
from litefuse.support.report.conversion_sections import report_sections
from litefuse.support.report.html import MARKS, SECTIONS_CLASS, SECTIONS_STYLE, escaped, sections_html
from litefuse.support.report.sections import Section
from tests.every import every
from tests.support.report.parsed_html import parsed
from tests.support.report.test_text import REPORT


def test_the_page_shows_the_facts_of_the_text() -> None:
    sections = report_sections(replace(REPORT, copies=1), details=True, timings=True)
    found = parsed(sections_html(sections))
    assert [text.lstrip("!") for text in found.texts["h3"]] == [each.title for each in sections]
    assert found.texts["p"] == [each.note for each in sections if each.note]
    expected = [[*row] for each in sections for row in ([each.headings] if each.headings else []) + [*each.rows]]
    signs = tuple(sign for sign, _ in MARKS.values())
    assert [[cell.lstrip("".join(signs)) for cell in row] for row in found.rows] == expected


def test_judgements_are_classes_and_signs() -> None:
    rows = [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4"), ("e", "5")]
    found = parsed(sections_html([Section("x", rows, judgements=["good", "warn", "bad", "unclear", None])]))
    assert found.row_classes == ["good", "warn", "bad", "unclear", ""]
    assert found.rows == [["a", "✓1"], ["b", "!2"], ["c", "✗3"], ["d", "?4"], ["e", "5"]]
    judged = sections_html([Section("x", judgement="bad")], style=False)
    assert '<h3 class="title bad"><span class="mark" role="img" aria-label="bad" title="bad">✗</span>x</h3>' in judged
    for name in ("good", "warn", "bad", "unclear"):
        assert f".{name} .mark" in SECTIONS_STYLE


def test_rows_and_columns_have_headings() -> None:
    text = sections_html([Section("x", [("a", "1"), ("", "2")]), Section("y", [("b", "3")], headings=("n", "m"))])
    assert re.findall(r'<th scope="(row|col)">(.*?)</th>', text) == [("row", "a"), ("col", "n"), ("col", "m")]
    assert "<td></td><td>2</td>" in text


def test_the_last_cell_of_a_short_row_is_wide() -> None:
    text = sections_html([Section("x", [("1", "ADD", "2", "MUL"), ("3", "SUB")], right=frozenset({0, 2}))])
    assert '<tr><td class="right">3</td><td colspan="3">SUB</td></tr>' in text
    assert 'scope="row"' not in text  # numbers are no names


def test_nothing_to_show() -> None:
    assert parsed(sections_html([])).tags == ["div", "style"]
    assert parsed(sections_html([Section("", [()], headings=())])).texts["h3"] == [""]


HOSTILE = "</td></style><script>alert(1)</script><img src=x onerror=alert(1)>\"' onclick='&amp;\x00\x1b[31m\u202e\udc80"


@pytest.mark.parametrize("level", [1, 6])
def test_hostile_names_stay_text(level: int) -> None:
    section = Section(HOSTILE, [(HOSTILE, HOSTILE)], headings=(HOSTILE,), judgements=["bad"], note=HOSTILE)
    harmless = sections_html([Section("t", [("a", "b")], headings=("c",), judgements=["bad"], note="n")], level=level)
    found, plain = parsed(sections_html([section], level=level)), parsed(harmless)
    assert (found.tags, found.attributes) == (plain.tags, plain.attributes)
    shown = HOSTILE.replace("\x00", r"\x00").replace("\x1b", r"\x1b").replace("\u202e", r"\u202e")
    shown = shown.replace("\udc80", r"\udc80")
    assert found.rows == [[shown, ""], [shown, f"✗{shown}"]]
    sections_html([section]).encode()  # a part of a surrogate pair would raise


def test_a_hostile_report_stays_text() -> None:
    kernel = KernelReport(error=float("nan"), kernel_seconds=0.0, body_seconds=0.0)
    composite = CompositeReport(HOSTILE, HOSTILE, 1, "fused", fused_into=HOSTILE, kernel=kernel)
    report = replace(REPORT, source=HOSTILE, composites=(composite,), op_counts={HOSTILE: 2})
    found = parsed(sections_html(report_sections(report, details=True)))
    assert not {"script", "img"} & {*found.tags}


def test_escapes() -> None:
    assert escaped("a<b & 'c'\n\td") == "a&lt;b &amp; &#x27;c&#x27;\n\td"
    writing = "größe/日本語/שלום/\N{WOMAN}\u200d\N{PERSONAL COMPUTER}"
    assert escaped(writing) == writing  # joiners are part of writing
    assert escaped("a\u2066b\u200bc\u2028d\x85e\x7ff\ufeff") == r"a\u2066b\u200bc\u2028d\x85e\x7ff\ufeff"


def test_the_style_is_for_reports_alone() -> None:
    without_media = re.sub(r"@media [^{]*\{(.*?)\}\}", r"\1}", SECTIONS_STYLE, flags=re.DOTALL)
    selectors = [each.strip() for each in re.findall(r"([^{}]+)\{[^{}]*\}", without_media)]
    assert len(selectors) > 10
    assert every(f".{SECTIONS_CLASS}" in part for each in selectors for part in each.split(","))
    assert "http" not in SECTIONS_STYLE
    assert "url(" not in SECTIONS_STYLE
    assert SECTIONS_STYLE in sections_html([])
    assert "<style>" not in sections_html([], style=False)


def test_long_words_may_break_and_others_stay_whole() -> None:
    text = sections_html([Section("x", [("FULLY_CONNECTED", "a/" * 20, "b " * 40)], right=frozenset({1}))])
    assert f'<th scope="row">FULLY_CONNECTED</th><td class="right long">{"a/" * 20}</td><td>{"b " * 40}</td>' in text
