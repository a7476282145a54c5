"""Tables in terminals of any width, with names of any length and content."""

from __future__ import annotations

import pytest
from rich.console import Console

from litefuse.support.report.console import sections_renderable
from litefuse.support.report.printable import printable, shortened, text_width
from litefuse.support.report.sections import Section
from litefuse.support.report.text import sections_text, wrapped
from tests.every import every

HOSTILE = "a\x1b]0;title\x07b\x9b31m\u202ec\r\x00\udcff"
LONG = Section(
    "Composites",
    [
        ("LayerNormalizedLstmCellSimple,CoupleInputForgetGates", "12", "becomes the builtin LSTM, in one step " * 3),
        ("x" * 500, "1", "ok"),
        ("名前" * 30, "1", "ok"),
    ],
    headings=("name", "calls", "outcome"),
    right=frozenset({1}),
    note="and a note that is longer than what a terminal of eighty columns has room for, in one line",
)


def shown(section: Section, width: int, *, color: bool = False) -> str:
    console = Console(
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=False,
        legacy_windows=False,
    )
    with console.capture() as capture:
        console.print(sections_renderable([section]))
    return capture.get()


@pytest.mark.parametrize("width", [30, 40, 80, 132])
def test_lines_fit_the_terminal(width: int) -> None:
    lines = shown(LONG, width).splitlines()
    assert max(map(text_width, lines)) <= width
    assert " 12  " in "\n".join(lines)
    assert any(line.startswith("  name") and line.endswith("outcome") for line in lines)


def test_a_name_is_broken_behind_a_separator_and_a_text_between_words() -> None:
    lines = shown(LONG, 80).splitlines()
    assert lines[2].startswith("  LayerNormalizedLstmCellSimple,  ")
    assert lines[3].startswith("  CoupleInputForgetGates  ")
    assert lines[2].endswith("becomes the builtin LSTM, in one")


def test_a_huge_name_is_shortened_in_its_middle_to_three_lines() -> None:
    rows = [line for line in shown(LONG, 80).splitlines() if "xx" in line]
    assert len(rows) == 3
    assert sum("…" in row for row in rows) == 1


def test_text_has_each_row_in_one_line_whole() -> None:
    lines = sections_text([LONG]).splitlines()
    assert len(lines) == 6
    assert "x" * 500 in lines[3]
    # The others are not padded to the width of the one that is huge.
    assert len(lines[1]) < 100


@pytest.mark.parametrize("place", ["title", "cell", "note", "heading"])
def test_no_control_character_reaches_the_terminal(place: str) -> None:
    section = Section(
        HOSTILE if place == "title" else "t",
        [(HOSTILE if place == "cell" else "a", "b")],
        headings=(HOSTILE if place == "heading" else "h", "i"),
        note=HOSTILE if place == "note" else "",
    )
    escaped = r"a\x1b]0;title\x07b\x9b31m\u202ec\r\x00\udcff"
    for text in (shown(section, 120), sections_text([section])):
        assert escaped in text
        assert every(letter == "\n" or letter.isprintable() for letter in text)


def test_what_is_harmless_stays() -> None:
    assert printable("naïve\xa0名前 🙂") == "naïve\xa0名前 🙂"
    assert printable("plain [bold]") == "plain [bold]"


def test_line_feeds_in_a_cell_stay_in_its_column() -> None:
    assert sections_text([Section("t", [("a", "x\ny"), ("bb", "z")])]) == "t\n  a   x\n      y\n  bb  z"


def test_the_title_shows_the_judgement_of_the_whole() -> None:
    assert "\x1b[1;31mt" in shown(Section("t", judgement="bad"), 80, color=True)
    assert "\x1b[1mt" in shown(Section("t"), 80, color=True)


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    console = Console(width=80, force_terminal=True, color_system="standard")
    with console.capture() as capture:
        console.print(sections_renderable([Section("t", [("a", "b")], judgements=["bad"])]))
    assert "\x1b[31" not in capture.get()
    assert "31m" not in capture.get()


def test_widths_of_letters() -> None:
    assert [text_width(each) for each in ("abc", "名前", "e\u0301")] == [3, 4, 1]
    assert shortened("abcdefghij", 5) == "a…hij"
    assert shortened("名前の長さ", 5) == "…長さ"
    assert shortened("abc", 3) == "abc"


def test_lines() -> None:
    assert wrapped("one two three", 7) == ["one two", "three"]
    assert wrapped("layer/kernel:0", 7) == ["layer/", "kernel:", "0"]
    assert wrapped("abcdefghij", 4) == ["abcd", "efgh", "ij"]
    assert wrapped("abcdefghij", 4, 2) == ["ab…f", "ghij"]
    assert wrapped("", 4) == [""]


def test_texts_give_way_before_names() -> None:
    section = Section("t", [("Convolution2DTransposeBias", "all floats and complex numbers, in two words " * 2)])
    lines = shown(section, 60).splitlines()
    assert lines[1].startswith("  Convolution2DTransposeBias  all floats")
    assert len(lines) > 3


def test_a_title_is_one_line_whatever_its_names_have() -> None:
    section = Section("Converted m\nEqual: m and n")
    assert sections_text([section]) == r"Converted m\nEqual: m and n"
    assert shown(section, 80).splitlines() == [r"Converted m\nEqual: m and n"]
