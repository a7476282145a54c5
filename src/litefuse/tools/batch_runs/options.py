"""The options that a file may set: declared ones, and those of functions, read from their sources."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from litefuse.errors import LitefuseError
from litefuse.support.options.conversion import Conversion, OnSteps
from litefuse.support.options.declared import Declared, Options, declared_options, single_options
from litefuse.support.options.names_elsewhere import answers_elsewhere

#: Options that name files, which are relative to models.toml.
FILES = frozenset(
    (
        *(declared.name for declared in single_options(Conversion) if declared.option.path == "read"),
        *("original", "inputs", "kernels"),
    )
)

# What belongs to one call, not to a model in a file.
_OF_STEPS = frozenset(declared.name for declared in declared_options(OnSteps))
_OF_CALLS = frozenset(("custom_ops", "expected", "layers", "limits", *_OF_STEPS))
_OF_CONVERSIONS = frozenset(("debug", *_OF_STEPS))


@cache
def options_of(function: str) -> Mapping[str, str]:
    """Returns the names of a function's keyword arguments that a file may set, with their annotations.

    It is not imported, which would load what the work needs.

    Args:
        function: The function, as ``package.module:function``.
    """
    module, _, name = function.partition(":")
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    definition = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name)
    arguments = definition.args.kwonlyargs
    return {
        argument.arg: ast.unparse(argument.annotation) if argument.annotation is not None else ""
        for argument in arguments
        if argument.arg not in _OF_CALLS
    }


def keys_of(kind: type[Options]) -> Mapping[str, Declared]:
    """Returns the options of a class that a file may set, by their names."""
    return {declared.name: declared for declared in declared_options(kind) if declared.name not in _OF_CONVERSIONS}


def unknown_key(key: str, known: Iterable[str], where: str) -> LitefuseError:
    """Returns the error for a key that nothing knows, with what it is here, or the nearest one that is known."""
    names = sorted(known)
    hint = answers_elsewhere([key], names) or f"The keys are {', '.join(names)}."
    return LitefuseError(f"unknown key {key!r}", where=where, hint=hint)


def check_value(key: str, value: Any, annotation: str, where: str) -> None:
    """Checks the kind of a value; functions check which values of that kind they take.

    Args:
        key: The key.
        value: Its value.
        annotation: That of the argument, of which the names of types count, without what is in brackets.
        where: Where it stands, for the message.

    Raises:
        LitefuseError: It is of another kind.
    """
    if not annotation:  # it is checked elsewhere
        return
    names = [name.strip() for name in _flat(annotation).split("|")]
    wanted = {what: types for name in names if name != "None" for what, types in _KINDS.get(name, _TEXT).items()}
    if value is None:
        fits = "None" in names
    else:
        kinds = [kind for types in wanted.values() for kind in types]
        fits = bool in kinds if isinstance(value, bool) else isinstance(value, tuple(kinds))
    if "a list of strings" in wanted and isinstance(value, (list, tuple, set, frozenset)):
        fits = fits and all(isinstance(text, (str, os.PathLike)) for text in cast("Iterable[object]", value))
    if not fits:
        raise LitefuseError(f"{key} must be {' or '.join(wanted)}, not {value!r}", where=where)


def _flat(annotation: str) -> str:
    """Returns an annotation without what is in its brackets."""
    while (shorter := re.sub(r"\[[^\[\]]*\]", "", annotation)) != annotation:
        annotation = shorter
    return annotation


_TEXT: Mapping[str, tuple[type, ...]] = {"a string": (str, os.PathLike)}
_LIST: Mapping[str, tuple[type, ...]] = {"a list of strings": (str, list, tuple, set, frozenset)}
# What values are, by the names of types. Other names are those of literals, which are texts.
_KINDS: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    "bool": {"true or false": (bool,)},
    "int": {"a whole number": (int,)},
    "float": {"a number": (int, float)},
    "Mapping": {"a table": (Mapping,)},
    "Iterable": _LIST,
    "Collection": _LIST,
    "Sequence": _LIST,
    "WeightBits": {"a whole number": (int,)},
    "QuantizedIo": {"true or false": (bool,), **_LIST},
    "RecipeEntries": {"a string": (str, os.PathLike), "a list of tables": (list, tuple)},
    "RepresentativeDataset": {"a string": (str, os.PathLike), "a list of samples": (list, tuple)},
}
