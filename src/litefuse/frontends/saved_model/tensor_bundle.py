"""Reader of tensor bundles, the format of TensorFlow 2 checkpoints.

A bundle is an index, ``PREFIX.index`` (a sorted table: the key "" holds a ``BundleHeaderProto``, every other key a
``BundleEntryProto``), and shards, ``PREFIX.data-0000i-of-0000n``, with the tensors' little-endian bytes. Shards are
mapped into memory: reading a tensor gives a view, not a copy.
"""

from __future__ import annotations

import math
import mmap
import struct
import sys
from dataclasses import field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from litefuse.errors import CheckpointError, SavedModelError
from litefuse.frontends.saved_model.dtypes import DataType, is_array_shape
from litefuse.frontends.saved_model.messages import BundleEntryProto, BundleHeaderProto
from litefuse.frontends.saved_model.regular_file import open_regular, read_regular
from litefuse.frontends.saved_model.sorted_table import crc32c, mask, read_table, read_varint
from litefuse.support.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from litefuse.frontends.saved_model.tensor_slice import TensorSlice

# How much of a tensor is checksummed at a time.
_BLOCK_BYTES = 1 << 25


class Storage(NamedTuple):
    """The location of a tensor's raw little-endian bytes.

    Attributes:
        file: The shard.
        offset: The position of the first byte, without any alignment.
        nbytes: The number of bytes.
    """

    file: Path
    offset: int
    nbytes: int


class TensorEntry(NamedTuple):
    """The entry of the index for one tensor.

    Attributes:
        key: The tensor's key.
        dtype: The element type.
        shape: The shape, always known.
        shard: The number of the shard that holds the bytes.
        offset: The position of the first one in the shard.
        size: Their number.
        crc32c: Their masked checksum.
        slices: The slices of a partitioned variable, each with its own entry; shard, offset and size are unused then.
    """

    key: str
    dtype: DataType
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int
    crc32c: int
    slices: tuple[TensorSlice, ...]


