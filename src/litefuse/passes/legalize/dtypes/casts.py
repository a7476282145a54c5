"""Casts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from litefuse.ir.constants import stored
from litefuse.ir.defining_ops import is_size
from litefuse.ir.mlir import ir, producer
from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, not_equal, select
from litefuse.ir.types import tensor_type_of
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder

_Integers: TypeAlias = "ir.Value | npt.NDArray[Any]"

# The number of significant bits of float64.
_FLOAT64_BITS = 53
_LARGEST_DIVISOR = 2.0**_FLOAT64_BITS
# The largest number of bits of a dimension's size: a tensor of 2^26 numbers takes hundreds of megabytes.
_SIZE_BITS = 26
# The number of bits of half an int64.
_HALF = 32


# Fault `narrowed-broadcast`.
@before_engine("Cast", dtypes=("float32",))
class CastOfBroadcast(Decomposition):
    """Moves a cast to half the width before ``BroadcastTo``.

    The engine swaps the two as well, but emits a BROADCAST_TO of a dtype that LiteRT's does not support. If they are
    swapped beforehand, it leaves the op, which it does not know.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return op.results[0].dtype in {"bfloat16", "float16"} and producer(op.operands[0], "tf.BroadcastTo") is not None

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        broadcast, kind = producer(op.operands[0], "tf.BroadcastTo"), op.results[0]
        if broadcast is None:
            raise NotDecomposed("its operand is not broadcast")
        value, sizes = broadcast.operands
        return b.op("BroadcastTo", [b.cast(value, kind.dtype), sizes], op.operands[0].shape, kind.dtype)


