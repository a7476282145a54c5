"""Other names of inputs and outputs, and the record of those before, which is in the file's metadata."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from litefuse.errors import MetadataError
from litefuse.litert.runtime import model_tables as fields
from litefuse.litert.runtime.flatbuffer import root
from litefuse.litert.runtime.model_reader import Model

#: The name of the metadata with the names before: JSON, by signature, ``inputs`` and ``outputs``, by the new name.
NAMES = "LITEFUSE_ORIGINAL_NAMES"

_ROLES = {"inputs": fields.SIGNATURE_INPUTS, "outputs": fields.SIGNATURE_OUTPUTS}


@dataclass(frozen=True)
class Renaming:
    """New names of the inputs and outputs of signatures.

    Attributes:
        names: By the signature and ``inputs`` or ``outputs``, the new names by the old ones; those that change alone.
    """

    names: Mapping[tuple[str, str], Mapping[str, str]]

    def __bool__(self) -> bool:
        return any(self.names.values())


def signature_names(content: Any) -> dict[str, dict[str, list[str]]]:
    """Returns the names of ``inputs`` and ``outputs`` of each signature of a model.

    Args:
        content: The content of the ``.tflite`` file: bytes or a memory map.
    """
    return {
        table.text(fields.SIGNATURE_KEY): {
            role: [entry.text(fields.MAP_NAME) for entry in table.tables(number)] for role, number in _ROLES.items()
        }
        for table in root(content).tables(fields.SIGNATURES)
    }


def renaming(rename: Mapping[str, str], signatures: Mapping[str, Mapping[str, list[str]]], where: str) -> Renaming:
    """Finds the inputs and outputs that get other names.

    Args:
        rename: The new names by the old ones; ``SIGNATURE:NAME`` is the one of that signature alone.
        signatures: The names of each signature.
        where: The model, for messages.

    Raises:
        MetadataError: No such name, or two would have one name; the message lists the names.
    """
    changed: dict[tuple[str, str], dict[str, str]] = {(key, role): {} for key in signatures for role in _ROLES}
    for old, new in rename.items():
        _check_name(new, where)
        places = [*_places(old, signatures)]
        if not places:
            raise MetadataError(f"unknown input or output {old!r}", where=where, hint=_listed(signatures))
        for key, role, name in places:
            given = changed[key, role]
            if given.get(name, new) != new:
                raise MetadataError(f"{name!r} would get two names, {given[name]!r} and {new!r}", where=where)
            given[name] = new
    for (key, role), changes in changed.items():
        names = [changes.get(name, name) for name in signatures[key][role]]
        twice = [name for name in names if names.count(name) > 1]
        if twice and changes:
            raise MetadataError(
                f"two {role} of {key!r} would have the name {twice[0]!r}", where=where, hint=_listed(signatures)
            )
    return Renaming({place: {a: b for a, b in changes.items() if a != b} for place, changes in changed.items()})


def original_names(content: Any) -> dict[str, dict[str, dict[str, str]]]:
    """Returns the names before renaming: by signature, ``inputs`` and ``outputs``, by the names in the file.

    Args:
        content: The content of the ``.tflite`` file: bytes or a memory map.
    """
    try:
        record = Model(content).metadata_content(NAMES)
        return {} if record is None else _read(json.loads(record))
    except (ValueError, IndexError, RecursionError):  # somebody else's, or damaged
        return {}


def recorded(changes: Renaming, before: Mapping[str, Mapping[str, Mapping[str, str]]]) -> bytes:
    """Returns the record of the names before.

    Args:
        changes: The new names.
        before: The record of a file that had other names before already.
    """
    made: dict[str, dict[str, dict[str, str]]] = {}
    for (key, role), names in changes.names.items():
        earlier = before.get(key, {}).get(role, {})
        kept = {new: old for new, old in earlier.items() if new not in names}
        entries = kept | {new: earlier.get(old, old) for old, new in names.items()}
        entries = {new: old for new, old in entries.items() if new != old}
        if entries:
            made.setdefault(key, {})[role] = entries
    return json.dumps(made, sort_keys=True).encode()


def _places(old: str, signatures: Mapping[str, Mapping[str, list[str]]]) -> Iterator[tuple[str, str, str]]:
    """Yields the signatures and roles of a name, which may begin with the key of a signature."""
    places = [*_named(old, signatures, signatures)]
    if not places and ":" in old:
        for key in signatures:
            if old.startswith(f"{key}:"):
                places += _named(old[len(key) + 1 :], signatures, [key])
    yield from places


def _named(
    name: str, signatures: Mapping[str, Mapping[str, list[str]]], keys: Iterable[str]
) -> Iterator[tuple[str, str, str]]:
    for key in keys:
        for role in _ROLES:
            if name in signatures[key][role]:
                yield key, role, name


def _check_name(name: object, where: str) -> None:
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise MetadataError(f"{name!r} is not a valid name of an input or output", where=where)
    if len(name.encode("utf-8", "replace")) > 1024:
        raise MetadataError(f"the name {name[:40]!r}... is too long", where=where)


def _listed(signatures: Mapping[str, Mapping[str, list[str]]]) -> str:
    return (
        "; ".join(
            f"{key}: inputs {', '.join(names['inputs']) or 'none'}; outputs {', '.join(names['outputs']) or 'none'}"
            for key, names in signatures.items()
        )
        or "The model has no signatures."
    )


def _read(record: object) -> dict[str, dict[str, dict[str, str]]]:
    """Checks a record, which may be anything; raises a ValueError if it is none."""
    made: dict[str, dict[str, dict[str, str]]] = {}
    for key, roles in _entries(record):
        for role, names in _entries(roles):
            for new, old in _entries(names):
                if role not in _ROLES or not isinstance(old, str):
                    raise ValueError("no record of names")
                made.setdefault(key, {}).setdefault(role, {})[new] = old
    return made


def _entries(value: object) -> Iterable[tuple[str, object]]:
    if not isinstance(value, dict):
        raise ValueError("no record of names")
    return cast("dict[str, object]", value).items()
