from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from litefuse.errors import CheckpointError
from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.frontends.saved_model.messages import BundleHeaderProto, TensorSliceProto, VersionDef
from litefuse.frontends.saved_model.tensor_bundle import TensorBundle
from litefuse.frontends.saved_model.tensor_slice import TensorSlice
from tests.frontends.saved_model.bundle_writer import BundleWriter

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

NUMERIC = [dtype for dtype in DataType if dtype.has_numpy and dtype != DataType.STRING]
SHARD = "variables/variables.data-00000-of-00001"


def ramp(shape: tuple[int, ...], dtype: DataType) -> NDArray[Any]:
    """Distinct small values, as far as the type has that many."""
    return (np.indices(shape).sum(axis=0) % 2).astype(dtype.to_numpy())


def strings(*values: bytes) -> NDArray[Any]:
    array = np.empty(len(values), np.object_)
    array[:] = values
    return array


def open_bundle(writer: BundleWriter, folder: Path) -> TensorBundle:
    writer.write(folder)
    return TensorBundle.open(folder)


@pytest.mark.parametrize("dtype", NUMERIC, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)])
def test_numeric_tensor_is_a_view(dtype: DataType, shape: tuple[int, ...], tmp_path: Path) -> None:
    writer = BundleWriter()
    writer.add("flag", np.array(True), DataType.BOOL)  # what follows is not aligned
    expected = ramp(shape, dtype)
    writer.add("x", expected, dtype)
    bundle = open_bundle(writer, tmp_path)
    value = bundle.read("x")
    assert value.dtype == expected.dtype
    assert value.shape == shape
    assert value.tobytes() == expected.tobytes()
    assert not value.flags.writeable
    assert not value.flags.owndata
    storage = bundle.storage("x")
    assert storage is not None
    assert (storage.file, storage.offset, storage.nbytes) == (tmp_path.resolve() / SHARD, 1, expected.nbytes)


def test_reading_twice_gives_the_same_memory(tmp_path: Path) -> None:
    writer = BundleWriter()
    writer.add("x", np.arange(5, dtype=np.float32), DataType.FLOAT32)
    bundle = open_bundle(writer, tmp_path)
    assert np.shares_memory(bundle.read("x"), bundle.read("x", verify=False))


@pytest.mark.parametrize(
    "value",
    [
        strings(),
        strings(b""),
        strings(b"a", b"", b"\xff\x00" * 100, "ä".encode()),
        np.reshape(strings(b"a", b"b", b"c", b"d"), (2, 2)),
        np.reshape(strings(b"scalar"), ()),
        strings(*[bytes([i % 256]) * i for i in range(300)]),
    ],
)
def test_string_tensor(value: NDArray[Any], tmp_path: Path) -> None:
    writer = BundleWriter()
    writer.add("s", value, DataType.STRING)
    bundle = open_bundle(writer, tmp_path)
    read = bundle.read("s")
    assert read.shape == value.shape
    assert read.tolist() == value.tolist()
    assert bundle.storage("s") is None


def test_several_shards(tmp_path: Path) -> None:
    writer = BundleWriter(num_shards=3)
    for shard in (2, 0, 1):
        writer.add(f"v{shard}", np.full(4, shard, np.int32), DataType.INT32, shard)
    bundle = open_bundle(writer, tmp_path)
    assert list(bundle.keys()) == ["v0", "v1", "v2"]
    assert [bundle.read(f"v{i}").tolist() for i in range(3)] == [[i] * 4 for i in range(3)]
    storage = bundle.storage("v2")
    assert storage is not None
    assert storage.file.name == "variables.data-00002-of-00003"


def extent(start: int | None = None, length: int | None = None) -> TensorSliceProto.Extent:
    return TensorSliceProto.Extent() if length is None else TensorSliceProto.Extent(start=start or 0, length=length)


def sliced_bundle(writer: BundleWriter, whole: NDArray[Any], rows: list[tuple[int, int]]) -> None:
    """Write a matrix in slices of rows, each (start, length)."""
    protos = [TensorSliceProto(extent=[extent(start, length), extent()]) for start, length in rows]
    for proto, (start, length) in zip(protos, rows, strict=True):
        part = whole[start : start + length]
        writer.add(TensorSlice.from_proto(proto).key("big"), part, DataType.FLOAT32)
    writer.add_sliced("big", whole.shape, DataType.FLOAT32, protos)


def test_partitioned_variable_is_put_together(tmp_path: Path) -> None:
    whole = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]], np.float32)
    writer = BundleWriter()
    sliced_bundle(writer, whole, [(3, 1), (0, 2), (2, 1)])
    bundle = open_bundle(writer, tmp_path)
    np.testing.assert_array_equal(bundle.read("big"), whole)
    assert list(bundle.keys()) == ["big"]
    assert len(bundle.entry("big").slices) == 3
    assert bundle.storage("big") is None


