"""Writer of the model's file: the engine's flatbuffer with the mapped weights appended."""

from __future__ import annotations

import mmap
import os
import struct
import sys
from collections.abc import Hashable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from litefuse.engine.flatbuffer_tables import entries, field_of, follow
from litefuse.engine.lowering import write_flatbuffer
from litefuse.export.op_versions import correct_versions
from litefuse.ir.call_graph import all_operations
from litefuse.ir.mlir import ir
from litefuse.weights import Weights

__all__ = ["write_model"]

# Most readers take a flatbuffer's offsets as signed 32-bit numbers; larger models keep weights outside of it.
_MAX_FLATBUFFER = 2**31 - 1
# LiteRT's alignment of buffers (schema.fbs, Buffer.data).
_ALIGNMENT = 16
_STUB_BYTES = 16
# Mapped pages count as the process's memory until they are released.
_RELEASE_BYTES = 1 << 24

# The fields of the schema's tables that are read here, by their position in the vtable: 4 + 2 * index.
_SUBGRAPHS, _BUFFERS = 8, 12  # Model
_TENSORS = 4  # SubGraph
_SHAPE, _BUFFER = 4, 8  # Tensor
_DATA, _OFFSET, _SIZE = 4, 6, 8  # Buffer


def write_model(
    module: ir.Module,
    weights: Weights,
    path: Path,
    *,
    of_one_shape: bool = False,
    max_flatbuffer: int = _MAX_FLATBUFFER,
) -> None:
    """Writes a module of ``tfl`` ops as a LiteRT model.

    The engine writes it with a small stub in place of each weight. Then the weights are appended block by block, and
    the flatbuffer's buffer tables and the tensors' shapes are corrected. If the flatbuffer would exceed 2 GB, the
    weights are stored after it, and the buffers have ``offset`` and ``size``, as in the stock converter's files.

    Args:
        module: The module; it is consumed.
        weights: The weights that its placeholders represent.
        path: The file.
        of_one_shape: Whether all tensors of a buffer must have one shape: litert-quantizer writes the same scales for
            all of them, one for each row of the first.
        max_flatbuffer: The maximum size of the flatbuffer in bytes; weights are stored after a larger one.

    Raises:
        LoweringError: The exporter rejected the module.
    """
    token = os.urandom(_STUB_BYTES - 4)
    numbers = _place_stubs(module, weights, token)
    write_flatbuffer(module, path)
    if not numbers:
        return
    with path.open("r+b") as file:
        with mmap.mmap(file.fileno(), 0) as mapped:
            buffers = _stub_buffers(mapped, token)
            places: dict[Hashable, int] = {}
            stored: dict[int, int] = {}
            for index, (_, number) in buffers.items():
                weight = weights[number]
                contents = (weight.contents, weight.shape if of_one_shape else None)
                stored[index] = places.setdefault(contents, index)
            _correct_tensors(mapped, {index: (weights[buffers[index][1]].shape, stored[index]) for index in buffers})
            correct_versions(mapped)
            first = {number: entry for index, (entry, number) in buffers.items() if stored[index] == index}
            end = len(mapped)
            layout = _layout(end, {number: weights[number].nbytes for number in first}, max_flatbuffer)
            for number, entry in first.items():
                struct.pack_into("<I", mapped, entry, layout.tables[number] - entry)
        _reserve(file, max(start + weights[number].nbytes for number, start in layout.data.items()))
        file.seek(end)
        _append(file, weights, layout)


def _place_stubs(module: ir.Module, weights: Weights, token: bytes) -> set[int]:
    """Replaces placeholders by small constants of the weight's dtype and rank; returns the weights' numbers."""
    numbers: set[int] = set()
    for op in all_operations(module):
        number = weights.number(op.results[0]) if op.name == "tfl.external_const" else None
        if number is None:
            continue
        numbers.add(number)
        kind = ir.RankedTensorType(op.results[0].type)
        stub = np.frombuffer(token + number.to_bytes(4, "little"), weights[number].dtype)
        # The exporter takes the shape from the attribute if the type has none.
        attribute = ir.DenseElementsAttr.get(stub.reshape([1] * (kind.rank - 1) + [-1]))
        unranked = ir.UnrankedTensorType.get(kind.element_type)
        with ir.InsertionPoint(op), op.location:
            constant = ir.Operation.create("tfl.pseudo_const", [unranked], [], {"value": attribute})
        op.results[0].replace_all_uses_with(constant.result)
        op.operation.erase()
    return numbers


