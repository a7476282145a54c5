"""Detection of masks, which integers cannot represent: for a range from -1e9 to 5, one int8 step covers -4e6 to 5.

Attention, for example, adds -1e9 to the scores of padding, or replaces them by it, so that SOFTMAX makes them 0. Masked
tensors stay float32 until the masks are gone: SOFTMAX returns numbers from 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from litefuse.conversion.quantization.calibration import Ranges
from litefuse.litert.runtime.schema_objects import dtype_of, op_names, tensor_name

__all__ = ["masked_tensors"]

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
