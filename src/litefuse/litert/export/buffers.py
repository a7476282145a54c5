"""Data of buffers behind the tables of a flatbuffer: inside of it, or outside where it would exceed 2 GB."""

from __future__ import annotations

import mmap
import os
import struct
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

from litefuse.litert.runtime import model_tables as fields
from litefuse.litert.runtime.flatbuffer import root

#: Most readers take a flatbuffer's offsets as signed 32-bit numbers; larger models keep weights outside of it.
MAX_FLATBUFFER = 2**31 - 1
# LiteRT's alignment of buffers (schema.fbs, Buffer.data).
_ALIGNMENT = 16
# A table of Buffer and its vtable, with a vector of bytes: the offsets of both; and with a position and a size in the
# file, which are aligned.
_INNER_VTABLE, _INNER = struct.Struct("<HHHxx"), struct.Struct("<iI")
_OUTER_VTABLE, _OUTER = struct.Struct("<HHHHH10x"), struct.Struct("<iQQ4x")


class BufferData(Protocol):
    """The data of a buffer."""

    @property
    def nbytes(self) -> int:
        """Its size in bytes."""
        ...

    def blocks(self) -> Iterable[Any]:
        """Yields its bytes in blocks."""
        ...


def append_buffers(
    path: Path,
    buffers: Mapping[int, BufferData],
    *,
    max_flatbuffer: int = MAX_FLATBUFFER,
    written: Callable[[int], None] = lambda _: None,
) -> None:
    """Appends the data of buffers to a flatbuffer, whose entries then lead to it.

    A flatbuffer that would exceed 2 GB keeps all of it outside, and the buffers have ``offset`` and ``size``, as in the
    stock converter's files.

    Args:
        path: The file, which has nothing behind its flatbuffer.
        buffers: The data by the indices of the buffers.
        max_flatbuffer: The maximum size of the flatbuffer in bytes.
        written: Called with the size of each block behind its writing.
    """
    with path.open("r+b") as file:
        with mmap.mmap(file.fileno(), 0) as mapped:
            end, entries = len(mapped), root(mapped).vector(fields.BUFFERS)
            layout = _layout(end, {index: data.nbytes for index, data in buffers.items()}, max_flatbuffer)
            for index, table in layout.tables.items():
                entry = entries + 4 * index
                struct.pack_into("<I", mapped, entry, table - entry)
        _reserve(file, max(start + buffers[index].nbytes for index, start in layout.data.items()))
        file.seek(end)
        _append(file, buffers, layout, written)


class _Layout(NamedTuple):
    """The layout of everything after the end of the flatbuffer, where the new tables and their vtable start.

    It has the positions of tables and of bytes by the indices of the buffers. If ``prefixed``, each is a vector, with
    its length before the bytes.
    """

    head: bytes
    tables: Mapping[int, int]
    data: Mapping[int, int]
    prefixed: bool


def _layout(end: int, sizes: Mapping[int, int], max_flatbuffer: int) -> _Layout:
    inside = _inner_layout(end, sizes)
    last = max(inside.data, key=lambda index: inside.data[index])
    return inside if inside.data[last] + sizes[last] <= max_flatbuffer else _outer_layout(end, sizes)


def _aligned(position: int, alignment: int = _ALIGNMENT) -> int:
    return -(-position // alignment) * alignment


def _inner_layout(end: int, sizes: Mapping[int, int]) -> _Layout:
    """Lays out tables with vectors of bytes: the usual form."""
    vtable = _aligned(end, 8)
    first = vtable + _INNER_VTABLE.size
    tables = {index: first + _INNER.size * place for place, index in enumerate(sizes)}
    data: dict[int, int] = {}
    position = first + _INNER.size * len(sizes)
    for index, size in sizes.items():
        data[index] = _aligned(position + 4)
        position = data[index] + size
    head = b"\0" * (vtable - end) + _INNER_VTABLE.pack(6, _INNER.size, 4)
    for index, table in tables.items():
        head += _INNER.pack(table - vtable, data[index] - 4 - (table + 4))
    return _Layout(head, tables, data, prefixed=True)


def _outer_layout(end: int, sizes: Mapping[int, int]) -> _Layout:
    """Lays out tables with positions in the file."""
    vtable = _aligned(end, 16)
    first = vtable + _OUTER_VTABLE.size
    tables = {index: first + _OUTER.size * place for place, index in enumerate(sizes)}
    data: dict[int, int] = {}
    position = first + _OUTER.size * len(sizes)
    for index, size in sizes.items():
        data[index] = _aligned(position)
        position = data[index] + size
    head = b"\0" * (vtable - end) + _OUTER_VTABLE.pack(10, 20, 0, 4, 12)
    for index, table in tables.items():
        head += _OUTER.pack(table - vtable, data[index], sizes[index])
    return _Layout(head, tables, data, prefixed=False)


def _reserve(file: BinaryIO, size: int) -> None:
    """Lets the file system allocate all blocks of a file before it is written, if it can.

    When a file replaces another one, some file systems, such as ext4, allocate and write all delayed blocks at once:
    that takes longer than writing the file.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            os.posix_fallocate(file.fileno(), 0, size)


def _append(file: BinaryIO, buffers: Mapping[int, BufferData], layout: _Layout, written: Callable[[int], None]) -> None:
    position = file.tell() + file.write(layout.head)
    for index, start in layout.data.items():
        prefix = struct.pack("<I", buffers[index].nbytes) if layout.prefixed else b""
        file.write(b"\0" * (start - len(prefix) - position) + prefix)
        for block in buffers[index].blocks():
            file.write(block)
            written(len(block))
        position = start + buffers[index].nbytes
