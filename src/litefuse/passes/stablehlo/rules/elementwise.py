"""Elementwise ops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from litefuse.errors import GraphError
from litefuse.ir.mlir import ir
from litefuse.ir.tensors import Tensor, floor, maximum, minimum, not_equal, select, sign, square
from litefuse.passes.stablehlo.rules.bits import are_disjoint
from litefuse.passes.stablehlo.rules.broadcasting import ON_COMPARED, elementwise, number_value, of_numbers, on_elements
from litefuse.passes.stablehlo.rules.functions import recognized
from litefuse.passes.stablehlo.translation import Result, Rule, Rules, Translation
from litefuse.passes.stablehlo.values import dims_of, elements_of, elements_value, known_numbers

_UNARY = {
    "ceil": "Ceil",
    "cosine": "Cos",
    "exponential": "Exp",
    "exponential_minus_one": "Expm1",
    "floor": "Floor",
    "log": "Log",
    "log_plus_one": "Log1p",
    "logistic": "Sigmoid",
    "round_nearest_even": "Rint",
    "rsqrt": "Rsqrt",
    "sign": "Sign",
    "sine": "Sin",
    "sqrt": "Sqrt",
    "tan": "Tan",
    "tanh": "Tanh",
}
"""TensorFlow's op for each StableHLO op that keeps shape and dtype."""

_BINARY = {"atan2": "Atan2", "power": "Pow", "subtract": "Sub"}
_LOGICAL = {
    "add": "LogicalOr",
    "and": "LogicalAnd",
    "maximum": "LogicalOr",
    "minimum": "LogicalAnd",
    "multiply": "LogicalAnd",
    "or": "LogicalOr",
}
_NUMERICAL = {
    "add": "AddV2",
    "and": "BitwiseAnd",
    "maximum": "Maximum",
    "minimum": "Minimum",
    "multiply": "Mul",
    "or": "BitwiseOr",
    "xor": "BitwiseXor",
}
_COMPARISONS = {"EQ": "Equal", "NE": "NotEqual", "LT": "Less", "LE": "LessEqual", "GT": "Greater", "GE": "GreaterEqual"}


def _unary(name: str) -> Rule:
    return lambda op, t: elementwise(t, op.operands, lambda x: t.b.unary(name, x))


def _binary(hlo: str) -> Rule:
    def rule(op: Any, t: Translation) -> Result:
        a, b = op.operands
        followed = on_elements(t, hlo, t.elements(a), t.elements(b), t.dtype(a))
        if followed is not None:
            return followed
        if t.dtype(a) == "bool":
            return elementwise(t, op.operands, lambda x, y: _logical(t, hlo, x, y))
        if hlo == "multiply" and a == b and not _is_part_of_cube(op):
            return elementwise(t, [a], square)
        if hlo == "or" and are_disjoint(t, a, b):  # LiteRT has XOR, and no OR
            return elementwise(t, op.operands, lambda x, y: x ^ y)
        plain = of_numbers(t, op, hlo) or _without_effect(t, hlo, a, b)
        if plain is not None:
            return plain
        return elementwise(t, op.operands, lambda x, y: t.b.binary(_BINARY.get(hlo) or _NUMERICAL[hlo], x, y))

    return rule


def _is_part_of_cube(op: Any) -> bool:
    """Whether a square is multiplied by its root: the engine matches these products as part of a GELU."""
    root = op.operands[0]
    users = [use.owner for use in op.results[0].uses]
    return any(user.operation.name == "stablehlo.multiply" and root in list(user.operands) for user in users)


def _logical(t: Translation, hlo: str, x: ir.Value, y: ir.Value) -> ir.Value:
    if hlo == "xor":
        return not_equal(x, y)
    return t.b.binary(_LOGICAL[hlo], x, y)


def _without_effect(t: Translation, hlo: str, a: ir.Value, b: ir.Value) -> Result | None:
    """Handles forms that have a special op, or need none."""
    for x, y in ((a, b), (b, a)):
        if hlo == "add" and t.number(y) == 0:
            return t.lazy(x)
        if hlo in {"maximum", "minimum"} and "float" in t.dtype(x):
            number = t.number(y)
            if number == (-math.inf if hlo == "maximum" else math.inf):
                return t.lazy(x)
            if number == 0 and hlo == "maximum":
                return elementwise(t, [x], lambda value: t.b.unary("Relu", value))
    return None


