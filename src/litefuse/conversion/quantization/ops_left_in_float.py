"""Ops that have to stay in floating point, for their masks, or because LiteRT refuses their integer kernels.

Integers cannot represent masks: for a range from -1e9 to 5, one int8 step covers -4e6 to 5. Attention, for example,
adds -1e9 to the scores of padding, or replaces them by it, so that SOFTMAX makes them 0. Masked tensors stay float32
until the masks are gone: SOFTMAX returns numbers from 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from litefuse.conversion.quantization.calibration import Ranges
from litefuse.conversion.quantization.runtime_forms import takes_item
from litefuse.conversion.quantization.states.variables import variables_of
from litefuse.litert.export.editor import GraphEditor, editors_of
from litefuse.passes.legalize.images.suppression import FAR

# The ops that add a mask to numbers or mix it with them.
_MASKING = frozenset({"ADD", "MAXIMUM", "MINIMUM", "SELECT", "SELECT_V2", "SUB"})
# A number is a mask if it is at least this large, and this many times as large as the numbers that it masks: little
# would be left of them in steps of a 255th of it.
_LARGE = 1000.0
_TIMES = 100.0


def masked_tensors(model: Any, ranges: Ranges, bodies: Collection[int] = ()) -> set[str]:
    """Returns the results of those ops in a model's signatures that have masks in their operands or results.

    Args:
        model: The model, as the schema's objects.
        ranges: The ranges of its tensors, which may be infinite.
        bodies: The bodies of loops that are searched too.
    """
    names: set[str] = set()
    for number in {*bodies, *(int(signature.subgraphIndex) for signature in model.signatureDefs or ())}:
        names.update(_masked(_Tensors(model, number, ranges)))
    return names


def _masked(graph: _Tensors) -> Iterator[str]:
    """Yields the results of ops with masks in their operands or results, in the order of the ops."""
    masked: dict[int, float] = {}  # the size of the other numbers in a tensor with masks
    written = graph.written_sizes()
    for op in graph.ops or ():
        takes = {operand: graph.largest(operand) for operand in _indices(op.inputs) if graph.is_real(operand)}
        gives = {result: graph.largest(result) for result in _indices(op.outputs) if graph.is_real(result)}
        others = [masked[operand] for operand in takes if operand in masked]
        reads = [written[result] for result in gives if written.get(result)]
        infinite = any(map(math.isinf, takes.values()))
        if not others and graph.kind(op) in _MASKING:
            others = [size for operand, size in takes.items() if size and not graph.is_constant(operand)]
        small = min(others + reads, default=math.inf)
        may_mask = infinite or bool(reads)
        masks = {result: small for result, size in gives.items() if _is_mask(size, small, infinite=may_mask)}
        if masks or infinite or any(operand in masked for operand in takes):
            yield from map(graph.name, _indices(op.outputs))
        masked.update(masks)


def _indices(indices: Any) -> list[int]:
    return [int(index) for index in (() if indices is None else indices)]


def _is_mask(size: float, others: float, *, infinite: bool) -> bool:
    if math.isinf(size):  # without infinite operands, it is an overflow, which check_finite must see
        return infinite
    return size >= _LARGE and size >= _TIMES * others


class _Tensors(GraphEditor):
    """A subgraph whose tensors have ranges."""

    def __init__(self, model: Any, graph: int, ranges: Ranges) -> None:
        super().__init__(model, graph)
        self._ranges = ranges

    def is_real(self, index: int) -> bool:
        return index >= 0 and self.is_type(index, "float32")

    def data(self, index: int) -> Any | None:
        """Returns the bytes of a constant; None for other tensors."""
        return self.model.buffers[self.tensor(index).buffer].data

    def ends(self, index: int) -> tuple[float, float] | None:
        """Returns the least and the largest number of a tensor; of a constant, of their absolute values."""
        data = self.data(index)
        if data is not None:
            values: Any = np.abs(np.frombuffer(bytes(data), np.float32))
            return (float(values.min()), float(values.max())) if values.size else None
        range_ = self._ranges.get(self.name(index))
        return None if range_ is None else (float(range_["min"][0]), float(range_["max"][0]))

    def written_sizes(self) -> dict[int, float]:
        """Returns the size of the numbers that are written to states after the initial ones, by what is read there."""
        sizes: dict[int, float] = {}
        for variable in variables_of(self.model):
            written = [self._ranges[access.name] for access in variable.writes if access.name in self._ranges]
            size = max((float(np.abs(end).max()) for range_ in written for end in range_.values()), default=0.0)
            sizes |= {access.value: size for access in variable.reads if access.graph.graph is self.graph}
        return sizes

    def largest(self, index: int) -> float:
        """Returns the largest absolute value of a tensor; 0 if it is unknown."""
        least, largest = self.ends(index) or (0.0, 0.0)
        return max(abs(least), abs(largest))


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


#: Why ops stay in floating point that a quotient or a suppression depends on.
COMPUTES_DIVISOR = "it computes a divisor, which may become 0 in integers"
PREPARES = "it prepares boxes or scores for a suppression, which computes in floating point"


def withheld_ops(model: Any, ranges: Ranges, bits: int) -> dict[str, str]:
    """Returns the ops of a model that no form of integers computes.

    Returns:
        The reasons, by the names of the ops' first results.
    """
    reasons: dict[str, str] = {}
    for number in range(len(model.subgraphs)):
        graph = _Tensors(model, number, ranges)
        made: dict[int, int] = {}  # the first result of the op that computes a tensor
        for op in graph.ops or ():
            kind, operands = graph.kind(op), [*map(int, op.inputs)]
            result = int(op.outputs[0]) if len(op.outputs) else -1
            if kind == "DIV" and graph.is_real(operands[1]) and _may_be_zero(graph.ends(operands[1])):
                reasons[graph.name(result)] = "its divisor may become 0 in integers"
                if operands[1] in made:
                    reasons[graph.name(made[operands[1]])] = COMPUTES_DIVISOR
            elif kind in _PRODUCTS and bits == 16 and graph.is_constant(operands[0]):
                reasons[graph.name(result)] = "LiteRT multiplies no constant of int8 with activations of int16"
            made |= dict.fromkeys(map(int, op.outputs), result)
        reasons |= dict.fromkeys(map(graph.name, _prepared(graph)), PREPARES)
    return reasons


def lacking_ops(model: Any, bits: int, no_integers: Collection[str]) -> dict[str, str]:
    """Returns the ops of a model whose integers the target has no kernel of.

    Args:
        model: The model, as the schema's objects.
        bits: The bits of activations.
        no_integers: The ops, with their integers, as in ``EXP int8``.

    Returns:
        The reason, by the names of the ops' first results.
    """
    return {
        graph.name(int(op.outputs[0])): f"the target has no kernel of it that takes int{bits}"
        for graph in editors_of(model)
        for op in graph.ops or ()
        if f"{graph.kind(op)} int{bits}" in no_integers and not takes_item(graph, op)
    }


def _prepared(graph: _Tensors) -> set[int]:
    """The first results of the ops that prepare what a suppression takes, there or in a loop."""
    makers = {int(result): op for op in graph.ops or () for result in op.outputs}
    begun: list[int] = []
    for op in graph.ops or ():
        operands = [*map(int, op.inputs)]
        if graph.kind(op) in _SUPPRESSION:
            begun += operands
        elif graph.kind(op) == "ADD" and any(_is_far(graph.data(operand)) for operand in operands):
            begun += [int(consumer.outputs[0]) for consumer in graph.consumers(int(op.outputs[0]))]
    results: set[int] = set()
    while begun:
        op = makers.get(begun.pop())
        positions = _PREPARING.get(graph.kind(op)) if op is not None else None
        if op is not None and positions is not None and int(op.outputs[0]) not in results:
            results.add(int(op.outputs[0]))
            begun += [*map(int, op.inputs[positions])]
    return results


def _is_far(data: Any | None) -> bool:
    """Whether these are the bytes of the constant that puts boxes far away."""
    return data is not None and bytes(data) == np.array(FAR, np.float32).tobytes()


def _may_be_zero(ends: tuple[float, float] | None) -> bool:
    """Whether a divisor may become 0, at which LiteRT's kernel stops, as small numbers do that samples lack."""
    if ends is None:
        return False
    least, most = ends
    return least <= 0 <= most or min(abs(least), abs(most)) < _SMALLEST * max(abs(least), abs(most))
