"""Activations of TRANSPOSE_CONV, which some readers leave out where they are fused."""

from __future__ import annotations

import copy
from collections.abc import Container, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from litefuse.conversion.quantization.recurrent.borders import drop_unused
from litefuse.litert.export.editor import GraphEditor, Scale, editors_of
from litefuse.litert.runtime.model_tables import ACTIVATIONS

__all__ = ["fuse_activations", "separate_activations"]

_LIMITS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"RELU": (0.0, float("inf")), "RELU6": (0.0, 6.0), "RELU_N1_TO_1": (-1.0, 1.0)}
)
# The activations that are ops as well, by the names of these.
_KINDS: Mapping[str, int] = MappingProxyType({name: kind for kind, name in ACTIVATIONS.items() if name in _LIMITS})


def fuse_activations(model: Any, kept: Container[str]) -> bool:
    """Fuses activations into TRANSPOSE_CONV in a model that becomes one of integers.

    In floating point they are ops of their own. The result gets the range of the activation; XNNPACK has no RELU of
    int8, and litert-quantizer none of the others.

    Args:
        model: The model in floating point, as the schema's objects.
        kept: The names of results whose ops stay in floating point.

    Returns:
        Whether it changed.
    """
    changed = False
    for graph, op in _convolutions(model):
        result = int(op.outputs[0])
        takers = [*graph.consumers(result)]
        activation = _KINDS.get(graph.kind(takers[0])) if len(takers) == 1 else None
        if activation is None or op.builtinOptions.fusedActivationFunction or graph.is_output(result):
            continue
        if graph.name(result) not in kept and graph.name(int(takers[0].outputs[0])) not in kept:
            op.builtinOptions.fusedActivationFunction, op.outputs = activation, takers[0].outputs
            graph.remove_op(takers[0])
            changed = True
    if changed:
        drop_unused(model)
    return changed


def separate_activations(model: Any) -> bool:
    """Takes activations out of TRANSPOSE_CONV again, but where the range of its integers says the same.

    In floating point and in int16 they are ops of their own then. Where int8 has a wider range, as that of a
    concatenation with negative numbers, the result gets one of its own, and QUANTIZE makes the other, without an error
    if the steps are the same.

    Args:
        model: The quantized model, as the schema's objects.

    Returns:
        Whether it changed.
    """
    changed = False
    for graph, op in _convolutions(model):
        result, kind = int(op.outputs[0]), op.builtinOptions.fusedActivationFunction
        scale, name = graph.scale(result), ACTIVATIONS.get(kind, "")
        if name not in _LIMITS:
            continue
        if scale is None:
            if graph.is_type(result, "float32"):
                _precede(graph, op, name)
        elif graph.is_type(result, "int16") and name != "RELU_N1_TO_1":  # LiteRT has none of int16
            _precede(graph, op, name)
        elif graph.is_type(result, "int8") and (own := _own_scale(scale, *_LIMITS[name])) != scale:
            made = _precede(graph, op, "QUANTIZE")
            op.builtinOptions.fusedActivationFunction = kind
            graph.tensor(made).quantization.scale, graph.tensor(made).quantization.zeroPoint = [own.scale], [own.zero]
        changed = changed or int(op.outputs[0]) != result
    return changed


def _convolutions(model: Any) -> Iterator[tuple[GraphEditor, Any]]:
    """Yields the transposed convolutions, with their graphs."""
    for graph in editors_of(model):
        for op in [*(graph.ops or ())]:
            if graph.kind(op) == "TRANSPOSE_CONV" and op.builtinOptions is not None:
                yield graph, op


def _precede(graph: GraphEditor, op: Any, name: str) -> int:
    """Has another op make the result of an op without an activation; returns what that op makes then."""
    result = int(op.outputs[0])
    tensor = copy.deepcopy(graph.tensor(result))
    tensor.name, tensor.buffer = f"{graph.name(result)}_{name.lower()}_operand".encode(), 0
    graph.graph.tensors.append(tensor)
    made = len(graph.graph.tensors) - 1
    op.builtinOptions.fusedActivationFunction, op.outputs = 0, [made]
    graph.add_op(graph.after(op), name, [made], [result])
    return made


def _own_scale(scale: Scale, low: float, high: float) -> Scale:
    """Returns a scale of int8 for what another one has within limits: the same if that has nothing outside of them."""
    least, most = (scale.scale * (limit - scale.zero) for limit in (-128, 127))
    half = scale.scale / 2
    if low - half <= least and most <= high + half:
        return scale
    lowest = max(low, least)
    step = scale.scale if most <= high + half else (high - lowest) / 255
    return Scale(step, round(-lowest / step) - 128)
