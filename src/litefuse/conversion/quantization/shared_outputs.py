"""Mends outputs of a model that its own ops read, too, in what litert-quantizer 0.11 writes.

It adds DEQUANTIZE for the output, and has the other readers take what that makes: ops of integers with an operand in
floating point, which LiteRT refuses. If one of the readers is in floating point, the signature goes on to name the
integers, which are not outputs any more. If one of the readers takes another scale, what QUANTIZE makes for it becomes
the output, in the place of what was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from litefuse.litert.runtime.schema_objects import op_names

__all__ = ["mend_shared_outputs"]


def mend_shared_outputs(model: Any) -> bool:
    """Has ops of integers read integers, and signatures name the outputs.

    Args:
        model: The quantized model, as the schema's objects.

    Returns:
        Whether it changed.
    """
    kinds = op_names(model)
    changed = False
    for index, subgraph in enumerate(model.subgraphs):
        operators = subgraph.operators or ()
        outputs = {int(each) for each in subgraph.outputs}
        # What is an output in floating point, by the integers that it is made of.
        made = {
            int(op.inputs[0]): int(op.outputs[0])
            for op in operators
            if kinds[op.opcodeIndex] == "DEQUANTIZE" and int(op.outputs[0]) in outputs
        }
        integers = {real: quantized for quantized, real in made.items()}
        for op in operators:
            if kinds[op.opcodeIndex] == "QUANTIZE" or not _is_integer(subgraph, op):
                continue
            inputs = [integers.get(int(input_), int(input_)) for input_ in op.inputs]
            changed = changed or inputs != [int(input_) for input_ in op.inputs]
            op.inputs = inputs
        for signature in model.signatureDefs or ():
            for output in signature.outputs if signature.subgraphIndex == index else ():
                if output.tensorIndex not in outputs:
                    changed = _restore(subgraph, kinds, output) or changed
    return changed


def _restore(subgraph: Any, kinds: Sequence[str], output: Any) -> bool:
    """Makes what a signature names an output again, in floating point if that is computed for nobody else."""
    named = int(output.tensorIndex)
    made = {kind: [op for op in _readers(subgraph, named) if kinds[op.opcodeIndex] == kind] for kind in _CONVERTING}
    outputs = [int(each) for each in subgraph.outputs]
    real = [int(op.outputs[0]) for op in made["DEQUANTIZE"]]
    real = [each for each in real if each in outputs or not _readers(subgraph, each)]
    output.tensorIndex = real[0] if real else named
    if output.tensorIndex in outputs:
        return True
    wrong = [int(op.outputs[0]) for op in made["QUANTIZE"] if int(op.outputs[0]) in outputs]
    if not wrong:
        return False
    subgraph.outputs = [output.tensorIndex if each == wrong[0] else each for each in outputs]
    return True


_CONVERTING = ("DEQUANTIZE", "QUANTIZE")


def _readers(subgraph: Any, tensor: int) -> list[Any]:
    return [op for op in subgraph.operators or () if tensor in {int(input_) for input_ in op.inputs}]


def _is_integer(subgraph: Any, op: Any) -> bool:
    """Whether a result of an op is quantized."""
    found = [subgraph.tensors[output].quantization for output in op.outputs]
    return any(each is not None and each.scale is not None and len(each.scale) > 0 for each in found)
