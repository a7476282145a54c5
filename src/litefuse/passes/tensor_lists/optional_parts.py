"""One optional for each kind of value, where one stands for different things in different branches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from litefuse.ir.call_graph import call_operands, is_call, operations
from litefuse.ir.mlir import func, ir
from litefuse.ir.op_creation import create_like, create_value
from litefuse.passes.tensor_lists.list_ops import NONE
from litefuse.passes.tensor_lists.optional_groups import GET, SOME, OptionalGroup

__all__ = ["separate_kinds"]


def separate_kinds(by_symbol: Mapping[str, func.FuncOp], groups: Sequence[OptionalGroup]) -> bool:
    """Hands on one optional for each kind of value that an optional may hold, all but one of them nothing::

        %o = tf.OptionalFromValue(%x)          %o = tf.OptionalFromValue(%x)
        return %o                         -->  %p = tf.OptionalNone()
                                               return %o, %p

    Lists of such optionals become several lists, too.

    Args:
        by_symbol: The module's functions, each with at most one caller; their types are left as they are.
        groups: The optionals.

    Returns:
        Whether there was anything to do.
    """
    counts: dict[ir.Value, int] = {}
    which: dict[ir.Value, int] = {}
    for group in groups:
        if len(group.kinds) > 1:
            counts |= dict.fromkeys([*group.values, *group.lists], len(group.kinds))
            for number, ops in enumerate(group.kinds.values()):
                which |= dict.fromkeys((op.results[0] for op in ops), number)
    if counts:
        _Separation(by_symbol, counts, which).run()
    return bool(counts)


class _Separation:
    def __init__(
        self, by_symbol: Mapping[str, func.FuncOp], counts: dict[ir.Value, int], which: Mapping[ir.Value, int]
    ) -> None:
        self._by_symbol = by_symbol
        self._counts = counts
        self._which = which
        self._parts: dict[ir.Value, list[ir.Value]] = {}

    def run(self) -> None:
        for function in self._by_symbol.values():
            if function.is_external:
                continue
            block = function.entry_block
            for argument in list(block.arguments):
                others = range(1, self._counts.get(argument, 1))
                if others:
                    self._parts[argument] = [
                        argument,
                        *(block.add_argument(argument.type, function.location) for _ in others),
                    ]
        for function in self._by_symbol.values():
            for op in operations(function):
                with ir.InsertionPoint(op), op.location:
                    self._separate(op)

    def _separate(self, op: ir.OpView) -> None:
        touched = any(value in self._counts for value in [*op.operands, *op.results])
        if not touched:
            return
        if op.name == SOME:
            parts = [_nothing(op.results[0].type) for _ in range(self._counts[op.results[0]] - 1)]
            parts.insert(self._which[op.results[0]], op.results[0])
            self._parts[op.results[0]] = parts
        elif op.name == GET:
            op.operands[0] = self._parts[op.operands[0]][self._which[op.results[0]]]
        elif is_call(op) or op.name == "func.return":
            self._call(op)
        else:
            self._copy(op)

    def _call(self, op: ir.OpView) -> None:
        """Hands all parts over, the first in the place of the optional and the others behind everything else."""
        operands = [self._first(value) for value in op.operands]
        handed = list(op.operands) if op.name == "func.return" else call_operands(op)
        operands += [part for value in handed for part in self._parts.get(value, ())[1:]]
        separate = [result for result in op.results if result in self._counts]
        kinds = [result.type for result in op.results]
        kinds += [result.type for result in separate for _ in range(1, self._counts[result])]
        new = create_like(op, operands, kinds)
        others = iter(list(new.results)[len(op.results) :])
        for old, result in zip(op.results, new.results, strict=False):
            if old in self._counts:
                self._counts[result] = self._counts[old]
                self._parts[result] = [result, *(next(others) for _ in range(1, self._counts[old]))]
            old.replace_all_uses_with(result)
        op.operation.erase()

    def _copy(self, op: ir.OpView) -> None:
        """One op for each part: of lists of optionals, and of nothing."""
        count = max(self._counts.get(value, 1) for value in [*op.operands, *op.results])
        copies = [op, *(op.operation.clone(ip=ir.InsertionPoint(op)).opview for _ in range(1, count))]
        operands = list(op.operands)
        for number, copy in enumerate(copies):
            for position, value in enumerate(operands):
                if value in self._parts:
                    copy.operands[position] = self._parts[value][number]
        for position, result in enumerate(op.results):
            if result in self._counts:
                self._parts[result] = [copy.results[position] for copy in copies]

    def _first(self, value: ir.Value) -> ir.Value:
        return self._parts[value][0] if value in self._parts else value


def _nothing(kind: ir.Type) -> ir.Value:
    return create_value(NONE, kind)
