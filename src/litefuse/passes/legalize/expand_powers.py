"""Powers as products."""

from __future__ import annotations

from typing import ClassVar

from litefuse.ir.call_graph import all_operations
from litefuse.ir.constants import splat_number, stored
from litefuse.ir.litert_ops import arithmetic
from litefuse.ir.mlir import ir

__all__ = ["ExpandPowers"]

_EXPONENTS = frozenset({2, 3, 4})


class ExpandPowers:
    """Replaces powers by products, as POW computes a logarithm and an exponential per element, and is not delegated::

        %y = tfl.pow(%x, 3.0)   -->   %s = tfl.mul(%x, %x)
                                      %y = tfl.mul(%s, %x)

    It runs after the engine, which recognizes GELU by its cube.
    """

    name: ClassVar[str] = "expand-powers"

    def run(self, module: ir.Module) -> bool:
        powers = [op for op in all_operations(module) if op.name == "tfl.pow"]
        expanded = [_expand(op) for op in powers]
        return any(expanded)


def _exponent(op: ir.OpView) -> int | None:
    """Returns the exponent if it is the same small integer for all elements."""
    elements = stored(op.operands[1])
    number = None if elements is None else splat_number(elements)
    if number is None or number not in _EXPONENTS or op.operands[0].type != op.results[0].type:
        return None
    return int(number)


def _expand(op: ir.OpView) -> bool:
    exponent = _exponent(op)
    if exponent is None:
        return False
    x, kind = op.operands[0], op.results[0].type
    with ir.InsertionPoint(op), op.location:
        product = arithmetic("tfl.mul", x, x, kind)
        if exponent > 2:
            product = arithmetic("tfl.mul", product, x if exponent == 3 else product, kind)
    op.results[0].replace_all_uses_with(product)
    op.operation.erase()
    return True
