"""Mends results that nothing reads, in what litert-quantizer 0.11 writes: it leaves them in floating point.

LiteRT refuses ops such as SPLIT and UNPACK whose results are partly integers.
"""

from __future__ import annotations

from typing import Any

from litefuse.litert.runtime.schema_objects import dtype_of, op_names

__all__ = ["mend_unread_results"]

#: The ops whose results have the scale of the operand, and the position of that.
_OPERANDS = {
    "SPLIT": 1,
    "SPLIT_V": 0,
    "TOPK_V2": 0,
    "UNPACK": 0,
}


def mend_unread_results(model: Any) -> bool:
    """Gives results that nothing reads the type of the operand that they are a part of.

    Args:
        model: The quantized model, as the schema's objects.

    Returns:
        Whether it changed.
    """
    kinds = op_names(model)
    changed = False
    for subgraph in model.subgraphs:
        for op in subgraph.operators or ():
            position = _OPERANDS.get(kinds[int(op.opcodeIndex)])
            if position is None:
                continue
            operand = subgraph.tensors[op.inputs[position]]
            for each in (subgraph.tensors[index] for index in op.outputs):
                if dtype_of(each) == "float32" != dtype_of(operand):
                    each.type, each.quantization = operand.type, operand.quantization
                    changed = True
    return changed
