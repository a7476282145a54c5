"""The page about the command line names every command, and every option of each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from litefuse.tools.cli.app import app

DOCS = Path(__file__).parents[3] / "docs"


def commands(group: click.Group, *path: str) -> Iterator[tuple[str, click.Command]]:
    """The commands of a group and of the groups in it, by the words that call them."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)
        else:
            yield " ".join([*path, name]), command


def unnamed(page: str, name: str, command: click.Command) -> list[str]:
    """The options of a command that a page does not say.

    It may name them before its first section, for all commands, or in the section of the command.

    Args:
        page: The page, whose sections are called as the commands are.
        name: The command, without ``litefuse``.
        command: What it is.
    """
    head, *sections = re.split(r"^## litefuse ", page, flags=re.MULTILINE)
    own = [section for section in sections if re.match(rf"{name}(?![\w-]| [a-z])", section)]
    assert own, f"{name} has no section"
    options = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]
    spellings = [[*option.opts, *option.secondary_opts] for option in options]
    text = "".join([head, *own])
    return [each[0] for each in spellings if not any(re.search(rf"{one}(?![\w-])", text) for one in each)]


ALL = dict(commands(app))


@pytest.mark.parametrize("name", ALL)
def test_every_option_is_documented(name: str) -> None:
    pages = [DOCS / "reference" / "cli.md", *(DOCS / folder / f"{name}.md" for folder in ("guides", "reference"))]
    page = "".join(path.read_text() for path in pages if path.exists())
    assert unnamed(page, name, ALL[name]) == []


def test_an_option_that_is_not_documented_is_found() -> None:
    @click.command
    @click.option("-o", "--output")
    @click.option("--check/--no-check")
    @click.option("--check-file")
    @click.option("--everywhere")
    @click.option("--elsewhere")
    def command() -> None: ...

    page = "`--everywhere`\n\n## litefuse do FILE\n\n`-o FILE`, `--no-check`.\n\n## litefuse do more\n\n`--elsewhere`\n"
    assert unnamed(page, "do", command) == ["--check-file", "--elsewhere"]
    with pytest.raises(AssertionError, match="undo has no section"):
        unnamed(page, "undo", command)