@pytest.mark.parametrize("rows", [[(0, 2)], [(0, 2), (1, 2)], [(0, 3), (1, 3)]])
def test_slices_that_do_not_cover_the_variable(rows: list[tuple[int, int]], tmp_path: Path) -> None:
    writer = BundleWriter()
    sliced_bundle(writer, np.zeros((4, 3), np.float32), rows)
    with pytest.raises(CheckpointError, match="do not cover"):
        open_bundle(writer, tmp_path).read("big")


@pytest.mark.parametrize(
    "extents", [[extent(0, 5), extent()], [extent(-1, 2), extent()], [extent()], [extent(3, 2**62), extent()]]
)
def test_slice_outside_of_the_variable(extents: list[TensorSliceProto.Extent], tmp_path: Path) -> None:
    writer = BundleWriter()
    writer.add_sliced("big", (4, 3), DataType.FLOAT32, [TensorSliceProto(extent=extents)])
    with pytest.raises(CheckpointError, match="is not a slice of shape"):
        open_bundle(writer, tmp_path).read("big")


def test_missing_slice(tmp_path: Path) -> None:
    writer = BundleWriter()
    writer.add_sliced("big", (4, 3), DataType.FLOAT32, [TensorSliceProto(extent=[extent(), extent()])])
    with pytest.raises(CheckpointError, match="'big': the checkpoint has no such tensor"):
        open_bundle(writer, tmp_path).read("big")


# The keys that TensorFlow 2.21's SaveV2 writes.
@pytest.mark.parametrize(
    ("name", "starts", "lengths", "key"),
    [
        ("w", (0, 0), (2, -1), b"\x00w\x00\x01\x01\x02\x80\x82\x80\x7f"),
        ("a", (63,), (64,), b"\x00a\x00\x01\x01\x01\xbf\xc0\x40"),
        ("a", (8191,), (8192,), b"\x00a\x00\x01\x01\x01\xdf\xff\xe0\x20\x00"),
    ],
)
def test_key_of_a_slice(name: str, starts: tuple[int, ...], lengths: tuple[int, ...], key: bytes) -> None:
    assert TensorSlice(starts, lengths).key(name) == key


def test_key_escapes_zero_bytes() -> None:
    assert TensorSlice((), ()).key("a\0b") == b"\x00a\x00\xffb\x00\x01\x00"


@pytest.mark.parametrize("value", [np.arange(9, dtype=np.float32), strings(b"one", b"two")])
def test_damaged_bytes_are_noticed(value: NDArray[Any], tmp_path: Path) -> None:
    dtype = DataType.STRING if value.dtype == object else DataType.FLOAT32
    for position in range(10):
        writer = BundleWriter()
        writer.add("x", value, dtype)
        writer.shards[0][position] ^= 4
        bundle = open_bundle(writer, tmp_path)
        with pytest.raises(CheckpointError, match=r"tensor 'x': .*(checksum|strings|integer)"):
            bundle.read("x")


def test_damage_is_not_looked_for_without_verification(tmp_path: Path) -> None:
    writer = BundleWriter()
    writer.add("x", np.zeros(9, np.uint8), DataType.UINT8)
    writer.shards[0][3] = 4
    assert open_bundle(writer, tmp_path).read("x", verify=False).tolist() == [0, 0, 0, 4, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("offset", -1, "negative"),
        ("size", -8, "negative"),
        ("size", 12, "are not a float32 tensor of shape"),
        ("size", 2**62, "are not a float32 tensor of shape"),
        ("offset", 1, "truncated"),
        ("offset", 2**62, "truncated"),
        ("shard_id", 1, "shard 1 of 1"),
        ("shard_id", -1, "shard -1 of 1"),
        ("dtype", 99, "unknown element type 99"),
        ("dtype", 0, "unknown element type 0"),
        ("dtype", 20, "type resource cannot be read"),
        ("dtype", 21, "type variant cannot be read"),
    ],
)
def test_entry_that_makes_no_sense(field: str, value: int, message: str, tmp_path: Path) -> None:
    writer = BundleWriter()
    setattr(writer.add("x", np.arange(4, dtype=np.float32), DataType.FLOAT32), field, value)
    bundle = open_bundle(writer, tmp_path)
    with pytest.raises(CheckpointError, match=f"'x': .*{message}") as caught:
        bundle.read("x")
    assert caught.value.where == str(tmp_path.resolve() / "variables/variables")


