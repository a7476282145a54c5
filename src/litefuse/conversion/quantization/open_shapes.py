"""Mends dynamic dimensions in what litert-quantizer 0.11 writes.

Of the tensors that it adds before QUANTIZE and after DEQUANTIZE, it writes sizes alone, in which dynamic dimensions are
1: the outputs of a model of any batch say that they are of one row. LiteRT resizes them nevertheless, but who reads the
file is misled.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from litefuse.litert.runtime.schema_objects import op_names

__all__ = ["restore_open_shapes"]

_CONVERSIONS = frozenset({"QUANTIZE", "DEQUANTIZE"})


def restore_open_shapes(model: Any) -> bool:
    """Gives both sides of QUANTIZE and DEQUANTIZE the same dynamic dimensions.

    Args:
        model: The model, as the schema's objects.

    Returns:
        Whether it changed.
    """
    return sum(_mend(*pair) for pair in _pairs(model)) > 0


def _pairs(model: Any) -> Iterator[tuple[Any, Any]]:
    """Yields the operands and results of the ops between integers and floating point."""
    kinds = op_names(model)
    for subgraph in model.subgraphs:
        for op in subgraph.operators or ():
            if kinds[op.opcodeIndex] in _CONVERSIONS:
                yield subgraph.tensors[op.inputs[0]], subgraph.tensors[op.outputs[0]]


def _mend(operand: Any, result: Any) -> bool:
    """Copies the dynamic dimensions of one tensor to the other, if that has none."""
    signatures = [_signature(each) for each in (operand, result)]
    for (given, lacking), tensor in ((signatures, result), (signatures[::-1], operand)):
        if given and not lacking and tensor.shape is not None and len(given) == len(tensor.shape):
            tensor.shapeSignature = given
            return True
    return False


def _signature(tensor: Any) -> list[int]:
    return [] if tensor.shapeSignature is None else [int(size) for size in tensor.shapeSignature]
