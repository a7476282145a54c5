"""Activations that integers have no need of as ops of their own."""

from __future__ import annotations

from collections.abc import Container, Mapping
from types import MappingProxyType
from typing import Any

from ai_edge_litert import schema_py_generated as schema

from litefuse.quantization.recurrent.borders import drop_unused
from litefuse.quantization.recurrent.editor import GraphEditor

__all__ = ["fuse_activations"]

_ACTIVATIONS: Mapping[int, int] = MappingProxyType(
    {
        schema.BuiltinOperator.RELU: schema.ActivationFunctionType.RELU,
        schema.BuiltinOperator.RELU6: schema.ActivationFunctionType.RELU6,
        schema.BuiltinOperator.RELU_N1_TO_1: schema.ActivationFunctionType.RELU_N1_TO_1,
    }
)


def fuse_activations(model: Any, kept: Container[str]) -> bool:
    """Fuses activations into TRANSPOSE_CONV in a model that becomes one of int8.

    In floating point they are ops of their own, as some readers leave fused ones out. In int8 these compute the same:
    the range of the result holds only what the activation lets through. XNNPACK has no RELU of int8, and
    litert-quantizer none of the others.

    Args:
        model: The model in floating point, as the schema's objects.
        kept: The names of results whose ops stay in floating point.

    Returns:
        Whether it changed.
    """
    changed = False
    for graph in [GraphEditor(model, number) for number in range(len(model.subgraphs))]:
        for op in [op for op in graph.ops or () if graph.code(op) == schema.BuiltinOperator.TRANSPOSE_CONV]:
            result, options = int(op.outputs[0]), op.builtinOptions
            takers = [*graph.consumers(result)]
            activation = _ACTIVATIONS.get(graph.code(takers[0])) if len(takers) == 1 else None
            if activation is None or options is None or options.fusedActivationFunction or graph.is_output(result):
                continue
            if graph.name(result) not in kept and graph.name(int(takers[0].outputs[0])) not in kept:
                options.fusedActivationFunction, op.outputs = activation, takers[0].outputs
                graph.remove_op(takers[0])
                changed = True
    if changed:
        drop_unused(model)
    return changed
