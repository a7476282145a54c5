"""Metadata as a flatbuffer, in both directions."""

from __future__ import annotations

import functools
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import flatbuffers
import numpy as np

from litefuse.litert.metadata.schema import ENUMERATIONS, IDENTIFIER, ROOT, TABLES, UNIONS, Field
from litefuse.litert.runtime.flatbuffer import Table, root

_FORMATS = {"int": "i", "uint": "I", "float": "f", "ubyte": "B"}
_DTYPES = {"uint": "<u4", "float": "<f4", "ubyte": "u1", "int": "<i4"}
# Tables within tables: those of the schema are at most this deep.
_DEPTH = 12


def encoded(metadata: Mapping[str, Any]) -> bytes:
    """Returns the flatbuffer of checked metadata."""
    builder = flatbuffers.Builder(1024)
    builder.Finish(_write_table(builder, metadata, ROOT), file_identifier=IDENTIFIER)
    return bytes(builder.Output())


def decoded(data: bytes) -> dict[str, Any] | None:
    """Returns the metadata of a flatbuffer, as JSON has it; None if it is of another format, or damaged.

    Fields of a later version of the schema are left out.
    """
    if data[4:8] != IDENTIFIER:
        return None
    try:
        # In a hostile flatbuffer, vectors have the same tables many times.
        return _Reader(len(data)).table(root(data), ROOT, 0)
    except (struct.error, ValueError, IndexError, RecursionError):
        return None


def _write_table(builder: Any, table: Mapping[str, Any], name: str) -> int:
    slots = [*_slots(name)]
    # What a table points to is written before it.
    places = {
        slot: _write_value(builder, table, field)
        for slot, field in slots
        if field.name in table and (field.is_vector or field.kind not in {*_FORMATS, *ENUMERATIONS})
    }
    builder.StartObject(slots[-1][0] + 1 if slots else 0)
    for slot, field in slots:
        if slot in places:
            if field.kind in UNIONS:
                builder.PrependUint8Slot(slot - 1, UNIONS[field.kind].index(table[f"{field.name}_type"]) + 1, 0)
            builder.PrependUOffsetTRelativeSlot(slot, places[slot], 0)
        elif field.name in table:
            value = table[field.name]
            if field.kind in ENUMERATIONS:
                builder.PrependInt8Slot(slot, ENUMERATIONS[field.kind].index(value), 0)
            elif field.kind == "float":
                builder.PrependFloat32Slot(slot, value, 0.0)
            elif field.kind == "int":
                builder.PrependInt32Slot(slot, value, 0)
            else:
                builder.PrependUint32Slot(slot, value, 0)
    return builder.EndObject()


def _write_value(builder: Any, table: Mapping[str, Any], field: Field) -> int:
    value = table[field.name]
    if field.kind in UNIONS:
        return _write_table(builder, value, table[f"{field.name}_type"])
    if not field.is_vector:
        return builder.CreateString(value) if field.kind == "string" else _write_table(builder, value, field.kind)
    if field.kind in _DTYPES:
        return builder.CreateNumpyVector(np.asarray(value, _DTYPES[field.kind]))
    write = (
        builder.CreateString if field.kind == "string" else functools.partial(_write_table, builder, name=field.kind)
    )
    places = [write(item) for item in value]
    builder.StartVector(4, len(places), 4)
    for place in reversed(places):
        builder.PrependUOffsetTRelative(place)
    return builder.EndVector()


@functools.cache
def _slots(name: str) -> Sequence[tuple[int, Field]]:
    """Returns the fields of a table with their numbers; of a union, that of its value."""
    slots: list[tuple[int, Field]] = []
    slot = 0
    for field in TABLES[name]:
        slot += field.kind in UNIONS
        slots.append((slot, field))
        slot += 1
    return slots


class _Reader:
    """Reads at most ``left`` values: as many as there are bytes."""

    def __init__(self, left: int) -> None:
        self._left = left

    def table(self, table: Table, name: str, depth: int) -> dict[str, Any]:
        if depth > _DEPTH:
            raise ValueError("too deep")
        self._take(1)
        entries: dict[str, Any] = {}
        for slot, field in _slots(name):
            value = self._value(table, slot, field, depth, entries)
            if value is not None:
                entries[field.name] = value
        return entries

    def _value(self, table: Table, slot: int, field: Field, depth: int, entries: dict[str, Any]) -> Any:
        if field.kind in UNIONS:
            number, value = table.number(slot - 1, "B"), table.table(slot)
            if value is None or not 0 < number <= len(UNIONS[field.kind]):
                return None
            entries[f"{field.name}_type"] = kind = UNIONS[field.kind][number - 1]
            return self.table(value, kind, depth + 1)
        if field.is_vector:
            self._take(table.length(slot))
            return self._vector(table, slot, field, depth) if table.vector(slot) else None
        if field.kind in TABLES:
            value = table.table(slot)
            return None if value is None else self.table(value, field.kind, depth + 1)
        if not table.has(slot):
            return None
        if field.kind == "string":
            self._take(table.length(slot))
            return table.text(slot)
        number = table.number(slot, "b" if field.kind in ENUMERATIONS else _FORMATS[field.kind])
        if field.kind in ENUMERATIONS:
            names = ENUMERATIONS[field.kind]
            return names[number] if 0 <= number < len(names) else number
        return _shortest(number)

    def _vector(self, table: Table, slot: int, field: Field, depth: int) -> list[Any]:
        if field.kind in TABLES:
            return [self.table(item, field.kind, depth + 1) for item in table.tables(slot)]
        if field.kind == "string":
            spans = table.spans(slot)
            self._take(sum(length for _, length in spans))
            return [bytes(table.data[start : start + length]).decode("utf-8", "replace") for start, length in spans]
        start, count = table.vector(slot), table.length(slot)
        values = struct.unpack_from(f"<{count}{_FORMATS[field.kind]}", table.data, start)
        return [_shortest(value) for value in values]

    def _take(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise ValueError("more values than bytes")


def _shortest(value: float) -> float | str:
    """Returns the shortest decimal of a float32; infinities and NaN as texts, which JSON has."""
    if isinstance(value, int):
        return value
    return float(str(np.float32(value))) if np.isfinite(value) else str(value)
