"""Quotients, and functions that are written as one: softmax, the logistic function, means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from litefuse.ir.mlir import ir
from litefuse.ir.tensors import equal, select
from litefuse.passes.stablehlo.rules.broadcasting import elementwise, of_numbers, on_elements
from litefuse.passes.stablehlo.translation import Result, Rules, Translation
from litefuse.passes.stablehlo.values import Value, operands_of


def divide(op: Any, t: Translation) -> Result:
    """Translates ``stablehlo.divide``."""
    a, b = op.operands
    dtype = t.dtype(a)
    followed = on_elements(t, "divide", t.elements(a), t.elements(b), dtype)
    if followed is not None:
        return followed
    recognized = (recognize(t, a, b) for recognize in (_sigmoid, _softmax, _mean, _pooled_mean))
    normalized = of_numbers(t, op, "divide") or next(filter(None, recognized), None)
    if normalized is not None:
        return normalized
    if "int" not in dtype:
        return elementwise(t, op.operands, lambda x, y: x / y)
    return _of_integers(op, t, "FloorDiv" if dtype.startswith("uint") else "TruncateDiv", lambda _: -1)


def _of_integers(op: Any, t: Translation, name: str, by_zero: Callable[[ir.Value], ir.Value | int]) -> Result:
    """Divides integers, also by 0, which LiteRT refuses in the middle of a call: XLA then has all bits set, or x."""
    b, guarded = t.b, not _is_never_zero(t, op.operands[1])

    def emit(x: ir.Value, y: ir.Value) -> ir.Value:
        dtype = b.dtype(x)
        if dtype in {"int16", "int8"}:  # TensorFlow divides no such numbers
            x, y = b.cast(x, "int32"), b.cast(y, "int32")
        if not guarded:
            return b.cast(b.binary(name, x, y), dtype)
        nothing = equal(y, 0)
        quotient = b.binary(name, x, select(nothing, 1, y))
        zero = by_zero(x)
        filler = zero if isinstance(zero, ir.Value) else b.constant(np.array(zero).astype(b.dtype(x)), b.dtype(x))
        return b.cast(select(nothing, filler, quotient), dtype)

    return elementwise(t, op.operands, emit)


def _is_never_zero(t: Translation, value: ir.Value) -> bool:
    """Whether no element is 0: it is known, or replaced where it is 0, as ``jnp.remainder`` does."""
    number, numbers = t.number(value), t.numbers(value)
    if number is not None or numbers is not None:
        return bool(number if numbers is None else numbers.all())
    chosen = operands_of(value, "select")
    compared = operands_of(chosen[0], "compare") if chosen else []
    return bool(compared and compared[0] == chosen[2] and t.number(compared[1]) == 0 and t.number(chosen[1]))


def _sigmoid(t: Translation, a: ir.Value, b: ir.Value) -> Result | None:
    """Recognizes ``1 / (1 + exp(-x))``, as JAX expands the logistic function."""
    if t.number(a) != 1:
        return None
    terms = operands_of(b, "add")
    others = [term for term in terms if t.number(term) != 1]
    if len(terms) != 2 or len(others) != 1:
        return None
    for negative in operands_of(others[0], "exponential"):
        for x in operands_of(negative, "negate"):
            return elementwise(t, [x], lambda value: t.b.unary("Sigmoid", value))
    return None


def _mean(t: Translation, a: ir.Value, b: ir.Value) -> Result | None:
    """Recognizes a sum divided by the number of its terms."""
    reduction = t.lazy(a).reduction
    if reduction is None or reduction.name != "Sum" or "float" not in t.dtype(a):
        return None
    count = reduction.count(t.b)
    if count is None or t.number(b) != count:
        return None
    mean = replace(reduction, name="Mean")
    return Value(lambda: mean.emit(t.b), reduction=mean)


def _pooled_mean(t: Translation, a: ir.Value, b: ir.Value) -> Result | None:
    """Recognizes sums of windows divided by the number of their elements."""
    pool, divisor = t.lazy(a).pool, t.lazy(b)
    if pool is None:
        return None
    while divisor.spread is not None:
        divisor = divisor.spread.small
    counted = divisor.pool
    if counted is not None and counted.windows == pool.windows and t.number(counted.operand) == 1:
        return pool.average()
    number = t.number(b)
    return pool.average() if pool.count is not None and number == pool.count else None


def remainder(op: Any, t: Translation) -> Result:
    """Translates ``stablehlo.remainder``."""
    a, b = op.operands
    followed = on_elements(t, "remainder", t.elements(a), t.elements(b), t.dtype(a))
    if followed is not None:
        return followed
    name = "FloorMod" if t.dtype(a).startswith("uint") else "TruncateMod"
    if "int" not in t.dtype(a):
        return elementwise(t, op.operands, lambda x, y: t.b.binary(name, x, y))
    return _of_integers(op, t, name, lambda x: x)


RULES: Rules = {"stablehlo.divide": divide, "stablehlo.remainder": remainder}


def _softmax(t: Translation, numerator: ir.Value, denominator: ir.Value) -> Result | None:
    """Recognizes ``exp(x - c) / sum(exp(x - c))`` along the last dimension, where ``c`` is the same along it."""
    exponents = operands_of(numerator, "exponential")
    if not exponents:
        return None
    repeated = t.lazy(denominator).spread
    total = None if repeated is None else repeated.small.reduction
    last = len(t.shape(numerator)) - 1
    if total is None or total.name != "Sum" or total.axes != (last,) or not total.keep_dims:
        return None
    if total.operand != t.value(numerator) or t.dtype(numerator) != "float32":
        return None
    (shifted,) = exponents
    difference = operands_of(shifted, "subtract")
    if difference:
        offset = t.lazy(difference[1]).spread
        if offset is not None and _is_one(t, offset.small.emit()):
            shifted = difference[0]
    return t.b.unary("Softmax", t.value(shifted))


def _is_one(t: Translation, value: ir.Value) -> bool:
    """Whether a value has one element along its last dimension, or is a scalar."""
    shape = t.b.shape(value)
    return not shape or shape[-1] == 1
