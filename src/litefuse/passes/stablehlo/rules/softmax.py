"""Recognizes an expanded softmax."""

from __future__ import annotations

from litefuse.ir.mlir import ir
from litefuse.passes.stablehlo.translation import Result, Translation

__all__ = ["softmax"]


def softmax(t: Translation, numerator: ir.Value, denominator: ir.Value) -> Result | None:
    """Recognizes ``exp(x - c) / sum(exp(x - c))`` along the last dimension, where ``c`` is the same along it.

    Returns:
        The Softmax op; None for another quotient.
    """
    exponential = numerator.owner
    if isinstance(exponential, ir.Block) or exponential.name != "stablehlo.exponential":
        return None
    repeated = t.lazy(denominator).spread
    total = None if repeated is None else repeated.small.reduction
    last = len(t.shape(numerator)) - 1
    if total is None or total.name != "Sum" or total.axes != (last,) or not total.keep_dims:
        return None
    if total.operand != t.value(numerator) or t.dtype(numerator) != "float32":
        return None
    shifted = exponential.operands[0]
    difference = shifted.owner
    if not isinstance(difference, ir.Block) and difference.name == "stablehlo.subtract":
        offset = t.lazy(difference.operands[1]).spread
        if offset is not None and _is_one(t, offset.small.emit()):
            shifted = difference.operands[0]
    return t.b.unary("Softmax", t.value(shifted))


def _is_one(t: Translation, value: ir.Value) -> bool:
    """Whether a value has one element along its last dimension, or is a scalar."""
    shape = t.b.shape(value)
    return not shape or shape[-1] == 1
