"""The options and arguments that a command was given, and the files that they name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import click

_GIVEN = (click.core.ParameterSource.COMMANDLINE, click.core.ParameterSource.ENVIRONMENT)
#: The key of a context's ``meta`` for the values of the options of all commands, by their names.
ALL_COMMANDS = "litefuse.options_of_all_commands"
# Those of them that change what a command does.
_LIMITS = ("timeout", "memory")
# Parameters with paths among other things: code of users.
_CODE = frozenset({"kernels", "plug_ins", "sources"})


def command_name(context: click.Context) -> str:
    """Returns the name of a command without the program's, such as ``kernels list``."""
    names: list[str] = []
    while context.parent is not None:
        names.append(context.command.name or "")
        context = context.parent
    return " ".join(reversed(names))


def given_parameters(context: click.Context) -> dict[str, Any]:
    """Returns what the user gave to a command, by the names that ``--help`` has: arguments and options, as parsed."""
    parameters: dict[str, Any] = {}
    values = {**{name: context.meta.get(ALL_COMMANDS, {}).get(name) for name in _LIMITS}, **context.params}
    for parameter in context.command.params:
        name = parameter.name or ""
        if name not in values or context.get_parameter_source(name) not in _GIVEN:
            continue
        shown = max(parameter.opts, key=len) if isinstance(parameter, click.Option) else name
        parameters[shown] = values[name]
    return parameters


def given_options(context: click.Context | None = None) -> dict[str, str]:
    """Returns the options that the user gave to the running command, with their values as text."""
    given = given_parameters(context or click.get_current_context())
    return {name: _shown(value) for name, value in given.items() if name.startswith("-")}


def named_files(context: click.Context) -> list[Path]:
    """Returns the files and folders that the parameters of a command name, and that are there."""
    files: dict[Path, None] = {}
    for parameter in context.command.params:
        if isinstance(parameter.type, click.Path) or parameter.name in _CODE:
            for path in _paths(context.params.get(parameter.name or "")):
                try:
                    if path.exists():
                        files[path] = None
                except (OSError, ValueError):  # the name is too long, or has a null character
                    continue
    return list(files)


def _paths(value: Any) -> Iterator[Path]:
    if isinstance(value, str | Path):
        yield Path(value)
    elif isinstance(value, tuple | list):
        for item in cast("list[Any]", value):
            yield from _paths(item)


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, cast("list[Any]", value)))
    return str(value)
