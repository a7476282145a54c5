"""Files that belong to a model, such as labels and vocabularies: a ZIP archive behind the model, in the same file.

Readers find it from the end of the file, as in any archive. The files in it are not compressed: TensorFlow Lite's
readers take them from where they lie.
"""

from __future__ import annotations

import io
import mmap
import os
import shutil
import stat
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

from litefuse.errors import MetadataError

# The time of all files in the archive, so that the same files make the same archive.
_TIME = (1980, 1, 1, 0, 0, 0)
# An archive may list any number of files, though it holds few bytes.
_MOST_FILES = 10_000
_CHUNK = 1 << 20
# What reading a damaged archive raises; NotImplementedError is a RuntimeError.
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, OSError, ValueError, OverflowError, RuntimeError)


class Pack(NamedTuple):
    """The archive behind a model.

    Attributes:
        start: Where it begins in the file.
        size: Its size in bytes.
        sizes: The size of each file in bytes, by its name.
        sums: The CRC-32 of each, by its name.
    """

    start: int
    size: int
    sizes: Mapping[str, int]
    sums: Mapping[str, int]


def pack_of(content: Any) -> Pack | None:
    """Finds the archive behind a model; None if there is none, or a damaged one.

    Args:
        content: The content of the file: bytes or a memory map.
    """
    # The end of an archive is within a comment's length of the end of the file.
    tail = bytes(content[-(22 + (1 << 16)) :])
    if b"PK\x05\x06" not in tail:
        return None
    try:
        with zipfile.ZipFile(_Reader(content)) as archive:
            entries = archive.infolist()
            if not entries or len(entries) > _MOST_FILES:
                return None
            start = min(entry.header_offset for entry in entries)
            if bytes(content[start : start + 4]) != b"PK\x03\x04":
                return None
            return Pack(
                start,
                len(content) - start,
                {entry.filename: entry.file_size for entry in entries},
                {entry.filename: entry.CRC for entry in entries},
            )
    except _DAMAGED:
        return None


def read_file(content: Any, name: str) -> bytes:
    """Returns a file of the archive behind a model; empty if it is damaged."""
    try:
        with zipfile.ZipFile(_Reader(content)) as archive:
            return archive.read(name)
    except _DAMAGED:
        return b""


def file_in(folder: Path, name: str, where: str) -> Path:
    """Returns the path of an associated file, which is in a folder, or in one below it.

    Raises:
        MetadataError: No such file, or the name leads out of the folder.
    """
    parts = PurePosixPath(name).parts
    plain = bool(parts) and name == "/".join(parts) and not {"/", "."} & {name[0], *parts} and name.isprintable()
    if not plain or ".." in parts or "\\" in name or ":" in name:
        raise MetadataError(
            f"{name!r} is not a valid name of an associated file",
            where=where,
            hint="It is a path relative to the folder of the metadata, such as labels.txt, without .. and drives.",
        )
    path = folder / name
    try:
        real = Path(os.path.realpath(path))
        if not real.is_relative_to(os.path.realpath(folder)):
            raise MetadataError(f"{name!r} leads out of the folder of the metadata", where=where)
        if not stat.S_ISREG(real.stat().st_mode):
            raise MetadataError(f"the associated file {name!r} is not a regular file", where=where)
    except (OSError, ValueError) as error:
        raise MetadataError(
            f"the associated file {name!r} cannot be read: {getattr(error, 'strerror', None) or error}",
            where=where,
            hint=f"It is looked for in {folder}.",
        ) from error
    return real


def append_files(path: Path, files: Mapping[str, Path | tuple[Path, str]]) -> None:
    """Appends an archive to a model, which has none yet.

    Args:
        path: The model's file.
        files: The files by their names in the archive: a file, or a model and the name of a file in its archive.

    Raises:
        OSError: A file cannot be read or written.
    """
    if not files:
        return
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as archive:
        for name, source in files.items():
            entry = zipfile.ZipInfo(name, _TIME)
            entry.external_attr = 0o644 << 16
            with ExitStack() as stack:
                if isinstance(source, Path):
                    data: IO[bytes] = stack.enter_context(source.open("rb"))
                    entry.file_size = source.stat().st_size
                else:
                    model, member = source
                    other = stack.enter_context(zipfile.ZipFile(model))
                    data = stack.enter_context(other.open(member))
                    entry.file_size = other.getinfo(member).file_size
                shutil.copyfileobj(data, stack.enter_context(archive.open(entry, "w")), _CHUNK)


class _Reader(io.RawIOBase):
    """Content as a file, without a copy."""

    def __init__(self, content: bytes | mmap.mmap) -> None:
        self._content = content
        self._place = 0

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        start = (0, self._place, len(self._content))[whence]
        self._place = max(start + offset, 0)
        return self._place

    def tell(self) -> int:
        return self._place

    def read(self, size: int = -1, /) -> bytes:
        stop = len(self._content) if size < 0 else self._place + size
        data = bytes(self._content[self._place : stop])
        self._place += len(data)
        return data
