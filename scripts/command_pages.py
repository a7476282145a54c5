"""The command line's reference, from its commands: what ``--help`` says of each."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click
import cloup

from litefuse.tools.cli.app import app


def made() -> str:
    """The sections of the page: the options of all commands, then a section for each command."""
    known = [*commands(app)]
    _, command, context = known[0]
    shared = {option.name for option in _options(command)}
    for _, other, _ in known:
        shared &= {option.name for option in _options(other)}
    of_all = [option for option in _options(command) if option.name in shared]
    lines = ["## Every command", "", *_table([*_options(app), *of_all], context)]
    for name, command, context in known:
        usage = " ".join(command.collect_usage_pieces(context))
        lines += [f"## {name}", "", "```text", f"{name} {usage}", "```", "", *_about(command.help or "")]
        for title, options in _groups(command):
            own = [option for option in options if option.name not in shared]
            if title and own:
                lines += [f"**{title}**", ""]
            lines += _table(own, context)
    return "\n".join(lines)


def commands(
    group: click.Group, above: click.Context | None = None
) -> Iterator[tuple[str, click.Command, click.Context]]:
    """The commands of a group and of the groups in it, by the words that call them."""
    context = click.Context(group, above, info_name=group.name)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if command.hidden:
            continue
        if isinstance(command, click.Group):
            yield from commands(command, context)
        else:
            own = click.Context(command, context, info_name=name)
            yield own.command_path, command, own


def _options(command: click.Command) -> list[click.Option]:
    return [option for option in command.params if isinstance(option, click.Option) and not option.hidden]


def _groups(command: click.Command) -> Iterator[tuple[str, list[click.Option]]]:
    """A command's options under the titles that its help has; empty for those before the first one."""
    rest = _options(command)
    titled = command.option_groups if isinstance(command, cloup.Command) else []
    for place, group in enumerate(titled):
        grouped = [option for option in group.options if option in rest]
        rest = [option for option in rest if option not in grouped]
        yield group.title if place else "", grouped
    yield "Other options" if titled else "", rest


def _about(text: str) -> Iterator[str]:
    """A command's help as Markdown. What stands below the character of a backspace keeps its lines."""
    for paragraph in filter(None, re.split(r"\n\s*\n", inspect.cleandoc(text))):
        if paragraph.startswith("\b\n"):
            yield from ("```text", paragraph[2:], "```", "")
        else:
            yield from (_plain(paragraph), "")


def _table(options: list[click.Option], context: click.Context) -> Iterator[str]:
    records = [record for option in options if (record := option.get_help_record(context)) is not None]
    if records:
        yield from ("| option | meaning |", "| --- | --- |")
        yield from (
            f"| `{spelling.replace('|', chr(92) + '|')}` | {_plain(' '.join(about.split()))} |"
            for spelling, about in records
        )
        yield ""


def _plain(text: str) -> str:
    """Text in which nothing is markup."""
    return re.sub(r"[\\*_|`\[\]]", r"\\\g<0>", text.replace("&", "&amp;").replace("<", "&lt;"))
