"""Files that tflite-micro refuses, for it would compute other numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from litefuse.litert.runtime.schema_objects import add_metadata, op_names

__all__ = ["PLAN", "refuse_first_scales"]

#: The metadata in which tflite-micro, and nobody else, looks for the places of tensors in its memory.
PLAN = "OfflineMemoryAllocation"
# Its version, its subgraph, and the number of tensors, by which offsets would follow.
_NO_TENSORS = np.zeros(3, np.int32)
# The kernels that take the first scale of a constant for all of its channels, and its position.
_FIRST_SCALE = {"DEQUANTIZE": 0, "EMBEDDING_LOOKUP": 1}


def refuse_first_scales(model: Any) -> None:
    """Gives a model a plan of tflite-micro's memory that has no tensors, if that would take a scale for another one.

    tflite-micro looks at no versions of ops, but refuses a plan that is not of as many tensors as the model has, before
    it runs anything. A model that has a plan keeps it.

    Args:
        model: The model, an object of the schema.
    """
    if _has_channels(model):
        add_metadata(model, PLAN, np.frombuffer(_NO_TENSORS.tobytes(), np.uint8))


def _has_channels(model: Any) -> bool:
    """Whether an operand has several scales of which tflite-micro takes the first one."""
    kinds = op_names(model)
    for graph in model.subgraphs:
        for op in graph.operators or ():
            position = _FIRST_SCALE.get(kinds[int(op.opcodeIndex)])
            if position is not None and position < len(op.inputs):
                parameters = graph.tensors[op.inputs[position]].quantization
                if parameters is not None and parameters.scale is not None and len(parameters.scale) > 1:
                    return True
    return False
