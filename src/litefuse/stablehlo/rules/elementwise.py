"""Ops on each element."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

import numpy as np

from litefuse.decompositions.builder import Dim
from litefuse.engine.mlir import ir
from litefuse.errors import GraphError
from litefuse.stablehlo.rules.functions import recognized
from litefuse.stablehlo.rules.softmax import softmax
from litefuse.stablehlo.translation import Result, Rule, Rules, Translation
from litefuse.stablehlo.values import Elements, Value, dims_of, elements_of, elements_value, known_numbers, spread

__all__ = ["RULES", "UNARY", "elementwise"]

UNARY = {
    "abs": "Abs",
    "ceil": "Ceil",
    "cosine": "Cos",
    "exponential": "Exp",
    "exponential_minus_one": "Expm1",
    "floor": "Floor",
    "log": "Log",
    "log_plus_one": "Log1p",
    "logistic": "Sigmoid",
    "negate": "Neg",
    "round_nearest_even": "Rint",
    "rsqrt": "Rsqrt",
    "sign": "Sign",
    "sine": "Sin",
    "sqrt": "Sqrt",
    "tan": "Tan",
    "tanh": "Tanh",
}
"""TensorFlow's op for each of StableHLO's that keeps shape and dtype."""

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


def _larger(a: int, b: int) -> int:
    return max(a, b)


def _lesser(a: int, b: int) -> int:
    return min(a, b)


def _quotient(a: int, b: int) -> int:
    """Rounded towards 0."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _rest(a: int, b: int) -> int:
    return a - b * _quotient(a, b)


# On elements that are followed: on numbers, and the arithmetic on sizes that the model computes.
_ON_NUMBERS: Mapping[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "and": lambda a, b: a & b,
    "divide": _quotient,
    "left": lambda a, b: a << b,
    "maximum": _larger,
    "minimum": _lesser,
    "multiply": lambda a, b: a * b,
    "or": lambda a, b: a | b,
    "remainder": _rest,
    "right": lambda a, b: a >> b,
    "subtract": lambda a, b: a - b,
    "xor": lambda a, b: a ^ b,
}
_ON_SIZES = {"add": "AddV2", "maximum": "Maximum", "minimum": "Minimum", "multiply": "Mul", "subtract": "Sub"}
_ON_COMPARED: Mapping[str, Callable[[int, int], bool]] = {
    "EQ": operator.eq,
    "NE": operator.ne,
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
}


@overload
def elementwise(t: Translation, operands: Sequence[ir.Value], emit: Callable[[ir.Value], ir.Value]) -> Result: ...
@overload
def elementwise(
    t: Translation, operands: Sequence[ir.Value], emit: Callable[[ir.Value, ir.Value], ir.Value]
) -> Result: ...
@overload
def elementwise(
    t: Translation, operands: Sequence[ir.Value], emit: Callable[[ir.Value, ir.Value, ir.Value], ir.Value]
) -> Result: ...
def elementwise(t: Translation, operands: Sequence[ir.Value], emit: Callable[..., ir.Value]) -> Result:
    """What ``emit`` makes of operands that broadcast, each as small as it is."""
    found = [t.lazy(operand) for operand in operands]
    whole = [value for value in found if value.spread is None]
    # A scalar among tensors (the condition of a select, the limits of a clamp) says nothing of the result's shape.
    rank = max(len(t.shape(operand)) for operand in operands)
    if any(
        len(t.shape(operand)) == rank and value.spread is None for operand, value in zip(operands, found, strict=True)
    ):
        return emit(*(value.emit() if value.spread is None else value.spread.small.emit() for value in found))
    repeated = [value.spread for value in found if value.spread is not None]
    if not repeated:
        return emit(*(value.emit() for value in whole))
    parts = [value if value.spread is None else value.spread.small for value in found]
    return spread(t.b, Value(lambda: emit(*(part.emit() for part in parts))), repeated[0].dims)


def _unary(name: str) -> Rule:
    return lambda op, t: elementwise(t, op.operands, lambda x: t.b.unary(name, x))


def _binary(hlo: str) -> Rule:
    def rule(op: Any, t: Translation) -> Result:
        a, b = op.operands
        followed = _on_elements(t, hlo, t.elements(a), t.elements(b), t.dtype(a))
        if followed is not None:
            return followed
        if t.dtype(a) == "bool":
            return elementwise(t, op.operands, lambda x, y: _logical(t, hlo, x, y))
        if hlo == "multiply" and a == b and not _is_part_of_cube(op):
            return elementwise(t, [a], lambda x: t.b.unary("Square", x))
        plain = _of_numbers(t, op, hlo) or _without_effect(t, hlo, a, b)
        if plain is not None:
            return plain
        return elementwise(t, op.operands, lambda x, y: t.b.binary(_BINARY.get(hlo) or _NUMERICAL[hlo], x, y))

    return rule


