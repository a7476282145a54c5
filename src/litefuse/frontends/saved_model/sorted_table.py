"""Reader of LevelDB-format sorted tables, the format of a checkpoint's index; its checksums and integers.

Layout (LevelDB's ``doc/table_format.md``): blocks, each followed by a compression type and a masked CRC-32C; among
them an index block whose values locate the data blocks; last a footer of 48 bytes that locates the index block. An
entry of a block shares the first bytes of its key with the entry before it.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, cast

import google_crc32c

from litefuse.errors import CheckpointError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

_FOOTER_SIZE = 48
_MAGIC = 0xDB4775248B80FB57
_TRAILER_SIZE = 5
# Keys share prefixes, so a small hostile table could hold enormous keys; in real tables they take a few times its size.
_MAX_KEY_EXPANSION = 100
_COMPRESSION = {0: "none", 1: "snappy", 2: "zstd"}
_MASK_DELTA = 0xA282EAD8
_extend = cast("Any", google_crc32c).extend


def read_varint(data: bytes | memoryview, position: int) -> tuple[int, int]:
    """Returns the integer of variable length that starts at ``position``, and the position after it.

    Each byte has seven bits, the lowest first, and the eighth set on all bytes but the last.

    Raises:
        ValueError: The data ends inside the integer, or it has more than 64 bits.
    """
    value = shift = 0
    while position < len(data) and shift < 64:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> 64:
                break
            return value, position
        shift += 7
    raise ValueError(f"no integer of at most 64 bits ends before byte {position}")


def crc32c(data: bytes | NDArray[np.uint8], crc: int = 0) -> int:
    """Returns the CRC-32C (Castagnoli) of ``data``, continuing from the checksum ``crc`` of the preceding data.

    Args:
        data: Bytes, or a contiguous one-dimensional array, whose memory is read in place.
        crc: The checksum of the preceding data.
    """
    return cast("int", _extend(crc, data))


def mask(crc: int) -> int:
    """Returns the masked form of a checksum, which TensorFlow's files have: LevelDB's, a rotation and an addition.

    So data that contains checksums can be checksummed safely.
    """
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


def read_table(data: bytes, where: str = "") -> dict[bytes, bytes]:
    """Returns the entries of a table, in the order of their keys.

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