def _compare(op: Any, t: Translation) -> Result:
    direction = t.direction(op)
    a, b = (known_numbers(t.elements(operand)) for operand in op.operands)
    if a is not None and b is not None and a.shape == b.shape:
        pairs = zip(a.reshape(-1).tolist(), b.reshape(-1).tolist(), strict=True)
        return elements_value(t.b, elements_of((int(ON_COMPARED[direction](x, y)) for x, y in pairs), a.shape), "bool")
    if t.dtype(op.operands[0]) == "bool" and direction not in {"EQ", "NE"}:
        return elementwise(t, op.operands, lambda x, y: _compared_conditions(t, direction, x, y))
    return elementwise(t, op.operands, lambda x, y: t.b.compare(_COMPARISONS[direction], x, y))


def _compared_conditions(t: Translation, direction: str, x: Tensor, y: Tensor) -> Tensor:
    """Emits a comparison in which true is larger than false."""
    if direction.startswith("L"):
        x = ~x
    else:
        y = ~y
    return t.b.binary("LogicalOr" if direction.endswith("E") else "LogicalAnd", x, y)


def _negate(op: Any, t: Translation) -> Result:
    if t.dtype(op.operands[0]).startswith("u"):
        return elementwise(t, op.operands, lambda x: 0 - x)
    return elementwise(t, op.operands, lambda x: -x)


def _select(op: Any, t: Translation) -> Result:
    condition, a, b = op.operands
    chosen = known_numbers(t.elements(condition))
    if chosen is not None and chosen.size and (chosen == chosen.flat[0]).all():
        return t.lazy(a if chosen.flat[0] else b)
    first, second = t.elements(a), t.elements(b)
    if chosen is not None and first is not None and second is not None and chosen.shape == first.shape:
        pairs = zip(chosen.reshape(-1).tolist(), dims_of(first), dims_of(second), strict=True)
        return elements_value(t.b, elements_of((x if which else y for which, x, y in pairs), first.shape), t.dtype(a))
    function = recognized(t, op.results[0])
    if function is not None:
        return function
    return elementwise(t, op.operands, t.b.select)


def _clamp(op: Any, t: Translation) -> Result:
    low, value, high = op.operands
    least, x, most = (t.elements(limit) for limit in (low, value, high))
    if least is not None and x is not None and most is not None:
        shape = x.shape
        limits = [np.broadcast_to(limit, shape) for limit in (least, most)]
        inside = [
            minimum(maximum(dim, start), end)
            for dim, start, end in zip(dims_of(x), dims_of(limits[0]), dims_of(limits[1]), strict=True)
        ]
        return elements_value(t.b, elements_of(inside, shape), t.dtype(value))
    if t.number(low) == 0 and t.number(high) == 6 and "float" in t.dtype(value):
        return elementwise(t, [value], lambda x: t.b.unary("Relu6", x))
    return elementwise(t, op.operands, lambda least, x, most: minimum(maximum(x, least), most))


def _convert(op: Any, t: Translation) -> Result:
    (operand,), (result,) = op.operands, op.results
    elements, dtype = t.elements(operand), t.dtype(result)
    if elements is not None and ("int" in dtype or dtype == "bool"):
        if dtype != "bool":
            return elements_value(t.b, elements, dtype)
        numbers = known_numbers(elements)
        if numbers is not None:
            conditions = [int(integer != 0) for integer in numbers.reshape(-1).tolist()]
            return elements_value(t.b, elements_of(conditions, numbers.shape), dtype)
    if t.dtype(operand) == dtype:
        return t.lazy(operand)
    number = t.number(operand) if dtype == "float32" and not t.shape(operand) else None
    if number is not None:
        return number_value(t, number)
    if t.dtype(operand).startswith("float8"):
        return t.b.cast(t.value(operand), dtype)
    return elementwise(t, [operand], lambda x: t.b.cast(x, dtype))


def _not(op: Any, t: Translation) -> Result:
    numbers = known_numbers(t.elements(op.operands[0]))
    if t.dtype(op.operands[0]) == "bool":
        if numbers is not None:
            return elements_value(
                t.b,
                elements_of((int(not condition) for condition in numbers.reshape(-1).tolist()), numbers.shape),
                "bool",
            )
        return elementwise(t, op.operands, lambda x: ~x)
    return elementwise(t, op.operands, lambda x: t.b.unary("Invert", x))


