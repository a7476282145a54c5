"""Ops that litert-quantizer leaves in floating point, as those that LiteRT and custom kernels compute in integers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from litefuse.conversion.quantization.calibration import OF_SHAPES, Ranges
from litefuse.conversion.quantization.integer_graph import IntegerGraph
from litefuse.conversion.quantization.integer_rules import rule_of, same_scale_pairs
from litefuse.conversion.quantization.lookup_tables import TableFunction, place_tables
from litefuse.conversion.quantization.recurrent.needless_conversions import drop_unused
from litefuse.litert.export.editor import GraphEditor
from litefuse.litert.runtime.schema_objects import tensor_name


def integer_graphs(model: Any, bodies: Collection[int]) -> list[int]:
    """Returns the subgraphs of signatures, and of these loops: branches and composites keep the types of their op."""
    return sorted({*bodies, *(int(signature.subgraphIndex) for signature in model.signatureDefs or ())})


def sources_of_scales(model: Any, bits: int, real: Collection[str], bodies: Collection[int] = ()) -> Mapping[str, str]:
    """Returns the results of such ops that have the scale of an operand, with that operand, in the order of the ops.

    Args:
        model: The model, as the schema's objects.
        bits: The bits of activations.
        real: The names of tensors whose ops stay in floating point.
        bodies: The bodies of loops that compute in integers.
    """
    sources: dict[str, str] = {}
    for index in integer_graphs(model, bodies):
        tensors = model.subgraphs[index].tensors
        for op in model.subgraphs[index].operators or ():
            rule = rule_of(model, op, bits)
            if rule is None or any(tensor_name(tensors[output]) in real for output in op.outputs):
                continue
            for result, operand in same_scale_pairs(op, rule):
                if operand >= 0:
                    sources[tensor_name(tensors[result])] = tensor_name(tensors[operand])
    return sources


def hand_ranges_on(ranges: Ranges, sources: Mapping[str, str]) -> Ranges:
    """Returns ranges in which results have that of the operand whose scale they take.

    Args:
        ranges: The ranges of a model's tensors.
        sources: See :func:`sources_of_scales`.
    """
    handed_on = dict(ranges)
    for result, operand in sources.items():
        if operand in handed_on:
            handed_on[result] = handed_on[operand]
    return handed_on


def make_ops_integer(
    model: Any,
    bits: int,
    ranges: Ranges,
    kept: Collection[str] = (),
    functions: Sequence[TableFunction] = (),
    bodies: Collection[int] = (),
) -> bool:
    """Gives ops integers in the place of floating point, if a rule says that their kernels take them::

        x: int8 -> DEQUANTIZE -> Op: float32 -> QUANTIZE -> y: int8     -->     x: int8 -> Op -> y: int8

    Constants of custom ops stay as they are. Where a result has the scale of an operand, and what follows has another
    one, there is a QUANTIZE between.

    Args:
        model: The quantized model, as the schema's objects.
        bits: The bits of activations: 8 or 16.
        ranges: The ranges of its tensors; an op with a tensor without a finite one stays as it is.
        kept: The names of the results of ops that stay as they are.
        functions: What is looked up in tables.
        bodies: The bodies of loops that compute in integers.

    Returns:
        Whether it changed.
    """
    changed = False
    for number in integer_graphs(model, bodies):
        tables = place_tables(GraphEditor(model, number), functions)
        graph = IntegerGraph(model, number, bits, ranges)
        for op in [*(graph.ops or ())]:
            if any(graph.name(result) in kept for result in op.outputs):
                continue
            rule = rule_of(model, op, bits)
            if id(op) in tables:
                graph.look_up(op, tables[id(op)])
                changed = True
            elif rule is not None:
                changed = graph.make_integer(op, rule) or changed
            elif graph.kind(op) == "CAST":
                changed = graph.cast_integers(op) or changed
            elif graph.kind(op) in OF_SHAPES:
                changed = graph.read_integers(op) or changed
        graph.finish()
    if changed:
        drop_unused(model)
    return changed
