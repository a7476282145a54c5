"""Registries of litefuse's own classes from their decorators, without importing their modules.

A registry is made from the classes themselves: the decorator of a class says what it is for, and there is no separate
list. Most models need few of these classes, so their modules are not imported for that: the decorators are read from
the source.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["OwnClass", "own_classes"]


class OwnClass(NamedTuple):
    """A class and one of its decorators.

    Attributes:
        module: Its module.
        name: Its name.
        arguments: The decorator's positional arguments.
        keywords: The decorator's keyword arguments.
    """

    module: str
    name: str
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]

    def load(self) -> Any:
        """Returns the class; imports its module."""
        return getattr(importlib.import_module(self.module), self.name)


@functools.cache
def own_classes(package: str, decorator: str) -> tuple[OwnClass, ...]:
    """Returns the classes in a package and its subpackages that have a decorator, sorted by module and line.

    Args:
        package: The package, such as ``litefuse.legalize``; it is imported, its modules are not.
        decorator: The decorator's name. Each use must have this name, start a line, and have only literals as
            arguments.

    Raises:
        ImportError: The package has no source files.
        ValueError: An argument is not a literal.
    """
    return tuple(found for module, path in _modules(package) for found in _decorated(module, path, decorator))


def _modules(package: str) -> Iterator[tuple[str, Path]]:
    spec = importlib.util.find_spec(package)
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    found = dict(each for folder in folders for each in _modules_in(folder, package))
    if not found:
        raise ImportError(f"{package} has no source files, in which litefuse looks for its classes")
    yield from sorted(found.items())


def _modules_in(folder: str, package: str) -> Iterator[tuple[str, Path]]:
    with os.scandir(folder) as entries:  # a third of the time of Path.rglob
        for entry in entries:
            if entry.is_dir():
                yield from _modules_in(entry.path, f"{package}.{entry.name}")
            elif entry.name.endswith(".py"):
                yield f"{package}.{entry.name.removesuffix('.py')}".removesuffix(".__init__"), Path(entry.path)


# From a decorator to its class: other decorators, what is in brackets over several lines, empty lines.
_DECORATED = re.compile(r"(?:@.*\n(?:[ )].*\n|\r?\n)*)+class (\w+)")


def _decorated(module: str, path: Path, decorator: str) -> Iterator[OwnClass]:
    mark = f"\n@{decorator}("
    data = path.read_bytes()
    if mark.encode() not in data:  # as in most files, which need not be decoded
        return
    text = data.decode("utf-8")
    at = text.find(mark)
    while at >= 0:
        block = _DECORATED.match(text, at + 1)
        if block is not None:
            (cls,) = ast.parse(f"{block[0]}: ...").body
            assert isinstance(cls, ast.ClassDef)
            call = cls.decorator_list[0]
            assert isinstance(call, ast.Call)
            arguments = tuple(map(ast.literal_eval, call.args))
            keywords = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg is not None}
            yield OwnClass(module, cls.name, arguments, keywords)
        at = text.find(mark, at + 1)
