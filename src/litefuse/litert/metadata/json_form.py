"""Metadata as JSON: the form in which TensorFlow Lite Support shows it, and which is checked against the schema.

A table is an object, an enumeration the name of its value, and a union two entries: ``options_type`` is the name of a
table, and ``options`` an object of it.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from litefuse.errors import MetadataError
from litefuse.litert.metadata.schema import ENUMERATIONS, ROOT, SINCE, TABLES, UNIONS, Field

_LIMITS = {"int": (-(2**31), 2**31 - 1), "uint": (0, 2**32 - 1), "ubyte": (0, 255)}
_FLOAT_LIMIT = 3.4028235e38


def checked(metadata: object, where: str) -> dict[str, Any]:
    """Checks metadata against the schema, and returns a copy.

    Raises:
        MetadataError: It has entries that the schema lacks, or values that do not fit it; the message names them.
    """
    return _table(metadata, ROOT, "", where)


def associated_files_in(metadata: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields all associated files that checked metadata names, wherever it does."""
    for key, value in metadata.items():
        for item in cast("list[Any]", value if isinstance(value, list) else [value]):
            if isinstance(item, dict):
                entry = cast("dict[str, Any]", item)
                if key in {"associated_files", "vocab_file", "sentencePiece_model"}:
                    yield entry
                yield from associated_files_in(entry)


def parser_version(metadata: Mapping[str, Any]) -> str:
    """Returns the version of the schema that brought all that checked metadata has."""
    return ".".join(map(str, max(_versions(metadata, ROOT), default=(1, 0, 0))))


def _versions(table: Mapping[str, Any], name: str) -> Iterator[tuple[int, int, int]]:
    fields = {field.name: field for field in TABLES[name]}
    yield SINCE.get(name, (1, 0, 0))
    for key, value in table.items():
        if key not in fields:
            continue
        field = fields[key]
        yield SINCE.get(f"{name}.{key}", (1, 0, 0))
        kind = table[f"{key}_type"] if field.kind in UNIONS else field.kind
        for item in value if field.is_vector else [value]:
            if kind in TABLES:
                yield from _versions(item, kind)
            elif kind in ENUMERATIONS:
                yield SINCE.get(f"{kind}.{item}", (1, 0, 0))


def _table(value: object, name: str, path: str, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _error(f"{path or 'the metadata'} must be an object, not {_shown(value)}", where)
    given = cast("Mapping[Any, Any]", value)
    prefix = f"{path}." if path else ""
    fields = {field.name: field for field in TABLES[name]}
    types = {f"{field.name}_type": field for field in TABLES[name] if field.kind in UNIONS}
    unknown = [str(key) for key in given if key not in fields and key not in types]
    if unknown:
        raise _unknown([f"{prefix}{key}" for key in unknown], unknown[0], [*fields, *types], name, where)
    table: dict[str, Any] = {}
    for key, field in fields.items():
        if field.kind in UNIONS:
            table |= _union(given, field, prefix, where)
        elif given.get(key) is not None:
            table[key] = _field(given[key], field, f"{prefix}{key}", where)
    return table


def _union(given: Mapping[Any, Any], field: Field, prefix: str, where: str) -> dict[str, Any]:
    kind, value = given.get(f"{field.name}_type"), given.get(field.name)
    if kind is None and value is None:
        return {}
    tables = UNIONS[field.kind]
    if not isinstance(kind, str) or kind not in tables:
        raise _error(f"{prefix}{field.name}_type is {_shown(kind)}", where, f"It is one of {', '.join(tables)}.")
    table = _table({} if value is None else value, kind, f"{prefix}{field.name}", where)
    return {f"{field.name}_type": kind, field.name: table}


def _field(value: object, field: Field, path: str, where: str) -> Any:
    if not field.is_vector:
        return _value(value, field.kind, path, where)
    if not isinstance(value, (list, tuple)):
        raise _error(f"{path} must be a list, not {_shown(value)}", where)
    return [
        _value(item, field.kind, f"{path}[{index}]", where)
        for index, item in enumerate(cast("Iterable[object]", value))
    ]


def _value(value: object, kind: str, path: str, where: str) -> Any:
    if kind in TABLES:
        return _table(value, kind, path, where)
    if kind in ENUMERATIONS:
        if not isinstance(value, str) or value not in ENUMERATIONS[kind]:
            raise _error(f"{path} is {_shown(value)}", where, f"It is one of {', '.join(ENUMERATIONS[kind])}.")
        return value
    if kind == "string":
        if not isinstance(value, str):
            raise _error(f"{path} must be a string, not {_shown(value)}", where)
        try:
            value.encode()
        except UnicodeEncodeError:
            raise _error(f"{path} is not valid text: it has half of a pair of surrogates", where) from None
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _error(f"{path} must be a number, not {_shown(value)}", where)
    if kind == "float":
        if not math.isfinite(value) or abs(value) > _FLOAT_LIMIT:
            raise _error(f"{path} is {_shown(value)}, which no float32 is", where)
        return float(value)
    least, largest = _LIMITS[kind]
    if int(value) != value or not least <= value <= largest:
        raise _error(f"{path} is {_shown(value)}, not an integer from {least} to {largest}", where)
    return int(value)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _unknown(paths: list[str], first: str, known: list[str], table: str, where: str) -> MetadataError:
    near = difflib.get_close_matches(first, known, 1)
    meant = f" {first!r} may be {near[0]!r}." if near else ""
    entries = "entry" if len(paths) == 1 else "entries"
    return _error(
        f"the metadata has no {entries} {', '.join(map(repr, paths))}",
        where,
        f"{table} has {', '.join(known) or 'no entries'}.{meant}",
    )


def _error(message: str, where: str, hint: str = "") -> MetadataError:
    return MetadataError(message, where=where, hint=hint)
