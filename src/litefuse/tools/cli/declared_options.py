"""Options of commands that are declared with the arguments of functions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click
import cloup

from litefuse.errors import LitefuseError
from litefuse.support.options.declared import Declared, Options, declared_options, help_text, single_options
from litefuse.support.options.forms import FORMS
from litefuse.tools.cli.command import Choice, parse_size
from litefuse.tools.cli.parameters import (
    OUTPUT,
    PATH,
    TARGET,
    beginning,
    parse_renames,
    parse_shape,
)


def declared_option_groups(kind: type[Options], *first: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds the options of a class to a command, in named groups.

    Args:
        kind: The class.
        *first: Options of the command's own, which stand before the first group's.
    """
    groups: dict[str, list[Any]] = {"": [*first]}
    for declared in single_options(kind):
        if declared.option.flag != "-":
            groups.setdefault(declared.option.group, []).append(_click_option(declared, kind))

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for title, options in reversed(groups.items()):
            command = cloup.option_group(title or "Options", *options)(command)
        return command

    return decorate


def declared_option(kind: type[Options], name: str, help: str = "") -> Any:  # noqa: A002  as click calls it
    """Returns one option of a class for a command, which may say of its own what it is for."""
    (declared,) = (declared for declared in single_options(kind) if declared.name == name)
    option = declared.option._replace(help=help or declared.option.help)
    return _click_option(declared._replace(option=option), kind)


def given_options_of(kind: type[Options], values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options of a class that differ from their defaults, by the names of arguments."""
    given: dict[str, Any] = {}
    for declared in declared_options(kind):
        if declared.kind is not None:
            if inner := given_options_of(declared.kind, values):
                given[declared.name] = declared.kind(**inner)
            continue
        value = values.get(declared.parameter)
        if value is not None and value != () and declared.option.flag != "-":
            parse = _PARSERS.get(declared.name)
            if declared.option.choices:
                value = {str(one): of for one, of in zip(declared.option.choices, declared.values, strict=True)}[value]
            elif parse is not None:
                value = parse(value)
            default = declared.default
            if (make := declared.option.of) is not None:
                value, default = _made(make, value, declared.flag), make(default)
            if value != default:
                given[declared.name] = value
    return given


def files_read(kind: type[Options], values: Mapping[str, Any]) -> list[Path]:
    """Returns the files that the options of a class name for what is read."""
    named = (values.get(declared.parameter) for declared in single_options(kind) if declared.option.path == "read")
    return [path for path in named if path is not None]


def _made(make: Callable[..., Any], value: Any, flag: str) -> Any:
    try:
        return make(value, flag)
    except LitefuseError as error:
        raise click.BadParameter(str(error)) from error


@functools.cache
def _flags(kind: type[Options]) -> Mapping[str, str]:
    """Returns the flags of a class's options, by their names: of those with a second one, which says no, the first."""
    return {declared.name: _flag(declared) for declared in single_options(kind)}


def _flag(declared: Declared) -> str:
    return declared.flag.split("/")[0]


def _click_option(declared: Declared, kind: type[Options]) -> Any:
    option = declared.option
    known: dict[str, Any] = {"help": help_text(option.help, _flags(kind))}
    if declared.is_switch:
        return cloup.option(declared.flag, default=declared.default, is_flag=True, **known)
    if option.metavar:
        known["metavar"] = option.metavar
    if option.is_repeated:
        known["multiple"] = True
        known["help"] += " May be repeated."
    default = option.otherwise or ("yes" if declared.default is True else declared.default)
    if default and isinstance(default, str | int):
        known["help"] += f"  [default: {default}]"
    return cloup.option(declared.flag, type=_type(declared), shell_complete=_COMPLETIONS.get(declared.name), **known)


def _type(declared: Declared) -> Any:
    option = declared.option
    if declared.name == "target":
        return TARGET
    if option.choices:
        return Choice([str(choice) for choice in option.choices])
    if option.path:
        return PATH if option.path == "read" else OUTPUT
    if option.is_bytes:
        return parse_size
    if declared.annotation.startswith("int"):
        return click.IntRange(min=option.least) if option.least is not None else int
    return click.FloatRange(min=option.least) if declared.annotation.startswith("float") else str


def _complete_composites(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[Any]:
    """Completes ``NAME=FORM``: the names of litefuse's own fusions, and the forms."""
    name, equals, _ = incomplete.partition("=")
    if equals:
        return beginning((f"{name}={form}" for form in FORMS), incomplete)
    from litefuse.support.plug_ins.own_classes import own_classes

    names = sorted({name for class_ in own_classes("litefuse.fusions", "fusion") for name in class_.arguments})
    return beginning((*FORMS, *(f"{name}=" for name in names)), incomplete)


_COMPLETIONS: Mapping[str, Any] = {"composites": _complete_composites}


def _forms(values: Iterable[str]) -> dict[str, Any]:
    forms: dict[str, str] = {}
    for value in values:
        name, equals, form = value.rpartition("=")
        if form not in FORMS:
            raise click.BadParameter(f"--composites takes {', '.join(FORMS)}, or NAME= and one of these, not {value!r}")
        forms[name if equals else "*"] = form
    return forms


def _shapes(values: Iterable[str]) -> dict[str, tuple[int | None, ...]]:
    return dict(parse_shape(value, ("?", "-1")) for value in values)


# What makes a value of an option's texts, by the option's name.
_PARSERS: Mapping[str, Callable[[Any], Any]] = {
    "composites": _forms,
    "rename": parse_renames,
    "shapes": _shapes,
}