class TensorBundle(Record):
    """The tensors of a checkpoint.

    Attributes:
        folder: The folder that all files must be in, symbolic links resolved.
        prefix: The checkpoint's prefix, relative to it.
        num_shards: The number of data files.
    """

    folder: Path
    prefix: str
    num_shards: int
    _index: dict[bytes, bytes] = field(repr=False, compare=False)
    _shards: dict[int, NDArray[np.uint8]] = field(
        default_factory=dict[int, "NDArray[np.uint8]"], repr=False, compare=False
    )

    _maps: list[mmap.mmap] = field(default_factory=list[mmap.mmap], repr=False, compare=False)

    @classmethod
    def open(cls, folder: Path, prefix: str = "variables/variables") -> TensorBundle:
        """Reads the index of a bundle; shards are opened when a tensor is read.

        Args:
            folder: A folder, such as the SavedModel's.
            prefix: The checkpoint's prefix, relative to it, with ``/`` between its parts.

        Raises:
            CheckpointError: The index is missing, damaged or of an unsupported kind.
        """
        folder = folder.resolve()
        name = f"{prefix}.index"
        where = str(folder / name)
        index = read_table(read_regular(folder, name, CheckpointError), where)
        try:
            header = BundleHeaderProto.FromString(index.pop(b""))
        except KeyError:
            raise CheckpointError("the index has no header", where=where) from None
        except (DecodeError, UnicodeDecodeError) as reason:
            raise CheckpointError(f"the index's header is damaged: {reason}", where=where) from None
        if header.endianness != 0:
            raise CheckpointError("the checkpoint was written on a big-endian machine", where=where)
        if header.version.min_consumer > 1:
            version = header.version.min_consumer
            raise CheckpointError(f"the checkpoint needs a reader of version {version}; this one is 1", where=where)
        return cls(folder, prefix, header.num_shards, index)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key.encode() in self._index

    def keys(self) -> Iterator[str]:
        """Yields the tensors' keys in order, without the keys of slices."""
        # The key of a slice starts with OrderedCode's 0, which is one zero byte.
        return (key.decode(errors="replace") for key in self._index if not key.startswith(b"\0"))

    def entry(self, key: str) -> TensorEntry:
        """Returns a tensor's entry of the index.

        Raises:
            CheckpointError: No such tensor, or its entry is invalid.
        """
        return self._entry(key.encode(), key)

    def storage(self, key: str) -> Storage | None:
        """Returns a tensor's location, or None if it is not contiguous raw bytes (a string tensor, or in slices).

        Raises:
            CheckpointError: No such tensor, or its entry or shard is damaged.
        """
        entry = self.entry(key)
        if entry.slices or entry.dtype == DataType.STRING or not entry.dtype.has_numpy:
            return None
        self._bytes(entry)
        return Storage((self.folder / self._shard_name(entry.shard)).resolve(), entry.offset, entry.size)

    def read(self, key: str, *, verify: bool = True) -> NDArray[Any]:
        """Returns the value of a tensor.

        Args:
            key: The tensor's key.
            verify: Compare the bytes with their checksum (some 10 GB/s if the processor has an instruction for it).

        Returns:
            A read-only view of the mapped shard, perhaps unaligned; for a partitioned variable a new array, for a
            string tensor an object array of ``bytes``.

        Raises:
            CheckpointError: No such tensor, its type has no value that can be read (resource, variant), or the
                shard is missing, truncated or damaged.
        """
        entry = self.entry(key)
        return self._assemble(entry, verify=verify) if entry.slices else self._read(entry, verify=verify)

    def release(self) -> None:
        """Lets the system reclaim the memory of the mapped shards; later reads load it again."""
        if sys.platform != "win32":
            for mapped in self._maps:
                mapped.madvise(mmap.MADV_DONTNEED)

    def _entry(self, index_key: bytes, key: str) -> TensorEntry:
        data = self._index.get(index_key)
        if data is None:
            raise self._error(key, "the checkpoint has no such tensor")
        try:
            proto = BundleEntryProto.FromString(data)
        except (DecodeError, UnicodeDecodeError) as reason:
            raise self._error(key, f"its entry is damaged: {reason}") from None
        try:
            dtype = DataType.from_proto(proto.dtype)
        except SavedModelError as reason:
            raise self._error(key, reason.message) from None
        shape = tuple(dim.size for dim in proto.shape.dim)
        if proto.shape.unknown_rank or not is_array_shape(shape):
            raise self._error(key, f"its shape {list(shape)} is not that of a tensor")
        slices: tuple[TensorSlice, ...] = ()
        if proto.slices:
            from litefuse.frontends.saved_model.tensor_slice import TensorSlice  # few variables are partitioned

            slices = tuple(map(TensorSlice.from_proto, proto.slices))
        return TensorEntry(key, dtype, shape, proto.shard_id, proto.offset, proto.size, proto.crc32c, slices)

    def _read(self, entry: TensorEntry, *, verify: bool) -> NDArray[Any]:
        data = self._bytes(entry)
        if entry.dtype == DataType.STRING:
            try:
                return _decode_strings(data, entry, verify=verify)
            except (ValueError, struct.error) as reason:
                raise self._error(entry.key, str(reason)) from None
        if verify and mask(self._checksum(data)) != entry.crc32c:
            raise self._error(entry.key, "its bytes do not match their checksum: the file is damaged")
        # numpy reads unaligned arrays; offsets in a shard have no alignment.
        return np.ndarray(entry.shape, entry.dtype.to_numpy(), buffer=data.data)

    def _checksum(self, data: NDArray[np.uint8]) -> int:
        """Returns the checksum of mapped bytes, with at most one block of them in memory."""
        crc = 0
        for start in range(0, len(data), _BLOCK_BYTES):
            crc = crc32c(data[start : start + _BLOCK_BYTES], crc)
            if len(data) > _BLOCK_BYTES:
                self.release()
        return crc

    def _bytes(self, entry: TensorEntry) -> NDArray[np.uint8]:
        """Returns the mapped bytes of an entry, checked against its shape and the file's size."""
        if not entry.dtype.has_numpy:
            raise self._error(entry.key, f"a tensor of type {entry.dtype} cannot be read")
        if entry.offset < 0 or entry.size < 0:
            raise self._error(entry.key, f"its offset {entry.offset} or size {entry.size} is negative")
        count = math.prod(entry.shape)
        if entry.dtype == DataType.STRING:
            if entry.size < count:
                raise self._error(entry.key, f"{entry.size} bytes cannot hold {count} strings")
        elif entry.size != count * entry.dtype.to_numpy().itemsize:
            raise self._error(
                entry.key, f"{entry.size} bytes are not a {entry.dtype} tensor of shape {list(entry.shape)}"
            )
        shard = self._shard(entry)
        end = entry.offset + entry.size
        if end > shard.size:
            name = self._shard_name(entry.shard)
            raise self._error(
                entry.key, f"its bytes end at {end}, but {name} has only {shard.size}: the file is truncated"
            )
        return shard[entry.offset : end]

    def _shard_name(self, shard: int) -> str:
        return f"{self.prefix}.data-{shard:05d}-of-{self.num_shards:05d}"

    def _shard(self, entry: TensorEntry) -> NDArray[np.uint8]:
        """Returns the mapped bytes of the shard that an entry names."""
        if not 0 <= entry.shard < self.num_shards:
            raise self._error(entry.key, f"it lies in shard {entry.shard} of {self.num_shards}")
        shard = self._shards.get(entry.shard)
        if shard is None:
            try:
                with open_regular(self.folder, self._shard_name(entry.shard), CheckpointError) as file:
                    # An empty file cannot be mapped.
                    empty = not file.seek(0, 2)
                    mapped = b"" if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                    if isinstance(mapped, mmap.mmap):
                        self._maps.append(mapped)
            except CheckpointError as reason:
                raise self._error(entry.key, reason.message, reason.hint) from None
            except OSError as reason:
                raise self._error(entry.key, f"its shard cannot be mapped: {reason}") from None
            shard = self._shards[entry.shard] = np.frombuffer(mapped, np.uint8)
        return shard

    def _assemble(self, entry: TensorEntry, *, verify: bool) -> NDArray[Any]:
        """Assembles the value of a partitioned variable from its slices."""
        parts: list[tuple[tuple[slice, ...], NDArray[Any]]] = []
        for tensor_slice in entry.slices:
            bounds = tensor_slice.bounds(entry.shape)
            if bounds is None:
                raise self._error(entry.key, f"{tensor_slice} is not a slice of shape {list(entry.shape)}")
            part = self._entry(tensor_slice.key(entry.key), entry.key)
            shape = tuple(bound.stop - bound.start for bound in bounds)
            if part.shape != shape or part.dtype != entry.dtype or part.slices:
                raise self._error(entry.key, f"its slice of shape {list(shape)} is a {part.dtype} tensor {part.shape}")
            parts.append((bounds, self._read(part, verify=verify)))
        if sum(part.size for _, part in parts) != math.prod(entry.shape):
            raise self._error(entry.key, "its slices do not cover it exactly")
        covered = np.zeros(entry.shape, np.bool_)
        value = np.empty(entry.shape, entry.dtype.to_numpy())
        for bounds, part in parts:
            covered[bounds] = True
            value[bounds] = part
        if not covered.all():
            raise self._error(entry.key, "its slices do not cover it exactly")
        value.flags.writeable = False
        return value

    def _error(self, key: str, message: str, hint: str = "") -> CheckpointError:
        return CheckpointError(f"tensor {key!r}: {message}", where=str(self.folder / self.prefix), hint=hint)