# LiteRT's op does not support float64.
@before_engine("Cast", dtypes=("float64",))
class CastOfQuotient(Decomposition):
    """Computes a cast of a quotient of int32 without TensorFlow's float64, as when a size is halved::

        int(x / y), int(floor(x / y)), int(ceil(x / y))  -->  the same in integers
        float32(x / y)                                   -->  float32(x) / float32(y)

    In float64, a quotient of int32 that is not an integer stays between the same two integers; and for up to 24 bits,
    rounding it twice equals rounding once (Figueroa, "When is double rounding innocuous?", 1995). For integers, the
    divisor is a constant other than 0.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return _cast_quotient(op) is not None

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        found, dtype = _cast_quotient(op), op.results[0].dtype
        if found is None:
            raise NotDecomposed("its operand is not a quotient of int32")
        rounded, *parts = found
        x, y = (b.constant(part, "int32") if isinstance(part, np.ndarray) else Tensor(part) for part in parts)
        if dtype == "float32":
            return b.cast(x, dtype) / b.cast(y, dtype)
        if rounded is None:
            whole = b.binary("Div", x, y)
        else:
            whole = x // y
            if rounded == "Ceil":
                rest = not_equal(x % y, 0)
                whole = whole + b.cast(rest, "int32")
        return whole if dtype == "int32" else b.cast(whole, dtype)


_ROUNDED = ("Ceil", "Floor")


def _cast_quotient(op: TensorFlowOp) -> tuple[str | None, _Integers, _Integers] | None:
    """Returns the quotient that is cast; None if there is none, or it needs float64."""
    found, dtype = _quotient(op.operands[0]), op.results[0].dtype
    if found is None:
        return None
    rounded, _, divisor = found
    if dtype == "float32":
        return found if rounded is None else None
    is_whole = dtype in {"int32", "int64"} and isinstance(divisor, np.ndarray) and bool(divisor.all())
    return found if is_whole else None


def _quotient(value: ir.Value) -> tuple[str | None, _Integers, _Integers] | None:
    """Returns the rounding of a quotient of int32, if any, and its operands; None for any other value."""
    rounded = producer(value, *(f"tf.{name}" for name in _ROUNDED))
    divided = producer(value if rounded is None else rounded.operands[0], "tf.RealDiv", "tf.Div")
    if divided is None:
        return None
    x, y = map(_integers, divided.operands)
    return None if x is None or y is None else (None if rounded is None else rounded.name.removeprefix("tf."), x, y)


def _integers(value: ir.Value) -> _Integers | None:
    """Returns float64 numbers as int32: the value that was cast, or the elements of a constant."""
    cast = producer(value, "tf.Cast")
    if cast is not None:
        (operand,) = cast.operands
        elements = stored(operand)
        if tensor_type_of(operand).dtype != "int32" or tensor_type_of(operand).shape is None:
            return None
        return operand if elements is None else np.array(elements)
    elements = stored(value)
    if elements is None:
        return None
    array: npt.NDArray[Any] = np.array(elements)
    # NaN and values outside int32 change.
    whole = np.array(np.round(np.clip(array, -(2**31), 2**31 - 1)), np.int32)
    return whole if np.array_equal(array, whole) else None


class _Fraction(NamedTuple):
    """A fraction whose denominator is a power of two: sums of products of int32 scalars and tensors.

    Attributes:
        terms: The numerator: the factors of each product, with its coefficient.
        shift: The logarithm of the denominator.
        bits: The largest number of bits that float64 needs, in any order of the sums.
    """

    terms: Mapping[tuple[ir.Value, ...], int]
    shift: int
    bits: int

    @property
    def bound(self) -> int:
        """An upper bound of the numerator's absolute value."""
        return sum(abs(number) * math.prod(map(_bound, factors)) for factors, number in self.terms.items())

    @property
    def is_positive(self) -> bool:
        """Whether the numerator is known to be 0 or more."""
        return all(number >= 0 and all(map(is_size, factors)) for factors, number in self.terms.items())

    def over(self, shift: int) -> _Fraction:
        """Returns the same fraction with a larger denominator."""
        more = shift - self.shift
        terms = {factors: number << more for factors, number in self.terms.items()}
        return _Fraction(terms, shift, self.bits + more)

    def combined(self, name: str, other: _Fraction) -> _Fraction:
        """Returns the sum, difference or product."""
        terms: Counter[tuple[ir.Value, ...]] = Counter()
        if name == "Mul":
            for factors, number in self.terms.items():
                for others, by in other.terms.items():
                    terms[(*factors, *others)] += number * by
            bits = self.bits if other.bits == 1 else self.bits + other.bits
            return _Fraction(terms, self.shift + other.shift, bits)
        shift = max(self.shift, other.shift)
        first, second = self.over(shift), other.over(shift)
        terms.update(first.terms)
        for factors, number in second.terms.items():
            terms[factors] += -number if name == "Sub" else number
        return _Fraction(terms, shift, max(first.bits, second.bits) + 1)

    def numerator(self, b: Builder, dtype: str, scale: int = 1) -> Tensor:
        """Emits the numerator times ``scale``, as integers of a dtype that is large enough."""
        result: Tensor | None = None
        for factors, number in self.terms.items():
            if not number and all(b.shape(factor) == () for factor in factors):
                continue
            term = None if factors and number * scale == 1 else b.constant(number * scale, dtype)
            for factor in reversed(factors):
                value = b.cast(factor, dtype)
                term = value if term is None else value * term
            assert term is not None
            result = term if result is None else result + term
        return b.constant(0, dtype) if result is None else result


