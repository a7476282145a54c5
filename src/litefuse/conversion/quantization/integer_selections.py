"""Selections between integers, as those of masked layers, by ops that Vela has on the NPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from litefuse.conversion.quantization.recurrent.borders import drop_unused
from litefuse.litert.export.editor import GraphEditor, Scale

__all__ = ["limit_selections"]

# The ops that pass parts of a mask on.
_MOVING = frozenset({"RESHAPE", "STRIDED_SLICE"})
_LEAST, _LARGEST = -128, 127


def limit_selections(model: Any) -> bool:
    """Writes selections between int8 of one scale as limits, which let one of the two pass and none of the other::

        %p = select_v2(%m, 127, -128)
        %y = select_v2(%m[3], %a, %b)  -->   %n = select_v2(%m, -128, 127)
                                             %y = maximum(minimum(%a, %p[3]), minimum(%b, %n[3]))

    The integers are the same. Two limits for each scale are made of a whole mask: this is done where more than those
    selections are made of its parts, so that fewer are left.

    Args:
        model: The model, as the schema's objects.

    Returns:
        Whether it changed.
    """
    modified = False
    for number in range(len(model.subgraphs)):
        graph = _Graph(model, number)
        for whole, ops in graph.selections().items():
            scales = {graph.scale(op.outputs[0]) for op in ops}
            if len(ops) > 2 * len(scales):
                for op in ops:
                    graph.limit(op, whole)
                graph.drop_parts()
                modified = True
    if modified:
        drop_unused(model)
    return modified


class _Graph(GraphEditor):
    """A subgraph whose selections are rewritten."""

    def __init__(self, model: Any, graph: int) -> None:
        super().__init__(model, graph)
        self._producers = {int(index): op for op in self.ops for index in op.outputs}
        self._limits: dict[tuple[int, Scale, bool], int] = {}

    def selections(self) -> dict[int, list[Any]]:
        """Returns the selections between int8 of one scale, by the mask that their conditions are parts of."""
        found: dict[int, list[Any]] = {}
        for op in self.ops:
            values = [*map(int, op.inputs[1:]), int(op.outputs[0])] if self.kind(op) == "SELECT_V2" else []
            scales = {self.scale(value) for value in values}
            if len(scales) != 1 or None in scales or not all(self.is_type(value, "int8") for value in values):
                continue
            whole = int(op.inputs[0])
            while (part := self._part(whole)) is not None:
                whole = int(part.inputs[0])
            found.setdefault(whole, []).append(op)
        return found

    def limit(self, op: Any, whole: int) -> None:
        """Rewrites a selection."""
        mask, result = int(op.inputs[0]), int(op.outputs[0])
        scale = self.scale(result)
        assert scale is not None
        passed: list[int] = []
        for value, first in zip(map(int, op.inputs[1:]), (True, False), strict=True):
            limit = self._limit(op, mask, whole, scale, first=first)
            shape = np.broadcast_shapes(self.shape(value), self.shape(limit))
            passed.append(self.add_tensor(f"{self.name(result)}_{'then' if first else 'else'}", shape, "int8", scale))
            self.set_version(self.add_op(op, "MINIMUM", [value, limit], passed[-1:]), 2)
        self.set_version(self.add_op(op, "MAXIMUM", passed, [result]), 2)
        self.remove_op(op)

    def drop_parts(self) -> None:
        """Removes the parts of masks that nothing takes anymore."""
        for op in reversed([*self.ops]):
            result = int(op.outputs[0]) if len(op.outputs) else -1
            if self._part(result) is op and not self.is_output(result) and not any(self.consumers(result)):
                self.remove_op(op)

    def _part(self, index: int) -> Any | None:
        """Returns the op that takes a part of a mask."""
        op = self._producers.get(index)
        return op if op is not None and self.kind(op) in _MOVING and self.is_type(index, "bool") else None

    def _limit(self, op: Any, mask: int, whole: int, scale: Scale, *, first: bool) -> int:
        """Returns the largest number where a mask, or where its negation, is true; the least one elsewhere."""
        key = (mask, scale, first)
        if key in self._limits:
            return self._limits[key]
        name = f"{self.name(mask)}_{'then' if first else 'else'}"
        limit = self._limits[key] = self.add_tensor(name, self.shape(mask), "int8", scale)
        if mask == whole:
            numbers = (_LARGEST, _LEAST) if first else (_LEAST, _LARGEST)
            constants = [self.add_constant(f"{name}/{number}", np.array(number, np.int8), scale) for number in numbers]
            before = self.after(self._producers[whole]) if whole in self._producers else self.ops[0]
            self.add_op(before, "SELECT_V2", [whole, *constants], [limit])
        else:
            part = self._producers[mask]
            source = self._limit(op, int(part.inputs[0]), whole, scale, first=first)
            taken = self.add_op(op, "RESHAPE", [source, *part.inputs[1:]], [limit])
            taken.opcodeIndex = part.opcodeIndex
            taken.builtinOptions, taken.builtinOptionsType = part.builtinOptions, part.builtinOptionsType
        return limit
