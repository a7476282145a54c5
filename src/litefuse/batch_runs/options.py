"""The options of litefuse's functions, read from their sources: importing these would load what the work needs."""

from __future__ import annotations

import ast
import difflib
import importlib.util
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from litefuse.errors import LitefuseError

__all__ = ["check_value", "options_of", "unknown_key"]

# What belongs to one call, not to a model in a file.
_OF_CALLS = frozenset(
    (
        *("custom_ops", "dump_ir", "dump_ir_after", "expected", "in_process", "layers", "on_step", "progress"),
        *("temporary_folder", "timeout", "memory"),
    )
)


@cache
def options_of(function: str) -> Mapping[str, str]:
    """Returns the names of a function's keyword arguments that a file may set, with their annotations.

    Args:
        function: The function, as ``package.module:function``.
    """
    module, _, name = function.partition(":")
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    found = next(each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == name)
    arguments = found.args.kwonlyargs
    return {
        each.arg: ast.unparse(each.annotation) if each.annotation is not None else ""
        for each in arguments
        if each.arg not in _OF_CALLS
    }


def unknown_key(key: str, known: Iterable[str], where: str) -> LitefuseError:
    """Returns the error for a key that nothing knows, with the nearest one that is known."""
    names = sorted(known)
    near = difflib.get_close_matches(key, names, n=1, cutoff=0.5)
    hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(names)}."
    return LitefuseError(f"there is no key {key!r}", where=where, hint=hint)


def check_value(key: str, value: Any, annotation: str, where: str) -> None:
    """Checks the kind of a plain value: switches and numbers, which functions may not check.

    Raises:
        LitefuseError: It is of another kind.
    """
    if not annotation:  # it is checked elsewhere
        return
    kinds = {each.strip() for each in annotation.split("|")}
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if kinds == {"bool"}:
        wanted, fits = "true or false", isinstance(value, bool)
    elif kinds <= {"int", "None"}:
        wanted, fits = "a whole number", isinstance(value, int) and is_number
    elif kinds <= {"float", "int", "None"}:
        wanted, fits = "a number", is_number
    elif "bool" in kinds:
        wanted, fits = "true, false, a text or a list of texts", isinstance(value, bool | str | list | tuple)
    elif any(each.startswith(("Mapping", "dict")) for each in kinds):
        wanted, fits = "a table or a text", isinstance(value, Mapping | str | list | tuple)
    else:
        wanted, fits = "a text or a list", isinstance(value, str | list | tuple | Mapping) or is_number
    if not fits:
        raise LitefuseError(f"{key} is {wanted}, not {value!r}", where=where)