@decomposition("Cast", order=1)
# LiteRT's op does not support float64.
@before_engine("Cast", dtypes=("float64",), order=1)
class CastOfFraction(Decomposition):
    """Computes an integer from int32 that the model computes by simple fractions in float64, as in a central crop::

        int((x - x * 0.875) / 2)  -->  x / 16, in integers

    Numbers of up to 53 bits are exact in float64, so int64 is exact as well, and int32 up to 31 bits. The quotient of
    an int64 and 2^32, rounded down, is the upper half of its bits, read as two int32.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return op.results[0].dtype in {"int32", "int64"} and _rounded_fraction(op.operands[0]) is not None

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        found = _rounded_fraction(op.operands[0])
        if found is None:
            raise NotDecomposed("its operand is not a simple fraction of int32")
        rounded, fraction = found
        dtype, denominator = op.results[0].dtype, 1 << fraction.shift
        towards_zero = rounded is None and not fraction.is_positive
        if fraction.bound + denominator < 1 << 31:
            numerator = fraction.numerator(b, "int32")
            if rounded == "Ceil":
                numerator = numerator + (denominator - 1)
            if fraction.shift:
                numerator = b.binary("Div" if rounded is None else "FloorDiv", numerator, denominator)
            return b.cast(numerator, dtype)
        return b.cast(_divided(b, fraction, "Zero" if towards_zero else rounded), dtype)


def _divided(b: Builder, fraction: _Fraction, rounded: str | None) -> Tensor:
    """Emits a fraction as integers of int64, or of int32 if they fit."""
    shift, scale = fraction.shift, 1 << max(_HALF - fraction.shift, 0)
    halves = shift > 0 and fraction.bound >> shift < 1 << 31 and (fraction.bound + (1 << shift)) * scale < 1 << 63
    numerator = fraction.numerator(b, "int64", scale if halves else 1)
    less = ((1 << shift) - 1) * (scale if halves else 1)
    if rounded == "Ceil":
        numerator = numerator + less
    elif rounded == "Zero" and halves:
        numerator = select(numerator < 0, numerator + less, numerator)
    if not halves:
        return numerator if not shift else b.binary("Div" if rounded == "Zero" else "FloorDiv", numerator, 1 << shift)
    shape = numerator.shape
    whole = b.gather(b.op("Bitcast", [numerator], [*shape, 2], "int32"), b.constant(1, "int32"), len(shape))
    return whole // (1 << (shift - _HALF)) if shift > _HALF else whole


def _rounded_fraction(value: Tensor) -> tuple[str | None, _Fraction] | None:
    """Returns the rounding of a fraction, if any, and the fraction; None for any other value."""
    rounded = producer(value, *(f"tf.{name}" for name in _ROUNDED))
    found = _fraction(value if rounded is None else rounded.operands[0])
    if found is None or max(found.bits, found.shift) >= _FLOAT64_BITS:
        return None
    return None if rounded is None else rounded.name.removeprefix("tf."), found


def _fraction(value: ir.Value) -> _Fraction | None:
    """Returns a float64 value as a fraction; None if it is not one, or may need more than 53 bits."""
    op = producer(value, "tf.Add", "tf.AddV2", "tf.Cast", "tf.Mul", "tf.RealDiv", "tf.Sub")
    if op is None:
        number = _number(value)
        return None if number is None else _constant_fraction(number)
    if op.name == "tf.Cast":
        return _whole(op.operands[0])
    first = _fraction(op.operands[0])
    if op.name == "tf.RealDiv":
        divisor = _number(op.operands[1]) or 0.0
        # Only for powers of two is the inverse exact.
        is_power = math.frexp(divisor)[0] == 0.5 and 1 / _LARGEST_DIVISOR <= divisor <= _LARGEST_DIVISOR
        second = _constant_fraction(1 / divisor) if is_power else None
    else:
        second = _fraction(op.operands[1])
    if first is None or second is None:
        return None
    name = {"tf.RealDiv": "Mul", "tf.Add": "AddV2"}.get(op.name, op.name.removeprefix("tf."))
    found = first.combined(name, second)
    return found if found.bits <= _FLOAT64_BITS else None


def _whole(source: ir.Value) -> _Fraction | None:
    kind = tensor_type_of(source)
    if kind.dtype != "int32" or kind.shape is None:
        return None
    return _Fraction({(source,): 1}, 0, _SIZE_BITS if is_size(source) else 32)


def _bound(source: ir.Value) -> int:
    """Returns an upper bound of an int32 tensor's absolute values."""
    return 1 << (_SIZE_BITS if is_size(source) else 31)


def _constant_fraction(number: float) -> _Fraction:
    exact = Fraction(number)
    return _Fraction({(): exact.numerator}, exact.denominator.bit_length() - 1, exact.numerator.bit_length())


def _number(value: ir.Value) -> float | None:
    """Returns the value of a float64 scalar constant, if it is finite."""
    elements = stored(value)
    kind = tensor_type_of(value)
    if elements is None or kind.shape != () or kind.dtype != "float64":
        return None
    number = float(np.array(elements).item())
    return number if math.isfinite(number) else None


_INTEGERS = frozenset({"bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))})


@decomposition("Cast", order=1)
def cast_of_uint64(op: TensorFlowOp, b: Builder) -> Tensor:
    """Casts between uint64 and other integers through int64, whose bits are the same."""
    (x,), given, made = op.operands, op.types[0].dtype, op.results[0].dtype
    if "uint64" not in (given, made) or not {given, made} <= _INTEGERS:
        raise NotDecomposed(f"LiteRT's CAST does not make {made} of {given}")
    if made == "uint64":
        return b.bitcast(b.cast(x, "int64"), "uint64")
    x = b.bitcast(x, "int64")
    return b.bitcast(b.cast(x, "int32"), "uint32") if made == "uint32" else b.cast(x, made)
