"""Normalizations in their shortest form, with factors and summands where the next product can take them."""

from __future__ import annotations

from litefuse.ir.constants import CONSTANTS
from litefuse.ir.litert_ops import arithmetic
from litefuse.ir.mlir import ir, producer
from litefuse.ir.passes import module_pass, visit_ops
from litefuse.ir.purity import erase_unused, operand_owners, replace_op


@module_pass
def center_first(module: ir.Module) -> bool:
    """Subtracts the mean first, and multiplies with constants last, where Keras normalizes by one factor::

        %f = tfl.mul(%r, %gamma)                                   %c = tfl.sub(%x, %m)
        %o = tfl.sub(%beta, tfl.mul(%m, %f))               -->     %n = tfl.mul(%c, %r)
        %y = tfl.add(tfl.mul(%x, %f), %o)                          %y = tfl.add(tfl.mul(%n, %gamma), %beta)

    ``%m`` is a mean of ``%x``. What follows takes gamma and beta into its weights. The difference of two close numbers
    is computed before both are multiplied, which loses fewer digits.
    """
    return visit_ops(module, {"tfl.add": _centered})


def _factors(value: ir.Value) -> list[tuple[ir.Value, ir.Value]]:
    """Returns the operands of a product that is read once, in both orders."""
    op = _read_once(value, "tfl.mul")
    return [] if op is None else [(op.operands[0], op.operands[1]), (op.operands[1], op.operands[0])]


def _read_once(value: ir.Value, name: str) -> ir.Operation | ir.OpView | None:
    """Returns the op of a name that makes a value which is read once."""
    op = producer(value, name)
    single = op is not None and len(list(value.uses)) == 1 and isinstance(value.type, ir.RankedTensorType)
    plain = op is not None and ir.StringAttr(op.attributes["fused_activation_function"]).value == "NONE"
    return op if single and plain else None


def _centered(op: ir.OpView) -> bool:
    result = _recentered(op)
    if result is not None:
        owners = operand_owners(op)
        replace_op(op, [result])
        erase_unused(owners)
    return result is not None


def _recentered(op: ir.OpView) -> ir.Value | None:
    if ir.StringAttr(op.attributes["fused_activation_function"]).value != "NONE":
        return None
    for scaled, offset in (list(op.operands), list(op.operands)[::-1]):
        difference = _read_once(offset, "tfl.sub")
        if difference is None:
            continue
        for value, factor in _factors(scaled):
            for mean, same in _factors(difference.operands[1]):
                averaging = producer(mean, "tfl.mean")
                if same == factor and averaging is not None and averaging.operands[0] == value:
                    return _shortest(op, value, mean, factor, difference.operands[0])
    return None


def _shortest(op: ir.OpView, value: ir.Value, mean: ir.Value, factor: ir.Value, summand: ir.Value) -> ir.Value | None:
    kind = op.results[0].type
    if value.type != kind:
        return None
    factors = [factor]
    scale = producer(factor, "tfl.mul")
    if scale is not None and len(list(factor.uses)) == 2 and producer(scale.operands[1], *CONSTANTS) is not None:
        factors = list(scale.operands)
    result = arithmetic("tfl.sub", value, mean, kind)
    for one in factors:
        result = arithmetic("tfl.mul", result, one, kind)
    return arithmetic("tfl.add", result, summand, kind)
