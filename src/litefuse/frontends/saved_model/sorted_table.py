"""Reader of LevelDB-format sorted tables, the format of a checkpoint's index.

Layout (LevelDB's ``doc/table_format.md``): blocks, each followed by a compression type and a masked CRC-32C; among
them an index block whose values locate the data blocks; last a footer of 48 bytes that locates the index block. An
entry of a block shares the first bytes of its key with the entry before it.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from litefuse.errors import CheckpointError
from litefuse.frontends.saved_model.crc32c import crc32c, mask
from litefuse.frontends.saved_model.varint import read_varint

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["read_table"]

_FOOTER_SIZE = 48
_MAGIC = 0xDB4775248B80FB57
_TRAILER_SIZE = 5
# Keys share prefixes, so a small hostile table could hold enormous keys; in real tables they take a few times its size.
_MAX_KEY_EXPANSION = 100
_COMPRESSION = {0: "none", 1: "snappy", 2: "zstd"}


def read_table(data: bytes, where: str = "") -> dict[bytes, bytes]:
    """Returns the entries of a table, in the order of their keys.

    Args:
        data: The whole file.
        where: The file's name, for errors.

    Raises:
        CheckpointError: It is not a table, is damaged (every block's checksum is verified), or is compressed.
    """
    try:
        return _read_table(data)
    except (ValueError, struct.error) as reason:
        raise CheckpointError(f"the index is damaged: {reason}", where=where) from None
    except CheckpointError as reason:
        reason.where = where
        raise


def _read_table(data: bytes) -> dict[bytes, bytes]:
    if len(data) < _FOOTER_SIZE:
        raise CheckpointError(f"the index is truncated: {len(data)} bytes, its footer alone takes {_FOOTER_SIZE}")
    footer = len(data) - _FOOTER_SIZE
    (magic,) = struct.unpack_from("<Q", data, len(data) - 8)
    if magic != _MAGIC:
        raise CheckpointError("this is not a checkpoint index, or it is truncated: it does not end in the magic number")
    _, _, position = _read_handle(data, footer)  # the meta-index block holds nothing that is needed
    index_offset, index_size, _ = _read_handle(data, position)
    entries: dict[bytes, bytes] = {}
    end_of_last = 0
    key_bytes = 0
    last_key: bytes | None = None
    for _, handle in _block_entries(_read_block(data, index_offset, index_size)):
        offset, size, _ = _read_handle(handle, 0)
        if offset < end_of_last:
            raise ValueError("data blocks overlap")
        end_of_last = offset + size + _TRAILER_SIZE
        for key, value in _block_entries(_read_block(data, offset, size)):
            if last_key is not None and key <= last_key:
                raise ValueError(f"key {key!r} is not behind key {last_key!r}")
            key_bytes += len(key)
            if key_bytes > _MAX_KEY_EXPANSION * len(data):
                raise ValueError("its keys take more than 100 times the space of the file")
            entries[key] = value
            last_key = key
    return entries


def _read_handle(data: bytes, position: int) -> tuple[int, int, int]:
    """Returns the offset and size of a block, and the position after the handle."""
    offset, position = read_varint(data, position)
    size, position = read_varint(data, position)
    return offset, size, position


def _read_block(data: bytes, offset: int, size: int) -> bytes:
    """Returns a block's contents without its trailer; verifies its checksum."""
    end = offset + size
    if end + _TRAILER_SIZE > len(data) - _FOOTER_SIZE:
        raise ValueError(f"block at {offset} of {size} bytes ends behind the file")
    compression, checksum = struct.unpack_from("<BI", data, end)
    if mask(crc32c(data[offset : end + 1])) != checksum:
        raise ValueError(f"the checksum of the block at {offset} does not match")
    if compression:
        name = _COMPRESSION.get(compression, f"unknown method {compression}")
        raise CheckpointError(
            f"the index is compressed ({name}), which TensorFlow's checkpoints are not",
            hint="Save the model again with TensorFlow 2.",
        )
    return data[offset:end]


def _block_entries(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    (restarts,) = struct.unpack_from("<I", block, len(block) - 4)
    end = len(block) - 4 * (restarts + 1)
    if end < 0:
        raise ValueError("a block has more restart points than bytes")
    key = b""
    position = 0
    while position < end:
        shared, position = read_varint(block, position)
        unshared, position = read_varint(block, position)
        length, position = read_varint(block, position)
        value_start = position + unshared
        if shared > len(key) or value_start + length > end:
            raise ValueError("an entry ends behind its block")
        key = key[:shared] + block[position:value_start]
        position = value_start + length
        yield key, block[value_start:position]
