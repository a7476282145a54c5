"""Writes a model's file with another root table, which shares everything else with the file before.

The new tables stand in front: offsets of a flatbuffer lead forward, so those of the file before stay as they are, and
its weights are copied block by block. What counts from the start of the file, the places of buffers behind the
flatbuffer, is corrected.
"""

from __future__ import annotations

import mmap
import shutil
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from litefuse.errors import MetadataError
from litefuse.litert.runtime.flatbuffer import Table
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.runtime.model_tables import IDENTIFIER

_ALIGNMENT = 16
# Readers take offsets as signed 32-bit numbers.
_LARGEST_OFFSET = 2**31 - 1
_CHUNK = 1 << 24

# The fields of tables: an offset (o), or the format of a number.
MODEL = "Iooooooooo"
SUBGRAPH = "ooooo" + "i"
TENSOR = "obIoo?oo?oI"
SIGNATURE = "ooooI"
MAP = "oI"
METADATA = "oI"
BUFFER = "oQQ"


@dataclass(eq=False)
class Block:
    """A part of the new front: a table, a vector or a text.

    Attributes:
        data: Its bytes.
        origin: What offsets to it lead to, in its bytes.
        links: The offsets in its bytes: places, and the blocks or the positions in the file before that they lead to.
        alignment: What the position of the byte after the first number is a multiple of, in vectors of bytes.
    """

    data: bytearray
    origin: int = 0
    links: list[tuple[int, Block | int]] = field(default_factory=list["tuple[int, Block | int]"])
    alignment: int = 4

    @classmethod
    def text(cls, text: str) -> Block:
        data = text.encode()
        return cls(bytearray(struct.pack("<I", len(data)) + data + b"\0"))

    @classmethod
    def blob(cls, data: bytes) -> Block:
        """Makes a vector of bytes, which begins at a multiple of 16 as buffers do."""
        return cls(bytearray(struct.pack("<I", len(data)) + data), alignment=_ALIGNMENT)

    @classmethod
    def vector(cls, items: Sequence[Block | int]) -> Block:
        """Makes a vector of tables, new ones or those at positions of the file before."""
        links = [(4 + 4 * index, item) for index, item in enumerate(items)]
        return cls(bytearray(struct.pack("<I", len(items)) + bytes(4 * len(items))), links=links)

    @classmethod
    def table(cls, kinds: str, values: Mapping[int, Block | int]) -> Block:
        """Makes a table.

        Args:
            kinds: The kinds of its fields.
            values: The values by the numbers of the fields: numbers, or what an offset leads to.
        """
        size = 4 + 2 * len(kinds)
        origin = -(-size // 4) * 4
        data = bytearray(origin)
        body = bytearray(4)
        links: list[tuple[int, Block | int]] = []
        for number, value in sorted(values.items()):
            struct.pack_into("<H", data, 4 + 2 * number, len(body))
            if kinds[number] == "o":
                links.append((origin + len(body), value))
                body += bytes(4)
            else:
                body += struct.pack(f"<{kinds[number]}", value).ljust(4, b"\0")
        struct.pack_into("<HH", data, 0, size, len(body))
        struct.pack_into("<i", body, 0, origin)
        return cls(data + body, origin, links)

    @classmethod
    def changed(cls, table: Table, kinds: str, values: Mapping[int, Block | int]) -> Block:
        """Makes a copy of a table of the file before with other values of some fields.

        Raises:
            MetadataError: The table has fields of a later version of the schema.
        """
        if table.count > len(kinds) and any(table.has(number) for number in range(len(kinds), table.count)):
            raise MetadataError(
                "the model is of a later version of LiteRT's schema, whose fields would be lost",
                hint="Update litefuse.",
            )
        kept: dict[int, Block | int] = {}
        for number, kind in enumerate(kinds):
            if number not in values and table.has(number):
                kept[number] = table.target(number) if kind == "o" else table.number(number, kind)
        return cls.table(kinds, {**kept, **values})


def write_with_root(source: Path, target: Path, end: int, change: Callable[[Any], Block]) -> None:
    """Writes a file with another root table.

    Args:
        source: The file before.
        target: The file to write.
        end: How much of the file before is kept: what follows is an archive.
        change: Makes the new root of the content, as a copy of the root before with :meth:`Block.changed`.

    Raises:
        MetadataError: The model is too large, or of a later version of the schema.
        OSError: A file cannot be read or written.
    """
    with source.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        front = _laid_out(change(content))
        offsets = Model(content).places_of_offsets()
        with target.open("wb") as written:
            written.write(front)
            file.seek(0)
            left = end
            while left > 0:
                block = file.read(min(_CHUNK, left))
                if not block:
                    break
                written.write(block)
                left -= len(block)
    if offsets:
        with target.open("r+b") as written:
            for place, offset in offsets.items():
                written.seek(place + len(front))
                written.write(struct.pack("<Q", offset + len(front)))
    shutil.copymode(source, target)


def _laid_out(new_root: Block) -> bytes:
    """Returns the front of the file: its header and all new blocks, each before those that it leads to."""
    blocks = _in_order(new_root)
    places: dict[int, int] = {}
    position = 8
    for block in blocks:
        if block.alignment > 4:
            position += -(position + 4) % block.alignment
        else:
            position += -position % 4
        places[id(block)] = position
        position += len(block.data)
    front = bytearray(-(-position // _ALIGNMENT) * _ALIGNMENT)
    struct.pack_into("<I4s", front, 0, places[id(new_root)] + new_root.origin, IDENTIFIER)
    for block in blocks:
        start = places[id(block)]
        front[start : start + len(block.data)] = block.data
        for place, item in block.links:
            goal = len(front) + item if isinstance(item, int) else places[id(item)] + item.origin
            if goal - start - place > _LARGEST_OFFSET:
                raise MetadataError("the model is too large: its flatbuffer would have more than 2 GB")
            struct.pack_into("<I", front, start + place, goal - start - place)
    return bytes(front)


def _in_order(new_root: Block) -> list[Block]:
    """Returns a block and all that it leads to, each behind all that lead to it."""
    blocks: list[Block] = []
    seen: set[int] = set()

    def visit(block: Block) -> None:
        seen.add(id(block))
        for _, item in block.links:
            if isinstance(item, Block) and id(item) not in seen:
                visit(item)
        blocks.append(block)

    visit(new_root)
    return blocks[::-1]
