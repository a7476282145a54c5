"""Mends the rotations of activations in what litert-quantizer 0.11 writes.

It multiplies rows with a Hadamard matrix between two RESHAPE ops, whose shapes are constants in which dynamic
dimensions are 1: the model would run for one row alone. And where a rotated lookup is an output, the signature goes on
to name what is not rotated back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from litefuse.litert.export.editor import GraphEditor, editors_of
from litefuse.litert.runtime.model_tables import DTYPE_NUMBERS
from litefuse.litert.runtime.schema_objects import made, set_options

__all__ = ["mend_rotations"]

# The ends of the names that litert-quantizer gives the shapes before and after a rotation.
_BEFORE, _AFTER = "_prerotate_shape", "_postrotate_shape"


def mend_rotations(model: Any) -> bool:
    """Lets rotations take any size of dynamic dimensions, and signatures name the outputs.

    Args:
        model: The quantized model, as the schema's objects.

    Returns:
        Whether it changed.
    """
    changed = False
    for number, graph in enumerate(editors_of(model)):
        outputs = {int(output) for output in graph.graph.outputs}
        signatures = [signature for signature in model.signatureDefs or () if signature.subgraphIndex == number]
        for operand, reshapes in _rotations(graph):
            changed = _open(graph, operand, *reshapes) or changed
            for entry in [entry for signature in signatures for entry in signature.outputs or ()]:
                if entry.tensorIndex == operand and operand not in outputs:
                    entry.tensorIndex, changed = int(reshapes[1].outputs[0]), True
    return changed


def _rotations(graph: GraphEditor) -> Iterator[tuple[int, tuple[Any, Any]]]:
    """Yields what is rotated, and the RESHAPE ops before and after the product, in the order of the ops."""
    before: Any = None
    for op in [*graph.ops]:
        if graph.kind(op) != "RESHAPE" or len(op.inputs) < 2:
            continue
        shape = graph.name(op.inputs[1])
        if shape.endswith(_BEFORE):
            before = op
        elif shape.endswith(_AFTER) and before is not None:
            yield int(before.inputs[0]), (before, op)


def _open(graph: GraphEditor, operand: int, before: Any, after: Any) -> bool:
    """Gives a rotation the dynamic dimensions of its operand; returns whether it has any."""
    sizes = graph.shape(operand)
    if -1 not in sizes:
        return False
    rows = (-1, graph.shape(before.outputs[0])[-1])
    before.inputs = [before.inputs[0], graph.add_constant(graph.name(before.inputs[1]), np.array(rows, np.int32))]
    if sizes.count(-1) == 1:
        shape = graph.add_constant(graph.name(after.inputs[1]), np.array(sizes, np.int32))
    else:
        shape = graph.add_tensor(graph.name(after.inputs[1]), (len(sizes),), "int32")
        reads = graph.add_op(before, "SHAPE", [operand], [shape])
        set_options(reads, made("ShapeOptions", outType=DTYPE_NUMBERS["int32"]))
    after.inputs = [after.inputs[0], shape]
    for tensor, signature in ((before.outputs[0], rows), (after.inputs[0], rows), (after.outputs[0], sizes)):
        graph.tensor(tensor).shapeSignature = list(signature)
    return True
