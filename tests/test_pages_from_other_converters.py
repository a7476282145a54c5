"""The pages for those who come from other converters name arguments and options that there are."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import litefuse
from litefuse.support.options.conversion import Conversion
from litefuse.support.options.declared import single_options
from litefuse.tools.cli.app import app

TUTORIALS = Path(__file__).parents[1] / "docs" / "tutorials"
PAGES = ("from-tflite-converter", "from-coremltools", "from-litert-torch")
ARGUMENTS = {*inspect.signature(litefuse.convert).parameters, *(option.name for option in single_options(Conversion))}
#: Of what other libraries are called with, on the side of litefuse.
OF_OTHERS = {"input_signature", "experimental_implements", "spec"}


def options(group: click.Group) -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from options(command)
        elif command is not None:
            yield from (spelling for each in command.params for spelling in (*each.opts, *each.secondary_opts))


def unknown(page: str) -> list[str]:
    """The arguments and options that a page's tables have in their second column, and litefuse has not."""
    known = {*options(app)}
    found: list[str] = []
    for row in re.findall(r"^\|.*\|$", page, flags=re.MULTILINE):
        cell = re.split(r"(?<!\\)\|", row)[2]
        code = " ".join(re.findall(r"`([^`]+)`", cell))
        found += [name for name in re.findall(r"(?<![\w-])([a-z]\w*)=(?!=)", code) if name not in ARGUMENTS | OF_OTHERS]
        found += [option for option in re.findall(r"(?<!\S)--[a-z][\w-]*", code) if option not in known]
    return found


@pytest.mark.parametrize("page", PAGES)
def test_what_it_is_called_here_is_there(page: str) -> None:
    assert unknown((TUTORIALS / f"{page}.md").read_text(encoding="utf-8")) == []


def test_what_is_not_there_is_found() -> None:
    page = '| a | b |\n| `x=1` | `quantize="int8"`, `quantise=1`, `--quantize int8`, `--quantise` | `c=1` |\n'
    assert unknown(page) == ["quantise", "--quantise"]
