"""Writes checkpoints for tests, independently of the reader: from the descriptions of the formats only."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.frontends.saved_model.messages import (
    BundleEntryProto,
    BundleHeaderProto,
    TensorShapeProto,
    TensorSliceProto,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_TABLE = np.zeros(256, np.uint32)
for _byte in range(256):
    _crc = _byte
    for _ in range(8):
        _crc = (_crc >> 1) ^ (0x82F63B78 if _crc & 1 else 0)
    _TABLE[_byte] = _crc


def masked_crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = int(_TABLE[(crc ^ byte) & 0xFF]) ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(value: int) -> bytes:
    data = bytearray()
    while value >= 0x80:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)


def write_table(
    entries: Mapping[bytes, bytes], *, block_entries: int = 8, restart_interval: int = 4, compression: int = 0
) -> bytes:
    """Return a sorted table with a few entries in each block."""
    data = bytearray()
    items = sorted(entries.items())
    handles: dict[bytes, bytes] = {}
    for start in range(0, max(len(items), 1), block_entries):
        chunk = items[start : start + block_entries]
        handle = _append_block(data, _block(chunk, restart_interval), compression)
        handles[chunk[-1][0] if chunk else b""] = handle
    meta = _append_block(data, _block([], 1), 0)
    index = _append_block(data, _block(sorted(handles.items()), 1), 0)
    footer = (meta + index).ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57)
    return bytes(data) + footer


def _block(items: Sequence[tuple[bytes, bytes]], restart_interval: int) -> bytes:
    data = bytearray()
    restarts = [0]
    last = b""
    for number, (key, value) in enumerate(items):
        shared = 0
        if number % restart_interval:
            shared = next(
                (i for i, (a, b) in enumerate(zip(last, key, strict=False)) if a != b), min(len(last), len(key))
            )
        elif number:
            restarts.append(len(data))
        data += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        last = key
    return bytes(data) + struct.pack(f"<{len(restarts)}II", *restarts, len(restarts))


def _append_block(data: bytearray, block: bytes, compression: int) -> bytes:
    handle = varint(len(data)) + varint(len(block))
    data += block + bytes([compression])
    data += struct.pack("<I", masked_crc32c(block + bytes([compression])))
    return handle


@dataclass
class BundleWriter:
    """Collects tensors, then writes a bundle; ``entries`` may be changed in between."""

    num_shards: int = 1
    header: BundleHeaderProto = field(default_factory=BundleHeaderProto)
    entries: dict[bytes, BundleEntryProto] = field(default_factory=dict[bytes, BundleEntryProto])
    shards: dict[int, bytearray] = field(default_factory=dict[int, bytearray])

    def add(self, key: str | bytes, value: NDArray[Any], dtype: DataType, shard: int = 0) -> BundleEntryProto:
        if dtype == DataType.STRING:
            data, checksum = _encode_strings([bytes(item) for item in value.ravel()])
        else:
            data = value.tobytes()
            checksum = masked_crc32c(data)
        store = self.shards.setdefault(shard, bytearray())
        entry = BundleEntryProto(
            dtype=dtype,
            shape=_shape(value.shape),
            shard_id=shard,
            offset=len(store),
            size=len(data),
            crc32c=checksum,
        )
        store += data
        self.entries[key.encode() if isinstance(key, str) else key] = entry
        return entry

    def add_sliced(self, key: str, shape: Sequence[int], dtype: DataType, slices: Sequence[TensorSliceProto]) -> None:
        self.entries[key.encode()] = BundleEntryProto(dtype=dtype, shape=_shape(shape), slices=slices)

    def index(self) -> bytes:
        self.header.num_shards = self.num_shards
        messages = {key: entry.SerializeToString() for key, entry in self.entries.items()}
        return write_table({b"": self.header.SerializeToString(), **messages})

    def write(self, folder: Path, prefix: str = "variables/variables") -> None:
        path = folder / prefix
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_name(f"{path.name}.index").write_bytes(self.index())
        for shard in range(self.num_shards):
            name = f"{path.name}.data-{shard:05d}-of-{self.num_shards:05d}"
            path.with_name(name).write_bytes(bytes(self.shards.get(shard, b"")))


def _shape(shape: Sequence[int]) -> TensorShapeProto:
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in shape])


def _encode_strings(values: Sequence[bytes]) -> tuple[bytes, int]:
    """Return a string tensor's bytes and their masked checksum, which is over 32-bit lengths instead of varints."""
    lengths = b"".join(struct.pack("<I", len(value)) for value in values)
    checksum = struct.pack("<I", masked_crc32c(lengths))
    body = b"".join(values)
    data = b"".join(varint(len(value)) for value in values) + checksum + body
    return data, masked_crc32c(lengths + checksum + body)
