"""Access to the tables of a flatbuffer that is changed in place: https://flatbuffers.dev/internals/."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any


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
