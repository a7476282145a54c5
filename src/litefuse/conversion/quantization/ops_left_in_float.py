"""Ops that have to stay in floating point, for their masks, or because LiteRT refuses their integer kernels.

Integers cannot represent masks: for a range from -1e9 to 5, one int8 step covers -4e6 to 5. Attention, for example,
adds -1e9 to the scores of padding, or replaces them by it, so that SOFTMAX makes them 0. Masked tensors stay float32
until the masks are gone: SOFTMAX returns numbers from 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from litefuse.conversion.quantization.calibration import Ranges
from litefuse.litert.runtime.schema_objects import dtype_of, op_names, tensor_name
from litefuse.passes.legalize.images.suppression import FAR

__all__ = ["masked_tensors", "withheld_ops"]

# The ops that add a mask to numbers or mix it with them.
_MASKING = frozenset({"ADD", "MAXIMUM", "MINIMUM", "SELECT", "SELECT_V2", "SUB"})
# A number is a mask if it is at least this large, and this many times as large as the numbers that it masks: little
# would be left of them in steps of a 255th of it.
_LARGE = 1000.0
_TIMES = 100.0


def masked_tensors(model: Any, ranges: Ranges) -> set[str]:
    """Returns the results of those ops in a model's signatures that have masks in their operands or results.

    Args:
        model: The model, as the schema's objects.
        ranges: The ranges of its tensors, which may be infinite.

    Returns:
        The tensors' names.
    """
    names: set[str] = set()
    for index in {signature.subgraphIndex for signature in model.signatureDefs or ()}:
        tensors = _Tensors(model, model.subgraphs[index].tensors, ranges)
        kinds = op_names(model)
        operators = [(kinds[int(op.opcodeIndex)], op.inputs, op.outputs) for op in model.subgraphs[index].operators]
        names.update(map(tensors.name, _masked(operators, tensors)))
    return names


def _masked(operators: Sequence[tuple[str, Sequence[int], Sequence[int]]], tensors: _Tensors) -> Iterator[int]:
    """Yields the results of ops with masks in their operands or results, in the order of the ops."""
    masked: dict[int, float] = {}  # the size of the other numbers in a tensor with masks
    for kind, inputs, outputs in operators:
        takes = {input_: tensors.size(input_) for input_ in inputs if tensors.is_real(input_)}
        gives = {output: tensors.size(output) for output in outputs if tensors.is_real(output)}
        others = [masked[take] for take in takes if take in masked]
        if not others and kind in _MASKING:
            others = [size for each, size in takes.items() if size and not tensors.is_constant(each)]
        small = min(others, default=math.inf)
        infinite = any(map(math.isinf, takes.values()))
        masks = {each: small for each, size in gives.items() if _is_mask(size, small, infinite=infinite)}
        if masks or infinite or any(take in masked for take in takes):
            yield from outputs
        masked.update(masks)


def _is_mask(size: float, others: float, *, infinite: bool) -> bool:
    if math.isinf(size):  # without infinite operands, it is an overflow, which check_finite must see
        return infinite
    return size >= _LARGE and size >= _TIMES * others


class _Tensors:
    """The tensors of a subgraph."""

    def __init__(self, model: Any, tensors: Sequence[Any], ranges: Ranges) -> None:
        self._buffers: Sequence[Any] = model.buffers
        self._tensors = tensors
        self._ranges: Mapping[str, Mapping[str, Any]] = ranges

    def name(self, index: int) -> str:
        return tensor_name(self._tensors[index])

    def is_real(self, index: int) -> bool:
        return index >= 0 and dtype_of(self._tensors[index]) == "float32"

    def is_constant(self, index: int) -> bool:
        return self._buffers[self._tensors[index].buffer].data is not None

    def size(self, index: int) -> float:
        """Returns the largest absolute value of a tensor; 0 if it is unknown."""
        if self.is_constant(index):
            values: Any = np.frombuffer(bytes(self._buffers[self._tensors[index].buffer].data), np.float32)
            return float(np.abs(values).max()) if values.size else 0.0
        range_ = self._ranges.get(self.name(index))
        return 0.0 if range_ is None else float(max(abs(range_["min"][0]), abs(range_["max"][0])))


_PRODUCTS = frozenset({"BATCH_MATMUL", "FULLY_CONNECTED"})
_SUPPRESSION = frozenset({"NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5"})
# The ops that prepare operands of a suppression, whose operands may be such ops as well, and at which positions: see
# litefuse.passes.legalize.images.suppression.
_PREPARING: Mapping[str, slice] = {
    **dict.fromkeys(
        (
            *("ABS", "ADD", "CAST", "CUMSUM", "GATHER", "GREATER"),
            *("GREATER_EQUAL", "LESS_EQUAL", "LOGICAL_AND", "LOGICAL_NOT"),
            *("MUL", "REDUCE_PROD", "SUB"),
        ),
        slice(None),
    ),
    **dict.fromkeys(("SELECT", "SELECT_V2"), slice(0, None, 2)),  # not the boxes
    **dict.fromkeys(("SLICE", "STRIDED_SLICE", "TOPK_V2"), slice(0, 0)),
}
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
    kinds = op_names(model)
    reasons: dict[str, str] = {}
    for graph in model.subgraphs:
        names = [tensor_name(tensor) for tensor in graph.tensors]
        made: dict[int, int] = {}  # the first result of the op that computes a tensor
        for op in graph.operators or ():
            kind, operands = kinds[int(op.opcodeIndex)], [int(input_) for input_ in op.inputs]
            result = int(op.outputs[0]) if len(op.outputs) else -1
            if kind == "DIV" and _may_be_zero(_ends(model, graph.tensors[operands[1]], ranges)):
                reasons[names[result]] = "its divisor may become 0 in integers"
                if operands[1] in made:
                    reasons[names[made[operands[1]]]] = "it computes a divisor, which may become 0 in integers"
            elif kind in _PRODUCTS and bits == 16 and _constant(model, graph.tensors[operands[0]]):
                reasons[names[result]] = "LiteRT multiplies no constant of int8 with activations of int16"
            made |= dict.fromkeys(map(int, op.outputs), result)
        prepared = "it prepares boxes or scores for a suppression, which computes in floating point"
        reasons |= dict.fromkeys((names[result] for result in _prepared(model, graph, kinds)), prepared)
    return reasons


def _prepared(model: Any, graph: Any, kinds: Sequence[str]) -> set[int]:
    """The first results of the ops that prepare what a suppression takes, there or in a loop."""
    makers = {int(result): op for op in graph.operators or () for result in op.outputs}
    begun: list[int] = []
    for op in graph.operators or ():
        kind, operands = kinds[int(op.opcodeIndex)], [int(operand) for operand in op.inputs]
        if kind in _SUPPRESSION:
            begun += operands
        elif kind == "ADD" and any(_is_far(model, graph.tensors[operand]) for operand in operands):
            begun += [int(other.outputs[0]) for other in graph.operators if int(op.outputs[0]) in other.inputs]
    results: set[int] = set()
    while begun:
        op = makers.get(begun.pop())
        positions = _PREPARING.get(kinds[int(op.opcodeIndex)]) if op is not None else None
        if op is not None and positions is not None and int(op.outputs[0]) not in results:
            results.add(int(op.outputs[0]))
            begun += [int(operand) for operand in op.inputs[positions]]
    return results


def _is_far(model: Any, tensor: Any) -> bool:
    """Whether a tensor is the constant that puts boxes far away."""
    data = model.buffers[tensor.buffer].data
    return data is not None and bytes(data) == np.array(FAR, np.float32).tobytes()


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
    if dtype_of(tensor) != "float32":
        return None
    if _constant(model, tensor):
        values: Any = np.abs(np.frombuffer(bytes(model.buffers[tensor.buffer].data), np.float32))
        return (float(values.min()), float(values.max())) if values.size else None
    range_ = ranges.get(tensor_name(tensor))
    return None if range_ is None else (float(range_["min"][0]), float(range_["max"][0]))
