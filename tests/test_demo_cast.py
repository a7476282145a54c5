"""The picture in README shows what the command prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scripts.write_demo_cast import COMMAND, PICTURE, is_current, lines_of, picture, printed, text_of, untimed

OUTPUT = "\x1b[1;33mConverted m to n\x1b[0m\n  \x1b[2mtime\x1b[0m  0.58 s\n\n  <run>  \x1b[31mnot\x1b[0m at & all\n"


@pytest.fixture(scope="module")
def output() -> str:
    return printed()


def test_the_picture_is_what_the_command_prints(output: str) -> None:
    assert is_current(PICTURE.read_text(), output), "run python -m scripts.write_demo_cast"


def test_a_picture_of_something_else_is_not_current(output: str) -> None:
    svg = PICTURE.read_text()
    assert not is_current(svg.replace("2 of 2 composites", "3 of 3 composites"), output)
    assert not is_current(svg, output.replace("EMBEDDING_LOOKUP", "GATHER"))
    assert not is_current(svg, output + "more\n")
    timed = re.search(r"\d+\.\d+ s\b", output)
    assert timed is not None
    assert is_current(svg, output.replace(timed[0], "9.99 s"))


def test_the_text_of_a_picture() -> None:
    assert text_of(picture(lines_of(OUTPUT))) == [
        f"$ litefuse {' '.join(COMMAND)}",
        "Converted m to n",
        "  time  0.58 s",
        "  <run>  not at & all",
    ]
    assert untimed(["", "a  0.58 s ", "b 1.5 kB, 12 us"]) == "a 0 s b 1.5 kB, 0 s"


def test_colors_of_a_picture() -> None:
    svg = picture(lines_of(OUTPUT))
    assert 'class="bold yellow">Converted m to n<' in svg
    assert 'class="dim">time<' in svg
    assert 'class="red">not<' in svg


def test_the_picture_needs_nothing_else() -> None:
    svg = PICTURE.read_text()
    assert re.findall(r"https?://[^\s\"']+", svg) == ["http://www.w3.org/2000/svg"]
    assert "url(" not in svg
    assert "<script" not in svg
    assert f"]({PICTURE.relative_to(PICTURE.parents[1])})" in Path(PICTURE.parents[1], "README.md").read_text()