@pytest.mark.parametrize("shape", [(-1,), (2**40, 2**40), (2**62,), (2**63 - 1, 0), (1,) * 40])
@pytest.mark.parametrize("dtype", [DataType.FLOAT32, DataType.STRING], ids=str)
def test_absurd_shape(shape: tuple[int, ...], dtype: DataType, tmp_path: Path) -> None:
    writer = BundleWriter()
    entry = writer.add("x", strings(b"a"), DataType.STRING)
    entry.dtype = dtype
    del entry.shape.dim[:]
    for size in shape:
        entry.shape.dim.add(size=size)
    with pytest.raises(CheckpointError, match="tensor 'x'"):
        open_bundle(writer, tmp_path).read("x")


def test_string_tensor_that_claims_many_strings(tmp_path: Path) -> None:
    writer = BundleWriter()
    entry = writer.add("x", strings(b"a"), DataType.STRING)
    entry.shape.dim[0].size = 2**40
    with pytest.raises(CheckpointError, match="cannot hold"):
        open_bundle(writer, tmp_path).read("x")


def test_unknown_key(tmp_path: Path) -> None:
    bundle = open_bundle(BundleWriter(), tmp_path)
    assert "x" not in bundle
    with pytest.raises(CheckpointError, match="'x': the checkpoint has no such tensor"):
        bundle.read("x")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (BundleHeaderProto(endianness=1), "big-endian"),
        (BundleHeaderProto(version=VersionDef(min_consumer=7)), "version 7"),
    ],
)
def test_unsupported_header(header: BundleHeaderProto, message: str, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=message):
        open_bundle(BundleWriter(header=header), tmp_path)


def one_tensor(folder: Path) -> TensorBundle:
    writer = BundleWriter()
    writer.add("x", np.arange(4, dtype=np.float32), DataType.FLOAT32)
    return open_bundle(writer, folder)


def test_missing_shard(tmp_path: Path) -> None:
    bundle = one_tensor(tmp_path)
    (tmp_path / SHARD).unlink()
    with pytest.raises(CheckpointError, match=r"'x': 'variables/variables.data-00000-of-00001' cannot be opened"):
        bundle.read("x")


@pytest.mark.parametrize("size", [0, 1, 15])
def test_truncated_shard(size: int, tmp_path: Path) -> None:
    bundle = one_tensor(tmp_path)
    os.truncate(tmp_path / SHARD, size)
    with pytest.raises(CheckpointError, match=f"'x': .*only {size}: the file is truncated"):
        bundle.read("x")


def test_missing_index(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"variables.index' cannot be opened"):
        TensorBundle.open(tmp_path)


def test_shard_that_links_out_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    bundle = one_tensor(folder)
    (folder / SHARD).rename(tmp_path / "secret")
    (folder / SHARD).symlink_to(tmp_path / "secret")
    with pytest.raises(CheckpointError, match="outside the folder") as caught:
        bundle.read("x")
    assert "cp -rL" in caught.value.hint


def test_shard_that_links_within_the_folder(tmp_path: Path) -> None:
    bundle = one_tensor(tmp_path)
    (tmp_path / SHARD).rename(tmp_path / "blob")
    (tmp_path / SHARD).symlink_to("../blob")
    assert bundle.read("x").tolist() == [0, 1, 2, 3]
    storage = bundle.storage("x")
    assert storage is not None
    assert storage.file == tmp_path.resolve() / "blob"


def test_shard_that_is_no_regular_file(tmp_path: Path) -> None:
    bundle = one_tensor(tmp_path)
    (tmp_path / SHARD).unlink()
    os.mkfifo(tmp_path / SHARD)
    with pytest.raises(CheckpointError, match="not a regular file"):
        bundle.read("x")
    (tmp_path / SHARD).unlink()
    (tmp_path / SHARD).mkdir()
    with pytest.raises(CheckpointError, match="'x'"):
        bundle.read("x")
    (tmp_path / SHARD).rmdir()
    (tmp_path / SHARD).symlink_to("/dev/zero")
    with pytest.raises(CheckpointError, match="outside the folder"):
        bundle.read("x")


def test_random_entries_end_in_an_error_or_a_value(tmp_path: Path) -> None:
    writer = BundleWriter()
    writer.add("x", np.array([[0, 1, 2], [3, 4, 5]], np.float32), DataType.FLOAT32)
    writer.write(tmp_path)
    message = writer.entries[b"x"].SerializeToString()
    random = np.random.default_rng(0)
    outcomes = {"value": 0, "error": 0}
    for _ in range(1500):
        damaged = bytearray(message)
        for _ in range(int(random.integers(1, 4))):
            damaged[random.integers(len(damaged))] ^= 1 << int(random.integers(8))
        bundle = TensorBundle(tmp_path.resolve(), "variables/variables", 1, {b"x": bytes(damaged)})
        try:
            bundle.read("x", verify=False)
            bundle.storage("x")
            outcomes["value"] += 1
        except CheckpointError:
            outcomes["error"] += 1
    assert min(outcomes.values()) > 10
