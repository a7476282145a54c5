"""Kernels of custom ops that compute with integers, and the scales that their results take from operands."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from litefuse.conversion.quantization.calibration import Ranges
from litefuse.litert.runtime.custom_op import CustomOp, find_kernel
from litefuse.litert.runtime.schema_objects import op_name, tensor_name

__all__ = ["hand_ranges_on", "integer_kernel", "same_scale_pairs", "sources_of_scales"]


def integer_kernel(model: Any, op: Any, bits: int) -> type[CustomOp] | None:
    """Returns the kernel of a custom op that takes integers of so many bits; None without such a kernel."""
    code = model.operatorCodes[op.opcodeIndex]
    if op_name(code) != "CUSTOM":
        return None
    name = (code.customCode or b"").decode("utf-8", "replace")
    kernel = find_kernel(name) if name else None
    return kernel if kernel is not None and f"int{bits}" in kernel.quantized_dtypes else None


def same_scale_pairs(op: Any, kernel: type[CustomOp]) -> Iterator[tuple[int, int]]:
    """Yields the results of an op that have the scale of an operand, each with that operand, as indices of tensors."""
    for output, position in kernel.same_scales.items():
        if output < len(op.outputs) and position < len(op.inputs):
            yield int(op.outputs[output]), int(op.inputs[position])


def sources_of_scales(model: Any, bits: int, real: Collection[str]) -> Mapping[str, str]:
    """Returns the results of custom ops that have the scale of an operand, with that operand, in the order of the ops.

    Args:
        model: The model, as the schema's objects.
        bits: The bits of activations.
        real: The names of tensors whose ops stay in floating point.
    """
    sources: dict[str, str] = {}
    # Loops, branches and composites keep the types of their op.
    for index in sorted({int(signature.subgraphIndex) for signature in model.signatureDefs or ()}):
        tensors = model.subgraphs[index].tensors
        for op in model.subgraphs[index].operators or ():
            kernel = integer_kernel(model, op, bits)
            if kernel is None or any(tensor_name(tensors[output]) in real for output in op.outputs):
                continue
            for result, operand in same_scale_pairs(op, kernel):
                if operand >= 0:
                    sources[tensor_name(tensors[result])] = tensor_name(tensors[operand])
    return sources


def hand_ranges_on(ranges: Ranges, sources: Mapping[str, str]) -> Ranges:
    """Returns ranges in which results have that of the operand whose scale they take.

    Args:
        ranges: The ranges of a model's tensors.
        sources: See :func:`sources_of_scales`.
    """
    found = dict(ranges)
    for result, operand in sources.items():
        if operand in found:
            found[result] = found[operand]
    return found