def _decode_strings(data: NDArray[np.uint8], entry: TensorEntry, *, verify: bool) -> NDArray[Any]:
    """Decodes a string tensor: the lengths as varints, their masked checksum, then the strings' bytes.

    The checksums are over the lengths as 32-bit numbers (64-bit from 4 GiB), not over the varints. Raises a ValueError
    if lengths, checksums or sizes do not match.
    """
    view = data.data
    count = math.prod(entry.shape)
    lengths: list[int] = []
    position = 0
    for _ in range(count):
        length, position = read_varint(view, position)
        lengths.append(length)
    crc = crc32c(b"".join(length.to_bytes(4 if length < 2**32 else 8, "little") for length in lengths))
    (stored,) = struct.unpack_from("<I", view, position)
    position += 4
    if position + sum(lengths) != entry.size:
        raise ValueError(f"its {count} strings do not take the {entry.size} bytes of its entry")
    if verify:
        if mask(crc) != stored:
            raise ValueError("the lengths of its strings do not match their checksum: the file is damaged")
        crc = crc32c(data[position:], crc32c(data[position - 4 : position], crc))
        if mask(crc) != entry.crc32c:
            raise ValueError("its strings do not match their checksum: the file is damaged")
    values = np.empty(count, np.object_)
    for i, length in enumerate(lengths):
        values[i] = bytes(view[position : position + length])
        position += length
    values.flags.writeable = False
    return np.reshape(values, entry.shape)
