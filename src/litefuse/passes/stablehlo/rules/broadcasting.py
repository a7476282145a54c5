"""Elementwise ops with operands that broadcast, and those that are folded during translation."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

import numpy as np

from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir
from litefuse.ir.tensors import Tensor
from litefuse.passes.stablehlo.translation import Result, Translation
from litefuse.passes.stablehlo.values import Elements, Value, dims_of, elements_of, elements_value, spread


@overload
def elementwise(t: Translation, operands: Sequence[ir.Value], emit: Callable[[Tensor], ir.Value]) -> Result: ...
@overload
def elementwise(t: Translation, operands: Sequence[ir.Value], emit: Callable[[Tensor, Tensor], ir.Value]) -> Result: ...
@overload
def elementwise(
    t: Translation, operands: Sequence[ir.Value], emit: Callable[[Tensor, Tensor, Tensor], ir.Value]
) -> Result: ...
def elementwise(t: Translation, operands: Sequence[ir.Value], emit: Callable[..., ir.Value]) -> Result:
    """Applies ``emit`` to operands that broadcast, each before it is broadcast."""
    narrow = next((t.dtype(operand) for operand in operands if t.dtype(operand).startswith("float8")), None)
    if narrow is not None:  # LiteRT only converts these
        emit = _in_float32(t, emit, narrow)
    # A scalar among tensors (the condition of a select, the limits of a clamp) does not determine the result's shape.
    rank = max(len(t.shape(operand)) for operand in operands)
    values = [t.lazy(operand) for operand in operands]
    parts = [value if value.spread is None else value.spread.small for value in values]
    if any(value.spread is None and len(t.shape(x)) == rank for value, x in zip(values, operands, strict=True)):
        return emit(*(part.emit() for part in parts))
    dims = next(value.spread.dims for value in values if value.spread is not None)
    return spread(t.b, Value(lambda: emit(*(part.emit() for part in parts))), dims)


def _in_float32(t: Translation, emit: Callable[..., ir.Value], narrow: str) -> Callable[..., ir.Value]:
    def emit_wide(*values: ir.Value) -> ir.Value:
        wide = [t.b.cast(value, "float32") if t.b.dtype(value) == narrow else value for value in values]
        result = emit(*wide)
        return t.b.cast(result, narrow) if t.b.dtype(result) == "float32" else result

    return emit_wide


def _quotient(a: int, b: int) -> int:
    """Divides, rounding toward 0."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _rest(a: int, b: int) -> int:
    return a - b * _quotient(a, b)


# Arithmetic on tracked elements: on numbers, and on sizes that the model computes.
_ON_NUMBERS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "and": operator.and_,
    "divide": _quotient,
    "left": operator.lshift,
    "maximum": max,
    "minimum": min,
    "multiply": operator.mul,
    "or": operator.or_,
    "remainder": _rest,
    "right": operator.rshift,
    "subtract": operator.sub,
    "xor": operator.xor,
}


_ON_SIZES = {"add": "AddV2", "maximum": "Maximum", "minimum": "Minimum", "multiply": "Mul", "subtract": "Sub"}


ON_COMPARED: Mapping[str, Callable[[Any, Any], Any]] = {
    "EQ": operator.eq,
    "NE": operator.ne,
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
}


def on_elements(t: Translation, hlo: str, a: Elements | None, b: Elements | None, dtype: str) -> Value | None:
    """Applies an op to tracked elements; returns None if some are not tracked, or the result cannot be."""
    if a is None or b is None or a.shape != b.shape:
        return None
    results: list[MixedSize] = []
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
    """Applies an op to two numbers; returns None if the result is undefined, or depends on the bits."""
    if hlo not in _ON_NUMBERS or (hlo in {"divide", "remainder"} and y == 0):
        return None
    if hlo in {"left", "right"} and y >= bits and x >= 0:
        return 0
    if hlo in {"left", "right"} and not (x >= 0 and y >= 0):
        return None
    return _ON_NUMBERS[hlo](x, y)


_ON_FLOATS: Mapping[str, Callable[..., Any]] = {
    "add": np.add,
    "divide": np.divide,
    "multiply": np.multiply,
    "subtract": np.subtract,
}


def of_numbers(t: Translation, op: Any, hlo: str) -> Value | None:
    """Folds arithmetic on two known scalars."""
    result = op.results[0]
    numbers = [t.number(operand) for operand in op.operands]
    if hlo not in _ON_FLOATS or t.dtype(result) != "float32" or t.shape(result) or None in numbers:
        return None
    with np.errstate(all="ignore"):
        return number_value(t, float(_ON_FLOATS[hlo](*(np.float32(number) for number in numbers))))


def number_value(t: Translation, number: float) -> Value:
    """Returns a float32 scalar."""
    attribute = ir.DenseElementsAttr.get(np.array(number, np.float32))
    return Value(lambda: t.b.constant(number, "float32"), constant=attribute)


def _bits(dtype: str) -> int:
    return 1 if dtype == "bool" else int(dtype.removeprefix("u").removeprefix("int"))


def _holds(dtype: str, number: int) -> bool:
    """Whether a dtype and int64 can represent a number: arithmetic that wraps around is left to the model."""
    bits = _bits(dtype)
    return 0 <= number < 2 ** min(bits, 63) if dtype[0] in "bu" else -(2 ** (bits - 1)) <= number < 2 ** (bits - 1)
