"""Powers as products."""

from __future__ import annotations

from litefuse.ir.constants import splat_number, stored
from litefuse.ir.litert_ops import arithmetic
from litefuse.ir.mlir import ir
from litefuse.ir.passes import module_pass, visit_ops

_EXPONENTS = frozenset({2, 3, 4})


@module_pass
def expand_powers(module: ir.Module) -> bool:
    """Replaces powers by products, as POW computes a logarithm and an exponential per element, and is not delegated::

        %y = tfl.pow(%x, 3.0)   -->   %s = tfl.mul(%x, %x)
                                      %y = tfl.mul(%s, %x)

    It runs after the engine, which recognizes GELU by its cube.
    """
    return visit_ops(module, {"tfl.pow": _expanded})


def _exponent(op: ir.OpView) -> int | None:
    """Returns the exponent if it is the same small integer for all elements."""
    elements = stored(op.operands[1])
    number = None if elements is None else splat_number(elements)
    if number is None or number not in _EXPONENTS or op.operands[0].type != op.results[0].type:
        return None
    return int(number)


def _expanded(op: ir.OpView) -> ir.Value | None:
    exponent = _exponent(op)
    if exponent is None:
        return None
    x, kind = op.operands[0], op.results[0].type
    product = arithmetic("tfl.mul", x, x, kind)
    if exponent > 2:
        product = arithmetic("tfl.mul", product, x if exponent == 3 else product, kind)
    return product
