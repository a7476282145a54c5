"""Regions of a function: the ops that compute some values from others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from litefuse.fusions.recognizers.recurrent.loops import NotRecognized
from litefuse.ir.mlir import func, ir

__all__ = ["Region", "region_between", "region_of"]


@dataclass(frozen=True)
class Region:
    """Some ops of a function.

    Attributes:
        ops: All ops of the function.
        order: The position of each value's defining op.
        inside: The positions of the region's ops.
    """

    ops: Sequence[ir.OpView]
    order: dict[ir.Value, int]
    inside: frozenset[int]

    @property
    def last(self) -> int:
        """The position of its last op."""
        return max(self.inside)

    def position(self, op: ir.OpView | ir.Operation) -> int:
        """Returns the position of an op of the function; one without results is the function's return."""
        return self.order.get(op.results[0], len(self.ops)) if len(op.results) else len(self.ops) - 1

    def users(self, value: ir.Value) -> list[int]:
        """Returns the positions of the ops outside that use a value."""
        return [position for use in value.uses if (position := self.position(use.owner)) not in self.inside]

    def copy_into(self, copies: dict[ir.Value, ir.Value]) -> None:
        """Emits copies of the ops at the insertion point.

        Args:
            copies: The replacements of values from outside; filled with the copies of the region's values.
        """
        for index in sorted(self.inside):
            op = self.ops[index]
            copy = op.clone()
            for position, operand in enumerate(op.operands):
                copy.operands[position] = copies[operand]
            copies.update(zip(op.results, copy.results, strict=True))

    def erase_unused(self) -> None:
        """Erases those of its ops that have no uses left."""
        for index in sorted(self.inside, reverse=True):
            if not any(list(result.uses) for result in self.ops[index].results):
                self.ops[index].operation.erase()


def region_between(function: func.FuncOp, given: Iterable[ir.Value], results: Iterable[ir.Value]) -> Region:
    """Returns the ops that compute values from others.

    Raises:
        NotRecognized: They need other values too.
    """
    ops = list(function.entry_block.operations)
    return region_of(ops, {result: index for index, op in enumerate(ops) for result in op.results}, given, results)


def region_of(
    ops: Sequence[ir.OpView], order: dict[ir.Value, int], given: Iterable[ir.Value], results: Iterable[ir.Value]
) -> Region:
    """Returns the ops among those of a function that compute values from others.

    Args:
        ops: The ops of the function.
        order: The position of each value's defining op.
        given: The others.
        results: The values.

    Raises:
        NotRecognized: They need other values too.
    """
    found: set[int] = set()
    seen = set(given)
    waiting = list(results)
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        owner = value.owner
        if isinstance(owner, ir.Block):
            raise NotRecognized("it takes something that the formula does not")
        found.add(order[value])
        waiting += owner.operands
    return Region(ops, order, frozenset(found))
