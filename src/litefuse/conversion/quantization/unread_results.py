"""Mends results that nothing reads, in what litert-quantizer 0.11 writes: it leaves them in floating point.

LiteRT refuses ops such as SPLIT and UNPACK whose results are partly integers.
"""

from __future__ import annotations

from typing import Any

from ai_edge_litert import schema_py_generated as schema

from litefuse.litert.runtime.schema_objects import op_codes

__all__ = ["mend_unread_results"]

#: The ops whose results have the scale of the operand, and the position of that.
_OPERANDS = {
    schema.BuiltinOperator.SPLIT: 1,
    schema.BuiltinOperator.SPLIT_V: 0,
    schema.BuiltinOperator.TOPK_V2: 0,
    schema.BuiltinOperator.UNPACK: 0,
}


def mend_unread_results(model: Any) -> bool:
    """Gives results that nothing reads the type of the operand that they are a part of.

    Args:
        model: The quantized model, as the schema's objects.

    Returns:
        Whether it changed.
    """
    codes = op_codes(model)
    changed = False
    for subgraph in model.subgraphs:
        for op in subgraph.operators or ():
            position = _OPERANDS.get(codes[op.opcodeIndex])
            if position is None:
                continue
            operand = subgraph.tensors[op.inputs[position]]
            for each in (subgraph.tensors[index] for index in op.outputs):
                if each.type == schema.TensorType.FLOAT32 != operand.type:
                    each.type, each.quantization = operand.type, operand.quantization
                    changed = True
    return changed