def _cbrt(op: Any, t: Translation) -> Result:
    def emit(x: Tensor) -> Tensor:
        root = t.b.binary("Pow", abs(x), 1 / 3)
        return sign(x) * root

    return elementwise(t, op.operands, emit)


def _round_away(op: Any, t: Translation) -> Result:
    def emit(x: Tensor) -> Tensor:
        whole = floor(abs(x))
        rest = abs(x) - whole
        up = t.b.cast(rest >= 0.5, t.b.dtype(x))
        return sign(x) * (whole + up)

    return elementwise(t, op.operands, emit)


def _is_finite(op: Any, t: Translation) -> Result:
    return elementwise(t, op.operands, lambda x: t.b.op("IsFinite", [x], t.b.shape(x), "bool"))


def _reduce_precision(op: Any, t: Translation) -> Result:
    exponent, mantissa = (ir.IntegerAttr(op.attributes[name]).value for name in ("exponent_bits", "mantissa_bits"))
    dtype = t.dtype(op.operands[0])
    formats = {(5, 10): "float16", (8, 7): "bfloat16", (8, 23): "float32", (11, 52): "float64"}
    target = formats.get((exponent, mantissa))
    if target is not None:
        return elementwise(t, op.operands, lambda x: t.b.cast(t.b.cast(x, target), dtype))
    if exponent > 8 or mantissa > 22 or dtype == "float64":
        raise GraphError(f"{dtype} of {exponent} bits of exponent and {mantissa} of mantissa is not supported")
    return elementwise(
        t, op.operands, lambda x: t.b.cast(_reduced(t, t.b.cast(x, "float32"), exponent, mantissa), dtype)
    )


def _reduced(t: Translation, x: Tensor, exponent: int, mantissa: int) -> Tensor:
    """Rounds float32 to the nearest number of a format, of two to the even one; small numbers become 0, as in XLA."""
    b, dropped = t.b, 23 - mantissa
    bits = b.bitcast(x, "int32")
    odd = b.binary("BitwiseAnd", b.binary("RightShift", bits, dropped), 1)
    bits = bits + (odd + ((1 << (dropped - 1)) - 1))
    rounded = b.bitcast(b.binary("BitwiseAnd", bits, -(1 << dropped)), "float32")
    largest = 1 << (exponent - 1)
    size = abs(rounded)
    if exponent < 8:
        rounded = select(size >= 2.0**largest, rounded * math.inf, rounded)
        rounded = select(size < 2.0 ** (2 - largest), rounded * 0.0, rounded)
    return select(not_equal(x, x), x, rounded)


def _complex(op: Any, t: Translation) -> Result:
    return t.b.op("Complex", list(t.values(op.operands)), t.shape(op.results[0]), t.dtype(op.results[0]))


def _part(name: str) -> Rule:
    def rule(op: Any, t: Translation) -> Result:
        value = t.value(op.operands[0])
        if "complex" not in t.b.dtype(value):  # the real part of real numbers
            return value if name == "Real" else t.b.unary("ZerosLike", value)
        return t.b.op(name, [value], t.b.shape(value), t.dtype(op.results[0]))

    return rule


def _abs(op: Any, t: Translation) -> Result:
    if "complex" in t.dtype(op.operands[0]):
        value = t.value(op.operands[0])
        return t.b.op("ComplexAbs", [value], t.b.shape(value), t.dtype(op.results[0]))
    return elementwise(t, op.operands, abs)


def _barrier(op: Any, t: Translation) -> Sequence[Result]:
    return [t.lazy(operand) for operand in op.operands]


RULES: Rules = {
    **{f"stablehlo.{name}": _unary(tensorflow) for name, tensorflow in _UNARY.items()},
    **{f"stablehlo.{name}": _binary(name) for name in (*_BINARY, *_NUMERICAL)},
    "stablehlo.abs": _abs,
    "stablehlo.cbrt": _cbrt,
    "stablehlo.clamp": _clamp,
    "stablehlo.compare": _compare,
    "stablehlo.complex": _complex,
    "stablehlo.convert": _convert,
    "stablehlo.imag": _part("Imag"),
    "stablehlo.is_finite": _is_finite,
    "stablehlo.negate": _negate,
    "stablehlo.not": _not,
    "stablehlo.optimization_barrier": _barrier,
    "stablehlo.real": _part("Real"),
    "stablehlo.reduce_precision": _reduce_precision,
    "stablehlo.round_nearest_afz": _round_away,
    "stablehlo.select": _select,
}
