"""The model's file: its writer, which appends the mapped weights to the engine's flatbuffer, and what it counts."""

from __future__ import annotations

import json
import mmap
import os
import struct
from collections import Counter
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from litefuse.ir.attributes import custom_code
from litefuse.ir.call_graph import all_operations, functions, operations, terminator_of
from litefuse.ir.constants import CONSTANTS, PLACEHOLDER
from litefuse.ir.engine.composite_attributes import entries, field_of, follow
from litefuse.ir.engine.lowering import write_flatbuffer
from litefuse.ir.locations import name_by_call_sites, node_name
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_value
from litefuse.litert.export.buffers import MAX_FLATBUFFER, append_buffers
from litefuse.litert.export.op_codes import ModelSummary, correct_op_codes, with_builtins
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_tables import PRODUCER, STAND_IN
from litefuse.passes.weights import Weights
from litefuse.version import __version__

_STUB_BYTES = 16
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
    max_flatbuffer: int = MAX_FLATBUFFER,
) -> None:
    """Writes a module of ``tfl`` ops as a LiteRT model.

    The engine writes it with a small stub in place of each weight. Then the weights are appended block by block, and
    the flatbuffer's buffer tables and the tensors' shapes are corrected. If the flatbuffer would exceed 2 GB, the
    weights are stored after it, and the buffers have ``offset`` and ``size``, as in the stock converter's files.

    Args:
        module: The module; it is consumed.
        weights: The weights that its placeholders represent.
        path: The file.
        max_flatbuffer: The maximum size of the flatbuffer in bytes; weights are stored after a larger one.

    Raises:
        LoweringError: The exporter rejected the module.
    """
    name_by_call_sites(module)
    _sign(module)
    token = os.urandom(_STUB_BYTES - 4)
    numbers = _place_stubs(module, weights, token)
    write_flatbuffer(module, path)
    with content_of(path) as written:
        completed = with_builtins(written)
    if completed is not written:
        path.write_bytes(completed)
        correct_op_codes(path)
    if not numbers:
        return
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        stubs = _stub_buffers(mapped, token)
        places: dict[Hashable, int] = {}
        stored: dict[int, int] = {}
        for index, number in stubs.items():
            weight = weights[number]
            stored[index] = places.setdefault(weight.contents, index)
        _correct_tensors(mapped, {index: (weights[stubs[index]].shape, stored[index]) for index in stubs})
        data = {index: weights[number] for index, number in stubs.items() if stored[index] == index}
    correct_op_codes(path)
    append_buffers(path, data, max_flatbuffer=max_flatbuffer, written=_Releasing(weights))
    weights.release()


def _sign(module: ir.Module) -> None:
    """Adds to the file who wrote it, and the nodes of results, whose tensors are named after outputs of signatures."""
    nodes: dict[str, str] = {}
    for function in functions(module).values():
        if "tf.entry_function" in function.attributes:
            names = ir.StringAttr(ir.DictAttr(function.attributes["tf.entry_function"])["outputs"]).value.split(",")
            for name, value in zip(names, terminator_of(function.entry_block).operands, strict=False):
                if not isinstance(value.owner, ir.Block) and "/" in (node := node_name(value.owner.location)):
                    nodes[name] = node
    facts = {"producer": "litefuse", "version": __version__, **({"results": nodes} if nodes else {})}
    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    module.operation.attributes["tfl.description"] = ir.StringAttr.get(f"litefuse {__version__}")
    module.operation.attributes["tfl.metadata"] = ir.DictAttr.get({PRODUCER: ir.StringAttr.get(text)})


class _Releasing:
    """Releases the mapped pages of weights, which count as the process's memory, whenever many were written."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._written = 0

    def __call__(self, size: int) -> None:
        self._written += size
        if self._written >= _RELEASE_BYTES:
            self._weights.release()
            self._written = 0


def _place_stubs(module: ir.Module, weights: Weights, token: bytes) -> set[int]:
    """Replaces placeholders by small constants of the weight's dtype and rank; returns the weights' numbers."""
    numbers: set[int] = set()
    for op in all_operations(module):
        number = weights.number(op.results[0]) if op.name == PLACEHOLDER else None
        if number is None:
            continue
        numbers.add(number)
        kind = ir.RankedTensorType(op.results[0].type)
        stub = np.frombuffer(token + number.to_bytes(4, "little"), weights[number].dtype)
        # The exporter takes the shape from the attribute if the type has none.
        attribute = ir.DenseElementsAttr.get(stub.reshape([1] * (kind.rank - 1) + [-1]))
        unranked = ir.UnrankedTensorType.get(kind.element_type)
        with ir.InsertionPoint(op), op.location:
            constant = create_value("tfl.pseudo_const", unranked, [], {"value": attribute})
        op.results[0].replace_all_uses_with(constant)
        op.operation.erase()
    return numbers


def _stub_buffers(data: Any, token: bytes) -> dict[int, int]:
    """Finds and clears the stubs; maps each one's buffer index to the weight's number."""
    buffers: dict[int, int] = {}
    for index, entry in enumerate(entries(data, follow(data, 0), _BUFFERS)):
        table = follow(data, entry)
        start = length = 0
        if inside := field_of(data, table, _DATA):
            vector = follow(data, inside)
            start, length = vector + 4, struct.unpack_from("<I", data, vector)[0]
        elif (offset := field_of(data, table, _OFFSET)) and (size := field_of(data, table, _SIZE)):
            start, length = struct.unpack_from("<Q", data, offset)[0], struct.unpack_from("<Q", data, size)[0]
        if length == _STUB_BYTES and data[start : start + len(token)] == token:
            buffers[index] = int.from_bytes(data[start + len(token) : start + length], "little")
            data[start : start + length] = bytes(length)  # the token is random, the file must not be
    return buffers


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


# Ops that become buffers, or belong to another op, in the file.
_NOT_OPERATORS = frozenset({"func.call", "func.return", "tfl.no_value", "tfl.yield"})  # nor are constants
# LiteRT has one operator where the dialect has two ops.
_OPERATOR_NAMES = {"tfl.basic_lstm": "LSTM", "tf.If": "IF", "vhlo.composite_v1": "STABLEHLO_COMPOSITE"}


def operator_name(op: ir.OpView) -> str | None:
    """Returns the name of the operator that an op is in the file; None if it is none."""
    if op.name == "tfl.custom":
        return custom_code(op).removeprefix(STAND_IN)
    if op.name in _NOT_OPERATORS or op.name in CONSTANTS:
        return None
    return _OPERATOR_NAMES.get(op.name) or op.name.removeprefix("tfl.").replace(".", "_").upper()


def summarize(module: ir.Module) -> ModelSummary:
    """Counts the operators of a module that is ready for export."""
    counts: Counter[str] = Counter()
    custom: set[str] = set()
    copies = 0
    for function in functions(module).values():
        for op in operations(function):
            name = operator_name(op)
            if name is None:
                continue
            counts[name] += 1
            copies += op.name == "tfl.maximum" and op.operands[0] == op.operands[1]
            if op.name == "tfl.custom" and not custom_code(op).startswith(STAND_IN):
                custom.add(name)
    return ModelSummary(dict(sorted(counts.items())), tuple(sorted(custom)), copies)
