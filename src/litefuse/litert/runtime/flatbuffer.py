"""Reads flatbuffers by field numbers: several times as fast as the schema's classes, for code that visits every op.

The format is that of https://flatbuffers.dev/internals/.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeAlias

from litefuse.errors import InterpreterError

_INT32 = struct.Struct("<i")
_UINT16 = struct.Struct("<H")
_UINT32 = struct.Struct("<I")


class Table:
    """A table. Fields are numbered in the order of the schema; a union takes two, its type and its value.

    Following the offsets of damaged data raises ``struct.error``, or returns arbitrary numbers.

    Args:
        data: The flatbuffer: bytes or a memory map.
        position: The start of the table.
    """

    __slots__ = ("_fields", "data", "position")

    def __init__(self, data: Any, position: int) -> None:
        self.data = data
        self.position = position
        vtable = position - _INT32.unpack_from(data, position)[0]
        size = _UINT16.unpack_from(data, vtable)[0]
        self._fields: tuple[int, ...] = struct.unpack_from(f"<{max(size // 2 - 2, 0)}H", data, vtable + 4)

    def place(self, field: int) -> int:
        """Returns the position of a field; 0 if it has its default value."""
        offset = self._fields[field] if field < len(self._fields) else 0
        return self.position + offset if offset else 0

    def target(self, field: int) -> int:
        """Returns the start of what a field points to, a table, a vector or a text; 0 if it points to nothing."""
        place = self.place(field)
        return place + _UINT32.unpack_from(self.data, place)[0] if place else 0

    def number(self, field: int, kind: str, default: int = 0) -> int:
        """Reads a number; ``kind`` is its format in the module ``struct``, such as ``I`` for uint32."""
        place = self.place(field)
        return struct.unpack_from(f"<{kind}", self.data, place)[0] if place else default

    @property
    def count(self) -> int:
        """How many fields the table's layout has."""
        return len(self._fields)

    def has(self, field: int) -> bool:
        return bool(self.place(field))

    def length(self, field: int) -> int:
        """Returns the length of a vector or a string; 0 if there is none."""
        target = self.target(field)
        return _UINT32.unpack_from(self.data, target)[0] if target else 0

    def numbers(self, field: int) -> tuple[int, ...]:
        """Reads a vector of int32."""
        target = self.target(field)
        return struct.unpack_from(f"<{self.length(field)}i", self.data, target + 4) if target else ()

    def vector(self, field: int) -> int:
        """Returns the start of the elements of a vector; 0 if there is none."""
        target = self.target(field)
        return target + 4 if target else 0

    def content(self, field: int) -> bytes:
        """Returns a copy of a vector of bytes."""
        target = self.target(field)
        return bytes(self.data[target + 4 : target + 4 + self.length(field)]) if target else b""

    def text(self, field: int) -> str:
        return self.content(field).decode("utf-8", "replace")

    def spans(self, field: int) -> list[tuple[int, int]]:
        """Returns where the texts of a vector begin, and how many bytes each has."""
        target = self.target(field)
        places = range(target + 4, target + 4 + 4 * self.length(field), 4)
        starts = [place + _UINT32.unpack_from(self.data, place)[0] for place in places]
        return [(start + 4, _UINT32.unpack_from(self.data, start)[0]) for start in starts]

    def table(self, field: int) -> Table | None:
        """Returns a table, or the value of a union; None if there is none."""
        target = self.target(field)
        return Table(self.data, target) if target else None

    def tables(self, field: int) -> list[Table]:
        target = self.target(field)
        if not target:
            return []
        offsets = struct.unpack_from(f"<{self.length(field)}I", self.data, target + 4)
        return [Table(self.data, target + 4 + 4 * index + offset) for index, offset in enumerate(offsets)]


# A file is another one after it was replaced, and while it grows; not after it was renamed.
_Identity: TypeAlias = tuple[int, int, int, int]
_SHARED: ContextVar[dict[_Identity, mmap.mmap] | None] = ContextVar("shared files", default=None)


@contextmanager
def shared_files() -> Generator[None]:
    """Maps each file once for all who read it within the context.

    Not on Windows, where a file that is mapped cannot be replaced.
    """
    if sys.platform == "win32" or _SHARED.get() is not None:
        yield
        return
    files: dict[_Identity, mmap.mmap] = {}
    token = _SHARED.set(files)
    try:
        yield
    finally:
        _SHARED.reset(token)
        for data in files.values():
            with suppress(BufferError):  # an array is a part of it, and closes it
                data.close()


def mapped(path: str | os.PathLike[str]) -> mmap.mmap:
    """Returns the content of a file as a memory map, which is closed with the last array that is a part of it.

    Raises:
        OSError: It cannot be opened.
        ValueError: It is empty.
    """
    files = _SHARED.get()
    if files is None:
        return _map(path)
    status = Path(path).stat()
    identity = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
    if identity not in files:
        files[identity] = _map(path)
    return files[identity]


def _map(path: str | os.PathLike[str]) -> mmap.mmap:
    with Path(path).open("rb") as opened:
        return mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)


def leave(data: mmap.mmap) -> None:
    """Gives back the pages of a map that stays: they are no memory of this process until they are read again."""
    if sys.platform != "win32" and not data.closed:
        with suppress(OSError):  # the file system cannot
            data.madvise(mmap.MADV_DONTNEED)


def release(data: mmap.mmap) -> None:
    """Closes a file that is to be replaced, unless others read it, or an array is a part of it."""
    files = _SHARED.get() or {}
    for identity in [identity for identity, shared in files.items() if shared is data]:
        del files[identity]
        return
    with suppress(BufferError):
        data.close()


@contextmanager
def content_of(file: str | os.PathLike[str] | bytes) -> Generator[Any]:
    """Opens the content of a file as a memory map, which lasts as long as the context; bytes are returned as they are.

    Raises:
        OSError: It cannot be opened.
    """
    if isinstance(file, bytes):
        yield file
    elif _SHARED.get() is not None:
        data = mapped(file)
        try:
            yield data
        finally:
            leave(data)
    else:
        with _map(file) as data:
            yield data


@contextmanager
def damage_reported(where: str = "") -> Generator[None]:
    """Has all that fails in the context be an error of a damaged model: following offsets fails in many ways.

    Raises:
        InterpreterError: The model is damaged.
    """
    try:
        yield
    except Exception as error:
        raise damaged(where) from error


def damaged(where: str, reason: str = "") -> InterpreterError:
    """Returns the error of a damaged model."""
    return InterpreterError(
        f"the model is damaged{reason}", where=where, hint="Is it complete? Convert or download it again."
    )


def root(data: Any) -> Table:
    """Returns the root table."""
    return Table(data, _UINT32.unpack_from(data, 0)[0])