def _is_part_of_cube(op: Any) -> bool:
    """Whether a square is multiplied by its root: the engine looks for products where it finds a GELU."""
    root = op.operands[0]
    users = [use.owner for use in op.results[0].uses]
    return any(user.operation.name == "stablehlo.multiply" and root in list(user.operands) for user in users)


def _logical(t: Translation, hlo: str, x: ir.Value, y: ir.Value) -> ir.Value:
    if hlo == "xor":
        return t.b.compare("NotEqual", x, y)
    return t.b.op(_LOGICAL[hlo], [x, y], t.b.shape(t.b.compare("NotEqual", x, y)), "bool")


def _on_elements(t: Translation, hlo: str, a: Elements | None, b: Elements | None, dtype: str) -> Value | None:
    """The op on elements that are followed; None if some are not, or the result is not."""
    if a is None or b is None or a.shape != b.shape:
        return None
    results: list[Dim] = []
    for x, y in zip(dims_of(a), dims_of(b), strict=True):
        if isinstance(x, int) and isinstance(y, int):
            number = _on_integers(hlo, x, y, _bits(dtype))
            if number is None or not _holds(dtype, number):
                return None
            results.append(number)
        elif hlo == "subtract" and isinstance(x, int) == isinstance(y, int) and x == y:
            results.append(0)
        elif hlo in _ON_SIZES:
            results.append(t.b.dims(_ON_SIZES[hlo], x, y))
        else:
            return None
    return elements_value(t.b, elements_of(results, a.shape), dtype)


def _on_integers(hlo: str, x: int, y: int, bits: int) -> int | None:
    """The op on two numbers; None where the definition leaves the result open, or bits decide."""
    if hlo not in _ON_NUMBERS or (hlo in {"divide", "remainder"} and y == 0):
        return None
    if hlo in {"left", "right"} and not (x >= 0 and 0 <= y < bits):
        return None
    return _ON_NUMBERS[hlo](x, y)


_ON_FLOATS: Mapping[str, Callable[..., Any]] = {
    "add": np.add,
    "divide": np.divide,
    "multiply": np.multiply,
    "subtract": np.subtract,
}


def _of_numbers(t: Translation, op: Any, hlo: str) -> Value | None:
    """Arithmetic of two scalars that the program knows."""
    result = op.results[0]
    numbers = [t.number(operand) for operand in op.operands]
    if hlo not in _ON_FLOATS or t.dtype(result) != "float32" or t.shape(result) or None in numbers:
        return None
    with np.errstate(all="ignore"):
        return number_value(t, float(_ON_FLOATS[hlo](*(np.float32(number) for number in numbers))))


def number_value(t: Translation, number: float) -> Value:
    """A float32 scalar."""
    attribute = ir.DenseElementsAttr.get(np.array(number, np.float32))
    return Value(lambda: t.b.constant(number, "float32"), constant=attribute)


def _bits(dtype: str) -> int:
    return 1 if dtype == "bool" else int(dtype.removeprefix("u").removeprefix("int"))


def _holds(dtype: str, number: int) -> bool:
    """Whether a dtype has a number: arithmetic that goes round is left to the model."""
    bits = _bits(dtype)
    return 0 <= number < 2**bits if dtype[0] in "bu" else -(2 ** (bits - 1)) <= number < 2 ** (bits - 1)


def _without_effect(t: Translation, hlo: str, a: ir.Value, b: ir.Value) -> Result | None:
    """Forms that have an op of their own, or need none."""
    for x, y in ((a, b), (b, a)):
        if hlo in {"maximum", "minimum"} and "float" in t.dtype(x):
            number = t.number(y)
            if number == (-math.inf if hlo == "maximum" else math.inf):
                return t.lazy(x)
            if number == 0 and hlo == "maximum":
                return elementwise(t, [x], lambda value: t.b.unary("Relu", value))
    return None


def _divide(op: Any, t: Translation) -> Result:
    a, b = op.operands
    dtype = t.dtype(a)
    followed = _on_elements(t, "divide", t.elements(a), t.elements(b), dtype)
    if followed is not None:
        return followed
    special = (_sigmoid, softmax, _mean, _pooled_mean)
    normalized = _of_numbers(t, op, "divide") or next(filter(None, (each(t, a, b) for each in special)), None)
    if normalized is not None:
        return normalized
    name = "TruncateDiv" if dtype.startswith("int") else "FloorDiv" if dtype.startswith("uint") else "RealDiv"
    return elementwise(t, op.operands, lambda x, y: t.b.binary(name, x, y))


