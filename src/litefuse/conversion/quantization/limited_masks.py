"""Masks of attention that integers can represent.

For a range from -1e9 to 5, one int8 step covers -4e6 to 5. But SOFTMAX only needs masked scores so far below the others
that what is left of them rounds to 0: the constants that masks are made of become as small as that.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping
from typing import Any

import numpy as np

from litefuse.conversion.quantization.calibration import Ranges
from litefuse.conversion.quantization.integer_rules import MOVING
from litefuse.litert.export.editor import GraphEditor
from litefuse.litert.runtime.schema_objects import made

# What puts masks among numbers.
_MASKING = frozenset({"ADD", "SELECT", "SELECT_V2", "SUB"})
# A constant is part of a mask if it is at least this large.
_LARGE = 1000.0
# How many scores an axis of unknown size is taken to have.
_MANY = 1024


def limit_masks(model: Any, ranges: Ranges, bits: int, kept: Container[str]) -> bool:
    """Makes the constants of masks small, where all that is masked goes through SOFTMAX; returns whether there are any.

    Args:
        model: The model in floating point, as the schema's objects.
        ranges: The ranges of its tensors.
        bits: The bits of activations.
        kept: The names of results whose ops stay in floating point.
    """
    changed = False
    for number in sorted({int(signature.subgraphIndex) for signature in model.signatureDefs or ()}):
        graph = _Masks(model, number, ranges)
        limit = graph.limit(bits, kept)
        if limit is not None:
            for index, value in graph.constants.items():
                tensor = graph.tensor(index)
                tensor.buffer = len(model.buffers)
                small = np.clip(np.nan_to_num(value), -limit, limit).astype(np.float32)
                model.buffers.append(made("Buffer", data=np.frombuffer(small.tobytes(), np.uint8)))
            changed = True
    return changed


class _Masks(GraphEditor):
    """A subgraph with what its masks are made of.

    Attributes:
        constants: The large constants, with their values.
    """

    def __init__(self, model: Any, number: int, ranges: Ranges) -> None:
        super().__init__(model, number)
        self._ranges = ranges
        self.constants = {
            int(index): value
            for op in self.ops or ()
            for index in op.inputs
            if _is_large(value := self._value(int(index)))
        }

    def _value(self, index: int) -> Any:
        return self.constant(index) if index >= 0 and self.is_type(index, "float32") else None

    def limit(self, bits: int, kept: Container[str]) -> float | None:
        """Returns how large a mask must be; None if there are none, or not all of them end at SOFTMAX."""
        masked, largest, scores = {*self.constants}, 0.0, 0
        for op in self.ops or ():
            taken = [index for index in map(int, op.inputs) if index in masked]
            if not taken:
                continue
            kind, result = self.kind(op), int(op.outputs[0]) if len(op.outputs) else -1
            if result < 0 or self.name(result) in kept:
                return None
            if kind == "SOFTMAX":
                scores = max(scores, self.shape(result)[-1] if self.shape(result)[-1] > 0 else _MANY)
                continue
            others = [index for index in map(int, op.inputs) if index not in masked and self.is_type(index, "float32")]
            ends = [self._ends(index) for index in others]
            if None in ends or self.is_output(result):
                return None
            if kind in _MASKING:
                for least, most in filter(None, ends):
                    largest = max(largest, abs(least), abs(most), most - least)
            elif kind == "MUL":  # of what is 0 or 1
                if len(taken) != 1 or any(max(map(abs, end or ())) != 1 for end in ends):
                    return None
            elif kind not in MOVING or MOVING[kind].handed_on not in {"all", "parts"} or len(op.outputs) > 1:
                return None
            masked.add(result)
        return largest + math.log(2**bits * scores) if scores else None

    def _ends(self, index: int) -> tuple[float, float] | None:
        value = self._value(index)
        if value is not None:
            return (float(value.min()), float(value.max())) if value.size else None
        range_: Mapping[str, Any] | None = self._ranges.get(self.name(index))
        ends = None if range_ is None else (float(range_["min"][0]), float(range_["max"][0]))
        return ends if ends is not None and max(map(abs, ends)) < _LARGE else None


def _is_large(value: Any) -> bool:
    return value is not None and value.size > 0 and bool(np.abs(value).max() >= _LARGE)
