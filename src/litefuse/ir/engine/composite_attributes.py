"""Rewrites the composite attributes in a model from the engine, encoded like the options of custom ops."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

# The fields of the schema's tables, by their position in the vtable: 4 + 2 * index.
_SUBGRAPHS = 8  # Model
_OPERATORS = 10  # SubGraph
_OPTIONS_TYPE, _OPTIONS = 26, 28  # Operator: builtin_options_2
_COMPOSITE_OPTIONS = 21  # BuiltinOptions2
_ATTRIBUTES = 8  # StableHLOCompositeOptions


def type_vectors(data: Any) -> bytes:
    """Rewrites the attributes of all composites in place: the fault ``lists-in-composites``.

    Args:
        data: The model's bytes; they are changed.

    Returns:
        The bytes to append to them: the few attributes that take more space than the engine's.
    """
    from flatbuffers import flexbuffers  # few models have composites

    from litefuse.ir.custom_options import encode_options

    appended = bytearray()
    for offset in _attributes(data):
        vector = follow(data, offset)
        (size,) = struct.unpack_from("<I", data, vector)
        start = vector + 4
        written = flexbuffers.GetRoot(bytes(data[start : start + size])).AsMap
        pairs = zip(written.Keys, written.Values, strict=True)
        encoded = encode_options({key.AsKeyBytes.decode(): _plain(value) for key, value in pairs})
        if len(encoded) <= size:
            struct.pack_into("<I", data, vector, len(encoded))
            data[start : start + size] = encoded.ljust(size, b"\0")
        else:
            appended += bytes(-(len(data) + len(appended)) % 4)
            struct.pack_into("<I", data, offset, len(data) + len(appended) - offset)
            appended += struct.pack("<I", len(encoded)) + encoded
    return bytes(appended)


def _plain(value: Any) -> Any:
    if value.IsVector:
        return [_plain(item) for item in value.AsVector]
    return value.AsStringBytes if value.IsString else value.Value  # as a text, it would have to be UTF-8


def _attributes(data: Any) -> Iterator[int]:
    """Yields the positions of the offsets to the composites' attributes, each a vector of bytes."""
    for graph in entries(data, follow(data, 0), _SUBGRAPHS):
        for entry in entries(data, follow(data, graph), _OPERATORS):
            operator = follow(data, entry)
            kind = field_of(data, operator, _OPTIONS_TYPE)
            if kind and data[kind] == _COMPOSITE_OPTIONS:
                yield field_of(data, follow(data, field_of(data, operator, _OPTIONS)), _ATTRIBUTES)


def field_of(data: Any, table: int, field: int) -> int:
    """Returns the position of a table's field; 0 if it has the default value.

    Args:
        data: The flatbuffer's bytes.
        table: The position of the table.
        field: The field's position in the vtable: 4 + 2 * index.
    """
    vtable = table - struct.unpack_from("<i", data, table)[0]
    if field >= struct.unpack_from("<H", data, vtable)[0]:
        return 0
    offset = struct.unpack_from("<H", data, vtable + field)[0]
    return table + offset if offset else 0


def follow(data: Any, position: int) -> int:
    """Returns the position that an offset points to."""
    return position + struct.unpack_from("<I", data, position)[0]


def entries(data: Any, table: int, field: int) -> Iterator[int]:
    """Yields the positions of the offsets in a vector of tables."""
    position = field_of(data, table, field)
    if position:
        vector = follow(data, position)
        for index in range(struct.unpack_from("<I", data, vector)[0]):
            yield vector + 4 + 4 * index
