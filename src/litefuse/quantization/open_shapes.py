"""Mends dynamic dimensions in what litert-quantizer 0.11 writes.

Of the tensors that it adds before QUANTIZE and after DEQUANTIZE, it writes sizes alone, in which dynamic dimensions are
1: the outputs of a model of any batch say that they are of one row. LiteRT resizes them nevertheless, but who reads the
file is misled.
"""

from __future__ import annotations

import importlib
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ai_edge_litert import schema_py_generated as schema

__all__ = ["restore_open_shapes"]

_CONVERSIONS = frozenset({schema.BuiltinOperator.QUANTIZE, schema.BuiltinOperator.DEQUANTIZE})
# The data of buffers behind the flatbuffer begins at multiples of this.
_ALIGNMENT = 16


def restore_open_shapes(path: Path) -> bool:
    """Gives both sides of QUANTIZE and DEQUANTIZE the same dynamic dimensions, in a quantized model's file.

    Returns:
        Whether it changed.
    """
    with path.open("rb") as opened:
        content = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)  # closed with the last view of it
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0))
    if not sum(_mend(*pair) for pair in _pairs(model)):
        return False
    if any(op.largeCustomOptionsSize for subgraph in model.subgraphs for op in subgraph.operators):
        return False  # options are behind the flatbuffer as well, and would move
    target = path.with_name(path.name + ".mended")
    try:
        with target.open("wb") as file:
            _write(model, content, file)
        target.replace(path)
    finally:
        target.unlink(missing_ok=True)
    return True


def _pairs(model: Any) -> Iterator[tuple[Any, Any]]:
    """Yields the operands and results of the ops between integers and floating point."""
    codes = [max(each.builtinCode, each.deprecatedBuiltinCode) for each in model.operatorCodes]
    for subgraph in model.subgraphs:
        for op in subgraph.operators:
            if codes[op.opcodeIndex] in _CONVERSIONS:
                yield subgraph.tensors[op.inputs[0]], subgraph.tensors[op.outputs[0]]


def _mend(operand: Any, result: Any) -> bool:
    """Copies the dynamic dimensions of one tensor to the other, if that has none."""
    signatures = [_signature(each) for each in (operand, result)]
    for (given, lacking), tensor in ((signatures, result), (signatures[::-1], operand)):
        if given and not lacking and len(given) == len(tensor.shape):
            tensor.shapeSignature = given
            return True
    return False


def _signature(tensor: Any) -> list[int]:
    return [] if tensor.shapeSignature is None else [int(size) for size in tensor.shapeSignature]


def _write(model: Any, content: mmap.mmap, file: BinaryIO) -> None:
    """Writes a model, with those buffers behind it that are behind the flatbuffer in the original."""
    pack: Any = importlib.import_module("ai_edge_litert.tools.flatbuffer_utils").convert_object_to_bytearray
    behind = [each for each in model.buffers if each.offset > 1]
    packed = pack(model)
    if behind:
        start = min(each.offset for each in behind)
        length = -(-len(packed) // _ALIGNMENT) * _ALIGNMENT
        for each in behind:
            each.offset += length - start
        packed = pack(model).ljust(length, b"\0")  # of the same length: offsets are numbers of a fixed size
        file.write(packed)
        file.write(memoryview(content)[start:])
        return
    file.write(packed)
