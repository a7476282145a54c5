from __future__ import annotations

import struct

import numpy as np
import pytest

from litefuse.errors import CheckpointError
from litefuse.frontends.saved_model.sorted_table import read_table
from tests.frontends.saved_model.bundle_writer import masked_crc32c, varint, write_table

ENTRIES = {f"layer/{i:02d}/kernel".encode(): bytes([i]) * i for i in range(30)} | {b"": b"header"}


@pytest.mark.parametrize(("block_entries", "restart_interval"), [(1, 1), (3, 2), (8, 4), (100, 16)])
def test_entries_come_back_in_order(block_entries: int, restart_interval: int) -> None:
    data = write_table(ENTRIES, block_entries=block_entries, restart_interval=restart_interval)
    assert list(read_table(data).items()) == sorted(ENTRIES.items())


def test_empty_table() -> None:
    assert read_table(write_table({})) == {}


def test_every_truncation_is_refused() -> None:
    data = write_table(ENTRIES)
    for length in range(len(data)):
        with pytest.raises(CheckpointError, match="truncated") as caught:
            read_table(data[:length], "variables.index")
        assert caught.value.where == "variables.index"


def test_every_flipped_byte_of_a_block_is_noticed() -> None:
    data = write_table(ENTRIES)
    meta_block = len(data) - 48 - 5 - 8  # read by nobody
    noticed = 0
    for position in range(meta_block):
        damaged = bytearray(data)
        damaged[position] ^= 0x10
        try:
            same = read_table(bytes(damaged)) == ENTRIES
        except CheckpointError:
            noticed += 1
        else:
            assert same, position
    assert noticed >= meta_block - 13  # the meta-index block and its trailer


def test_random_footers_end_in_an_error_or_the_table() -> None:
    data = write_table(ENTRIES)
    random = np.random.default_rng(0)
    for _ in range(2000):
        footer = random.bytes(int(random.integers(1, 20))).ljust(40, b"\0") + data[-8:]
        with pytest.raises(CheckpointError):
            read_table(data[:-48] + footer)


@pytest.mark.parametrize(("compression", "name"), [(1, "snappy"), (2, "zstd"), (9, "unknown method 9")])
def test_compressed_block_is_refused_by_name(compression: int, name: str) -> None:
    with pytest.raises(CheckpointError, match=name):
        read_table(write_table(ENTRIES, compression=compression))


def test_wrong_magic() -> None:
    with pytest.raises(CheckpointError, match="not a checkpoint index"):
        read_table(b"a text file that is long enough to hold the footer of a table")


def block(*entries: bytes) -> bytes:
    return b"".join(entries) + struct.pack("<II", 0, 1)


def table(*blocks: bytes, handles: list[tuple[int, int]] | None = None) -> bytes:
    """Return a table of hand-made blocks; ``handles`` replaces the true positions in the index block."""
    data = b""
    true_handles: list[tuple[int, int]] = []
    for content in blocks:
        true_handles.append((len(data), len(content)))
        data += content + b"\0" + struct.pack("<I", masked_crc32c(content + b"\0"))
    rows = [
        b"\0" + varint(1) + varint(len(varint(o) + varint(n))) + bytes([65 + i]) + varint(o) + varint(n)
        for i, (o, n) in enumerate(handles or true_handles)
    ]
    index = block(*rows)
    handle = varint(len(data)) + varint(len(index))
    data += index + b"\0" + struct.pack("<I", masked_crc32c(index + b"\0"))
    return data + (b"\0\0" + handle).ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57)


def entry(shared: int, key: bytes, value: bytes, length: int | None = None) -> bytes:
    return varint(shared) + varint(len(key)) + varint(len(value) if length is None else length) + key + value


def test_hand_made_table_is_read() -> None:
    data = table(block(entry(0, b"ab", b"1"), entry(1, b"c", b"2")), block(entry(0, b"b", b"3")))
    assert read_table(data) == {b"ab": b"1", b"ac": b"2", b"b": b"3"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (table(block(entry(3, b"a", b"1"))), "ends behind its block"),
        (table(block(entry(0, b"a", b"1", length=2**40))), "ends behind its block"),
        (table(block(b"\x80" * 12)), "no integer"),
        (table(struct.pack("<I", 2**31)), "more restart points"),
        (table(b""), "damaged"),
        (table(block(entry(0, b"b", b""), entry(0, b"a", b""))), "not behind"),
        (table(block(entry(0, b"a", b""), entry(0, b"a", b""))), "not behind"),
        (table(block(entry(0, b"a", b"1")), handles=[(0, 13), (0, 13)]), "overlap"),
        (table(block(entry(0, b"a", b"1")), handles=[(2**63, 13)]), "behind the file"),
        (table(block(entry(0, b"k" * 500, b""), *(entry(n, b"x", b"") for n in range(500, 2000)))), "100 times"),
    ],
)
def test_malformed_blocks(data: bytes, message: str) -> None:
    with pytest.raises(CheckpointError, match=message):
        read_table(data)
