"""Biases of float16 beside weights of float16."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from litefuse.litert.export.editor import GraphEditor, editors_of

__all__ = ["halve_biases"]

#: The positions of the biases of convolutions; their weights are the second operand.
_BIASES: Mapping[str, int] = MappingProxyType(
    {
        "CONV_2D": 2,
        "DEPTHWISE_CONV_2D": 2,
        "TRANSPOSE_CONV": 3,
    }
)


def halve_biases(model: Any) -> bool:
    """Stores the biases of convolutions whose weights are float16 as float16, too; returns whether there were such.

    litert-quantizer leaves them as they are, and LiteRT 1.2 and 1.3 take the one for the other: their results are no
    numbers. A bias that other ops read, or beyond the numbers of float16, stays.

    Args:
        model: The model, an object of the schema.
    """
    changed = False
    for graph in editors_of(model):
        for index in dict.fromkeys(_biases(graph)):
            value = graph.constant(index)
            if value is None or not np.all(np.abs(value) <= np.finfo(np.float16).max):
                continue
            half = graph.add_constant(f"bias_{index}", value.astype(np.float16))
            old, tensor = graph.tensor(index).buffer, graph.tensor(index)
            tensor.buffer = 0
            if not any(each.buffer == old for other in model.subgraphs for each in other.tensors):
                model.buffers[old].data = None
            graph.add_op(graph.ops[0], "DEQUANTIZE", [half], [index])
            changed = True
    return changed


def _biases(graph: GraphEditor) -> Iterator[int]:
    """Yields the constants that are biases of convolutions with weights of float16, and nothing else."""
    halves: set[int] = set()
    others = {int(index) for index in graph.graph.outputs}
    found: list[int] = []
    for op in graph.ops:
        kind, inputs = graph.kind(op), [int(index) for index in op.inputs]
        place = _BIASES.get(kind, len(inputs))
        if kind == "DEQUANTIZE" and graph.is_type(inputs[0], "float16"):
            halves.update(int(index) for index in op.outputs)
        if place < len(inputs) and inputs[place] >= 0 and inputs[1] in halves:
            found.append(inputs.pop(place))
        others.update(inputs)
    yield from (index for index in found if index not in others and graph.is_type(index, "float32"))
