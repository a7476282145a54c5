"""Emits the ops that compute a size from its formula."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from litefuse.ir.builder import Builder, MixedSize
from litefuse.ir.ops.dims import Dim, Operation, Symbol, broadcast_members, symbol_in, unknown
from litefuse.passes.tensor_lists.op_results import Number, SizeOf

__all__ = ["emit"]

_OPS = {
    "floordiv": "FloorDiv",
    "maximum": "Maximum",
    "minimum": "Minimum",
    "mod": "FloorMod",
    "product": "Mul",
}


def emit(size: Dim, b: Builder) -> MixedSize:
    """Emits the ops that compute a formula: a number, or an int32 scalar."""
    size = _as_one_quotient(size)
    if isinstance(size, int):
        return size
    number = dict(size.terms).get((), 0)
    total: MixedSize | None = None
    for symbols, factor in size.terms:
        if symbols and factor > 0:
            term = _product(symbols, factor, b)
            total = term if total is None else b.dims("AddV2", total, term)
    if total is None:
        total, number = number, 0
    for symbols, factor in size.terms:
        if symbols and factor < 0:
            total = b.dims("Sub", total, _product(symbols, -factor, b))
    return b.dims("AddV2", total, number) if number else total


def _as_one_quotient(size: Dim) -> Dim:
    """``(a + n b) // b`` for ``a // b + n``, which takes an op more."""
    number = 0 if isinstance(size, int) else dict(size.terms).get((), 0)
    match symbol_in(size - number):
        case Symbol(name=Operation("floordiv", (a, int() as b))) if number:
            return (a + number * b) // b
        case _:
            return size


def _product(symbols: Iterable[Symbol], factor: int, b: Builder) -> MixedSize:
    return b.product([factor, *(_symbol(symbol, b) for symbol in symbols)])


def _symbol(symbol: Symbol, b: Builder) -> MixedSize:
    match symbol.name:
        case SizeOf(value, axis):
            return b.size(value, axis)
        case Number(value, index):
            return b.cast(value if index is None else b.element(value, index), "int32")
        case Operation(operator, operands):
            if operator == "broadcast":  # sizes of 1 are broadcast; 0 and 1 together do not occur
                operands, operator = broadcast_members(unknown(symbol.name, is_size=symbol.is_size)), "maximum"
            return reduce(lambda a, c: b.dims(_OPS[operator], a, c), [emit(operand, b) for operand in operands])
        case _:
            raise TypeError(symbol.name)