def _sigmoid(t: Translation, a: ir.Value, b: ir.Value) -> Result | None:
    """``1 / (1 + exp(-x))``, as JAX writes the logistic function out."""
    if t.number(a) != 1:
        return None
    total = _operands_of(b, "add")
    exponential = next((each for each in total if t.number(each) != 1), None)
    if len(total) != 2 or exponential is None or not any(t.number(each) == 1 for each in total):
        return None
    for negative in _operands_of(exponential, "exponential"):
        for x in _operands_of(negative, "negate"):
            return elementwise(t, [x], lambda value: t.b.unary("Sigmoid", value))
    return None


def _operands_of(value: ir.Value, name: str) -> list[ir.Value]:
    """The operands of the op that computes a value, if it is of this name."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != f"stablehlo.{name}":
        return []
    return list(owner.operands)


def _mean(t: Translation, a: ir.Value, b: ir.Value) -> Result | None:
    """A sum divided by the number of its terms."""
    reduction = t.lazy(a).reduction
    if reduction is None or reduction.name != "Sum" or "float" not in t.dtype(a):
        return None
    count = reduction.count(t.b)
    if count is None or t.number(b) != count:
        return None
    mean = type(reduction)("Mean", reduction.operand, reduction.axes, reduction.keep_dims)
    return Value(lambda: mean.emit(t.b), reduction=mean)


def _pooled_mean(t: Translation, a: ir.Value, b: ir.Value) -> Result | None:
    """Sums of windows divided by the number of their elements."""
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


def _remainder(op: Any, t: Translation) -> Result:
    a, b = op.operands
    followed = _on_elements(t, "remainder", t.elements(a), t.elements(b), t.dtype(a))
    if followed is not None:
        return followed
    name = "FloorMod" if t.dtype(a).startswith("uint") else "TruncateMod"
    return elementwise(t, op.operands, lambda x, y: t.b.binary(name, x, y))


def _compare(op: Any, t: Translation) -> Result:
    direction: str = t.dialect.ComparisonDirectionAttr(op.comparison_direction).value
    a, b = (known_numbers(t.elements(operand)) for operand in op.operands)
    if a is not None and b is not None and a.shape == b.shape:
        pairs = zip(a.reshape(-1).tolist(), b.reshape(-1).tolist(), strict=True)
        return elements_value(t.b, elements_of((int(_ON_COMPARED[direction](x, y)) for x, y in pairs), a.shape), "bool")
    if t.dtype(op.operands[0]) == "bool" and direction not in {"EQ", "NE"}:
        raise GraphError(f"the comparison {direction} of conditions is not supported")
    return elementwise(t, op.operands, lambda x, y: t.b.compare(_COMPARISONS[direction], x, y))


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
    least, x, most = (t.elements(each) for each in (low, value, high))
    if least is not None and x is not None and most is not None:
        shape = x.shape
        limits = [np.broadcast_to(each, shape) for each in (least, most)]
        inside = [
            t.b.dims("Minimum", t.b.dims("Maximum", dim, start), end)
            for dim, start, end in zip(dims_of(x), dims_of(limits[0]), dims_of(limits[1]), strict=True)
        ]
        return elements_value(t.b, elements_of(inside, shape), t.dtype(value))
    if t.number(low) == 0 and t.number(high) == 6 and "float" in t.dtype(value):
        return elementwise(t, [value], lambda x: t.b.unary("Relu6", x))
    return elementwise(
        t, op.operands, lambda least, x, most: t.b.binary("Minimum", t.b.binary("Maximum", x, least), most)
    )


def _convert(op: Any, t: Translation) -> Result:
    (operand,), (result,) = op.operands, op.results
    elements, dtype = t.elements(operand), t.dtype(result)
    if elements is not None and ("int" in dtype or dtype == "bool"):
        if dtype != "bool":
            return elements_value(t.b, elements, dtype)
        numbers = known_numbers(elements)
        if numbers is not None:
            return elements_value(
                t.b, elements_of((int(each != 0) for each in numbers.reshape(-1).tolist()), numbers.shape), dtype
            )
    if t.dtype(operand) == dtype:
        return t.lazy(operand)
    number = t.number(operand) if dtype == "float32" and not t.shape(operand) else None
    if number is not None:
        return number_value(t, number)
    return elementwise(t, [operand], lambda x: t.b.cast(x, dtype))


def _not(op: Any, t: Translation) -> Result:
    numbers = known_numbers(t.elements(op.operands[0]))
    if t.dtype(op.operands[0]) == "bool":
        if numbers is not None:
            return elements_value(
                t.b, elements_of((int(not each) for each in numbers.reshape(-1).tolist()), numbers.shape), "bool"
            )
        return elementwise(t, op.operands, lambda x: t.b.unary("LogicalNot", x))
    return elementwise(t, op.operands, lambda x: t.b.unary("Invert", x))


def _cbrt(op: Any, t: Translation) -> Result:
    def emit(x: ir.Value) -> ir.Value:
        root = t.b.binary("Pow", t.b.unary("Abs", x), 1 / 3)
        return t.b.binary("Mul", t.b.unary("Sign", x), root)

    return elementwise(t, op.operands, emit)


def _round_away(op: Any, t: Translation) -> Result:
    def emit(x: ir.Value) -> ir.Value:
        whole = t.b.unary("Floor", t.b.unary("Abs", x))
        rest = t.b.binary("Sub", t.b.unary("Abs", x), whole)
        up = t.b.cast(t.b.compare("GreaterEqual", rest, 0.5), t.b.dtype(x))
        return t.b.binary("Mul", t.b.unary("Sign", x), t.b.binary("AddV2", whole, up))

    return elementwise(t, op.operands, emit)


def _is_finite(op: Any, t: Translation) -> Result:
    return elementwise(t, op.operands, lambda x: t.b.op("IsFinite", [x], t.b.shape(x), "bool"))


def _popcnt(op: Any, t: Translation) -> Result:
    dtype = t.dtype(op.results[0])
    return elementwise(t, op.operands, lambda x: t.b.cast(t.b.op("PopulationCount", [x], t.b.shape(x), "uint8"), dtype))


def _shift(name: str, *, logical: bool = False) -> Rule:
    """Shifts by as many bits as there are, or more, give what is left: 0, or -1 (StableHLO's definition)."""

    def rule(op: Any, t: Translation) -> Result:
        dtype = t.dtype(op.operands[0])
        direction = "left" if name == "LeftShift" else "right"
        followed = _on_elements(t, direction, t.elements(op.operands[0]), t.elements(op.operands[1]), dtype)
        if followed is not None:
            return followed
        other = f"u{dtype}" if logical and dtype.startswith("int") else dtype

        def emit(x: ir.Value, bits: ir.Value) -> ir.Value:
            shifted = t.b.binary(name, t.b.bitcast(x, other), t.b.bitcast(bits, other))
            return t.b.bitcast(shifted, dtype)

        return elementwise(t, op.operands, emit)

    return rule


def _bitcast(op: Any, t: Translation) -> Result:
    (operand,), (result,) = op.operands, op.results
    value = t.value(operand)
    return t.b.op("Bitcast", [value], t.shape(result), t.dtype(result))


def _reduce_precision(op: Any, t: Translation) -> Result:
    exponent, mantissa = (ir.IntegerAttr(op.attributes[name]).value for name in ("exponent_bits", "mantissa_bits"))
    dtype = t.dtype(op.operands[0])
    formats = {(5, 10): "float16", (8, 7): "bfloat16", (8, 23): "float32", (11, 52): "float64"}
    target = formats.get((exponent, mantissa))
    if target is None:
        raise GraphError(f"numbers of {exponent} bits of exponent and {mantissa} of mantissa are not supported")
    return elementwise(t, op.operands, lambda x: t.b.cast(t.b.cast(x, target), dtype))


def _complex(op: Any, t: Translation) -> Result:
    def emit(real: ir.Value, imaginary: ir.Value) -> ir.Value:
        return t.b.op("Complex", [real, imaginary], t.shape(op.results[0]), t.dtype(op.results[0]))

    return emit(*t.values(op.operands))


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
    return elementwise(t, op.operands, lambda x: t.b.unary("Abs", x))


def _barrier(op: Any, t: Translation) -> Sequence[Result]:
    return [t.lazy(operand) for operand in op.operands]


RULES: Rules = {
    **{f"stablehlo.{name}": _unary(tensorflow) for name, tensorflow in UNARY.items()},
    **{f"stablehlo.{name}": _binary(name) for name in (*_BINARY, *_NUMERICAL)},
    "stablehlo.abs": _abs,
    "stablehlo.bitcast_convert": _bitcast,
    "stablehlo.cbrt": _cbrt,
    "stablehlo.clamp": _clamp,
    "stablehlo.compare": _compare,
    "stablehlo.complex": _complex,
    "stablehlo.convert": _convert,
    "stablehlo.divide": _divide,
    "stablehlo.imag": _part("Imag"),
    "stablehlo.is_finite": _is_finite,
    "stablehlo.not": _not,
    "stablehlo.optimization_barrier": _barrier,
    "stablehlo.popcnt": _popcnt,
    "stablehlo.real": _part("Real"),
    "stablehlo.reduce_precision": _reduce_precision,
    "stablehlo.remainder": _remainder,
    "stablehlo.round_nearest_afz": _round_away,
    "stablehlo.select": _select,
    "stablehlo.shift_left": _shift("LeftShift"),
    "stablehlo.shift_right_arithmetic": _shift("RightShift"),
    "stablehlo.shift_right_logical": _shift("RightShift", logical=True),
}
