"""The command line's reference has every command, and every option of each with its help."""

from __future__ import annotations

import re

import click
import cloup
import pytest
from scripts.command_pages import commands, made

from litefuse.tools.cli.app import app

HEAD, *SECTIONS = re.split(r"^## (?=litefuse )", made(), flags=re.MULTILINE)
ALL = {name: command for name, command, _ in commands(app)}


def unexplained(command: click.Command, section: str) -> list[str]:
    """The options of a command that a section does not have, or does not explain."""
    options = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]
    rows = re.findall(r"^\| `(.+)` \| \S", section, flags=re.MULTILINE)
    named = {word for row in rows for word in re.findall(r"(?<![\w-])--?\w[\w-]*", row)}
    return [option.opts[0] for option in options if not named.issuperset(option.opts)]


@pytest.mark.parametrize("name", ALL)
def test_every_option_is_in_the_reference(name: str) -> None:
    (section,) = (section for section in SECTIONS if section.startswith(f"{name}\n"))
    assert unexplained(ALL[name], HEAD + section) == []


def test_an_option_without_help_is_found() -> None:
    @click.command
    @click.option("-o", "--output", help="Where to.")
    @click.option("--check/--no-check")
    def command() -> None: ...

    assert unexplained(command, "| `-o, --output TEXT` | Where to. |\n| `--check / --no-check` |  |\n") == ["--check"]


def test_options_are_in_their_groups() -> None:
    command = ALL["litefuse convert"]
    assert isinstance(command, cloup.Command)
    (section,) = (section for section in SECTIONS if section.startswith("litefuse convert\n"))
    first, *groups = re.split(r"^\*\*(.+)\*\*$", section, flags=re.MULTILINE)
    titles = [group.title for group in command.option_groups][1:]
    assert groups[::2] == titles
    assert "--output" in first
    assert "--granularity" in groups[2 * titles.index("Quantization") + 1]
    assert "--granularity" not in first