def _stub_buffers(data: Any, token: bytes) -> dict[int, tuple[int, int]]:
    """Finds and clears the stubs; maps each one's buffer index to its entry's position and the weight's number.

    The position is that of the buffer's entry in the vector of buffers.
    """
    found: dict[int, tuple[int, int]] = {}
    for index, entry in enumerate(entries(data, follow(data, 0), _BUFFERS)):
        table = follow(data, entry)
        start = length = 0
        if inside := field_of(data, table, _DATA):
            vector = follow(data, inside)
            start, length = vector + 4, struct.unpack_from("<I", data, vector)[0]
        elif (offset := field_of(data, table, _OFFSET)) and (size := field_of(data, table, _SIZE)):
            start, length = struct.unpack_from("<Q", data, offset)[0], struct.unpack_from("<Q", data, size)[0]
        if length == _STUB_BYTES and data[start : start + len(token)] == token:
            found[index] = entry, int.from_bytes(data[start + len(token) : start + length], "little")
            data[start : start + length] = bytes(length)  # the token is random, the file must not be
    return found


def _correct_tensors(data: Any, corrections: Mapping[int, tuple[tuple[int, ...], int]]) -> None:
    """Sets the shapes and buffers of the tensors with these buffers; the stubs have the weights' rank."""
    for graph in entries(data, follow(data, 0), _SUBGRAPHS):
        for entry in entries(data, follow(data, graph), _TENSORS):
            tensor = follow(data, entry)
            buffer = field_of(data, tensor, _BUFFER)
            correction = corrections.get(struct.unpack_from("<I", data, buffer)[0]) if buffer else None
            if correction is not None:
                shape, index = correction
                struct.pack_into("<I", data, buffer, index)
                vector = follow(data, field_of(data, tensor, _SHAPE))
                assert struct.unpack_from("<I", data, vector)[0] == len(shape)
                struct.pack_into(f"<{len(shape)}i", data, vector + 4, *shape)


class _Layout(NamedTuple):
    """The layout of everything after the end of the engine's flatbuffer.

    Attributes:
        head: The new tables and their vtable, starting at that end.
        tables: The positions of the tables by the weights' numbers.
        data: The positions of the weights' bytes.
        prefixed: Whether each is a vector, with its length before the bytes.
    """

    head: bytes
    tables: Mapping[int, int]
    data: Mapping[int, int]
    prefixed: bool


def _layout(end: int, sizes: Mapping[int, int], max_flatbuffer: int) -> _Layout:
    inside = _inner_layout(end, sizes)
    last = max(inside.data, key=lambda number: inside.data[number])
    return inside if inside.data[last] + sizes[last] <= max_flatbuffer else _outer_layout(end, sizes)


def _aligned(position: int, alignment: int = _ALIGNMENT) -> int:
    return -(-position // alignment) * alignment


def _inner_layout(end: int, sizes: Mapping[int, int]) -> _Layout:
    """Lays out tables with vectors of bytes: the usual form."""
    vtable = _aligned(end, 8)
    first = vtable + 8  # of a vtable's 6 bytes
    tables = {number: first + 8 * index for index, number in enumerate(sizes)}
    data: dict[int, int] = {}
    position = first + 8 * len(sizes)
    for number, size in sizes.items():
        data[number] = _aligned(position + 4)
        position = data[number] + size
    head = b"\0" * (vtable - end) + struct.pack("<HHHxx", 6, 8, 4)
    for number, table in tables.items():
        head += struct.pack("<iI", table - vtable, data[number] - 4 - (table + 4))
    return _Layout(head, tables, data, prefixed=True)


def _outer_layout(end: int, sizes: Mapping[int, int]) -> _Layout:
    """Lays out tables with positions in the file."""
    vtable = _aligned(end, 16)
    first = vtable + 16 + 4  # of a vtable's 10 bytes; the 64-bit fields are aligned
    tables = {number: first + 24 * index for index, number in enumerate(sizes)}
    data: dict[int, int] = {}
    position = first + 24 * len(sizes)
    for number, size in sizes.items():
        data[number] = _aligned(position)
        position = data[number] + size
    head = b"\0" * (vtable - end) + struct.pack("<HHHHH10x", 10, 20, 0, 4, 12)
    for number, table in tables.items():
        head += struct.pack("<iQQ4x", table - vtable, data[number], sizes[number])
    return _Layout(head, tables, data, prefixed=False)


def _reserve(file: BinaryIO, size: int) -> None:
    """Lets the file system allocate all blocks of a file before it is written, if it can.

    When a file replaces another one, some file systems, such as ext4, allocate and write all delayed blocks at once:
    that takes longer than writing the file.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            os.posix_fallocate(file.fileno(), 0, size)


def _append(file: BinaryIO, weights: Weights, layout: _Layout) -> None:
    position = file.tell() + file.write(layout.head)
    written = 0
    for number, start in layout.data.items():
        prefix = struct.pack("<I", weights[number].nbytes) if layout.prefixed else b""
        file.write(b"\0" * (start - len(prefix) - position) + prefix)
        for block in weights[number].blocks():
            file.write(block)
            written += len(block)
            if written >= _RELEASE_BYTES:
                weights.release()
                written = 0
        position = start + weights[number].nbytes
    weights.release()
