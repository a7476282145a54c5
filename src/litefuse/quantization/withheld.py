"""Ops whose integer kernels LiteRT refuses, or stops in, so that they stay in floating point."""

from __future__ import annotations

from typing import Any

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from litefuse.quantization.calibration import Ranges
from litefuse.runtime.schema_objects import op_codes, tensor_name

__all__ = ["withheld_ops"]

_OPERATOR = schema.BuiltinOperator
_PRODUCTS = frozenset({_OPERATOR.BATCH_MATMUL, _OPERATOR.FULLY_CONNECTED})
# A divisor is far enough from 0 in int8 if its smallest number is at least this part of the largest: some 16 steps.
_SMALLEST = 1 / 16


def withheld_ops(model: Any, ranges: Ranges, bits: int) -> dict[str, str]:
    """Returns the ops of a model that no form of integers computes.

    Args:
        model: The model, as the schema's objects.
        ranges: The ranges of its tensors.
        bits: The bits of activations.

    Returns:
        The reasons, by the names of the ops' first results.
    """
    codes = op_codes(model)
    reasons: dict[str, str] = {}
    for graph in model.subgraphs:
        names = [tensor_name(each) for each in graph.tensors]
        made: dict[int, int] = {}  # the first result of the op that computes a tensor
        for op in graph.operators or ():
            code, operands = codes[int(op.opcodeIndex)], [int(each) for each in op.inputs]
            result = int(op.outputs[0]) if len(op.outputs) else -1
            if code == _OPERATOR.DIV and _may_be_zero(_ends(model, graph.tensors[operands[1]], ranges)):
                reasons[names[result]] = "its divisor may become 0 in integers"
                if operands[1] in made:
                    reasons[names[made[operands[1]]]] = "it computes a divisor, which may become 0 in integers"
            elif code in _PRODUCTS and bits == 16 and _constant(model, graph.tensors[operands[0]]):
                reasons[names[result]] = "LiteRT multiplies no constant of int8 with activations of int16"
            made |= dict.fromkeys(map(int, op.outputs), result)
    return reasons


def _may_be_zero(ends: tuple[float, float] | None) -> bool:
    """Whether a divisor may become 0, at which LiteRT's kernel stops, as small numbers do that samples lack."""
    if ends is None:
        return False
    least, most = ends
    return least <= 0 <= most or min(abs(least), abs(most)) < _SMALLEST * max(abs(least), abs(most))


def _constant(model: Any, tensor: Any) -> bool:
    return model.buffers[tensor.buffer].data is not None


def _ends(model: Any, tensor: Any, ranges: Ranges) -> tuple[float, float] | None:
    """Returns the least and the largest number of a tensor; of a constant, of their absolute values."""
    if tensor.type != schema.TensorType.FLOAT32:
        return None
    if _constant(model, tensor):
        values: Any = np.abs(np.frombuffer(bytes(model.buffers[tensor.buffer].data), np.float32))
        return (float(values.min()), float(values.max())) if values.size else None
    found = ranges.get(tensor_name(tensor))
    return None if found is None else (float(found["min"][0]), float(found["max"][0]))
