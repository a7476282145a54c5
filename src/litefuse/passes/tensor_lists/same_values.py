"""Which values are the same variant at different moments: as made, and through calls, loops and branches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from litefuse.ir.call_graph import call_operands, callees, terminator_of
from litefuse.ir.mlir import func, ir
from litefuse.ir.types import is_variant
from litefuse.passes.tensor_lists.list_ops import PASSING, list_of, variant_items

__all__ = ["SameValues"]


class SameValues:
    """Groups of values, which grow together as it becomes known that they hold the same.

    Args:
        by_symbol: The module's functions, each with at most one caller.
    """

    def __init__(self, by_symbol: Mapping[str, func.FuncOp]) -> None:
        self._by_symbol = by_symbol
        self._leaders: dict[ir.Value, ir.Value] = {}

    def leader(self, value: ir.Value) -> ir.Value:
        """The value that stands for the group of this one, which may be new."""
        while self._leaders.setdefault(value, value) != value:
            self._leaders[value] = self._leaders[self._leaders[value]]
            value = self._leaders[value]
        return value

    def join(self, one: ir.Value, other: ir.Value) -> None:
        """Makes one group of those of two values."""
        self._leaders[self.leader(other)] = self.leader(one)

    def join_in(self, list_op: ir.OpView) -> None:
        """Joins the lists that are the same before and after an op."""
        if list_op.name in PASSING:
            for value in list_op.operands if list_op.name == "tf.AddN" else list_op.operands[:1]:
                self.join(value, list_op.results[0])
        else:
            self.leader(list_of(list_op))

    def join_through(self, call: ir.OpView) -> None:
        """Joins the variants that a call hands over, on both sides."""
        for first, *others in self._handed_over(call):
            for value in others:
                self.join(first, value)

    def join_items(self, list_ops: Iterable[ir.OpView]) -> dict[ir.Value, ir.Value]:
        """Joins the items of each list that are variants; call it after all else is joined.

        Returns:
            One item for the leader of each list that has such items.
        """
        pairs = [(list_of(op), item) for op in list_ops for item in variant_items(op)]
        while True:  # to join items that are lists is to join their items
            items: dict[ir.Value, ir.Value] = {}
            joined = False
            for holder, item in pairs:
                first = items.setdefault(self.leader(holder), item)
                if self.leader(first) != self.leader(item):
                    self.join(first, item)
                    joined = True
            if not joined:
                return items

    def groups(self) -> list[list[ir.Value]]:
        """The groups, each with all of its values."""
        found: dict[ir.Value, list[ir.Value]] = {}
        for value in list(self._leaders):
            found.setdefault(self.leader(value), []).append(value)
        return list(found.values())

    def _handed_over(self, op: ir.OpView) -> Iterator[list[ir.Value]]:
        """For each variant what the call gives, what its functions get and return, and what it results in."""
        called = [self._by_symbol[symbol] for symbol in callees(op) if symbol in self._by_symbol]
        for position, operand in enumerate(call_operands(op)):
            if is_variant(operand):
                yield [operand, *(function.entry_block.arguments[position] for function in called)]
        # The condition of a loop returns none.
        returning = called[1:] if op.name == "tf.While" else called
        for position, result in enumerate(op.results):
            if is_variant(result):
                returned = [terminator_of(function.entry_block).operands[position] for function in returning]
                loop = [called[1].entry_block.arguments[position]] if op.name == "tf.While" else []
                yield [result, *returned, *loop]
