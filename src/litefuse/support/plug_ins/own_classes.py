"""Registries of litefuse's own code from its decorators, without importing its modules; tables in parts.

A registry is made from the classes themselves: the decorator of a class says what it is for, without a separate
list. Most models need few of these classes, so their modules are not imported for that: the decorators are read from
the source.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import os
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple


class OwnClass(NamedTuple):
    """A class or function and one of its decorators."""

    module: str
    name: str
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]

    def load(self) -> Any:
        """Returns the class or function; imports its module."""
        return getattr(importlib.import_module(self.module), self.name)


@functools.cache
def own_classes(package: str, decorator: str) -> tuple[OwnClass, ...]:
    """Returns what has a decorator in a package and its subpackages, sorted by module and line.

    Args:
        package: The package, such as ``litefuse.passes.legalize``; it is imported, its modules are not.
        decorator: The decorator's name. Each use must have this name, start a line, and have only literals as
            arguments.

    Raises:
        ImportError: The package has no source files.
        ValueError: An argument is not a literal.
    """
    return tuple(own for module, source in _sources(package) for own in _decorated(module, source, decorator))


def _sources(package: str) -> Iterator[tuple[str, bytes]]:
    spec = importlib.util.find_spec(package)
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    paths = {module: path for folder in folders for module, path in _modules(package, folder)}
    if not paths:
        raise ImportError(f"{package} has no source files, in which litefuse looks for its classes")
    for module, path in sorted(paths.items()):
        with open(path, "rb") as file:  # noqa: PTH123  as below
            yield module, file.read()


def _modules(package: str, folder: str) -> Iterator[tuple[str, str]]:
    # Every conversion comes through here, and pathlib takes several times as long.
    with os.scandir(folder) as entries:
        for entry in entries:
            name, _, suffix = entry.name.rpartition(".")
            if suffix == "py":
                yield package if name == "__init__" else f"{package}.{name}", entry.path
            elif not name and entry.is_dir():
                yield from _modules(f"{package}.{entry.name}", entry.path)


# A decorator's call, with the lines that it goes on in and comments behind it; other decorators; the name.
_DECORATED = re.compile(rb"@(.*\n(?:[ )#].*\n|\r?\n)*)(?:@.*\n(?:[ )#].*\n|\r?\n)*)*(?:class|def) (\w+)")


def _decorated(module: str, source: bytes, decorator: str) -> Iterator[OwnClass]:
    begin = f"\n@{decorator}(".encode()
    place = source.find(begin)
    while place >= 0:
        matched = _DECORATED.match(source, place + 1)
        if matched is not None:
            call = ast.parse(matched[1].decode().rstrip(), mode="eval").body
            assert isinstance(call, ast.Call)
            arguments = tuple(value for argument in call.args for value in _values(argument))
            keywords = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg is not None}
            yield OwnClass(module, matched[2].decode(), arguments, keywords)
        place = source.find(begin, place + 1)


def _values(argument: ast.expr) -> Iterator[Any]:
    """Returns the values of a positional argument: one, or several if it is unpacked."""
    if isinstance(argument, ast.Starred):
        yield from ast.literal_eval(argument.value)
    else:
        yield ast.literal_eval(argument)


def own_table(package: str, folders: Iterable[str]) -> dict[str, Any]:
    """Merges the dictionaries ``RULES`` in the modules of a package, which are imported.

    Args:
        package: The package's name.
        folders: Its ``__path__``.

    Raises:
        ValueError: Two of them have the same key.
    """
    table: dict[str, Any] = {}
    owners: dict[str, str] = {}
    for module in sorted(pkgutil.iter_modules(folders, f"{package}."), key=lambda module: module.name):
        part: dict[str, Any] = getattr(importlib.import_module(module.name), "RULES", {})
        for key in part:
            owner = owners.setdefault(key, module.name)
            if owner != module.name:
                raise ValueError(f"RULES of both {owner} and {module.name} have {key!r}")
        table |= part
    return table
