"""Elementary functions of complex numbers, by functions of their parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, cos, equal, exp, log, maximum, select, sign, sin, sqrt, square
from litefuse.passes.legalize.arithmetic.complex_numbers import complex_of, parts_of
from litefuse.passes.legalize.decomposition import decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder


@decomposition("Cos", "Cosh", "Expm1", "Log1p", "Rsqrt", "Sigmoid", "Sign", "Sin", "Sinh", "Tan", "Tanh", order=1)
def complex_functions(op: TensorFlowOp, b: Builder) -> Tensor:
    """Functions of one complex number.

    Definition: Abramowitz and Stegun, Handbook of Mathematical Functions, 4.3.55 to 4.3.57 and 4.5.49 to 4.5.51, in
    forms in which neither a factor overflows where the result does not, nor like numbers are subtracted.
    """
    if op.types[0].dtype != "complex64":
        raise NotDecomposed(f"LiteRT's {op.name} does not take {op.types[0].dtype}")
    value = op.operands[0]
    if op.name == "Rsqrt":
        return b.unary("Reciprocal", sqrt(value))
    real, imaginary = parts_of(b, value)
    return _FUNCTIONS[op.name](b, real, imaginary)


@decomposition("Pow", "SquaredDifference", order=1)
def complex_power(op: TensorFlowOp, b: Builder) -> Tensor:
    """Powers, by the logarithm; and squared absolute values of differences.

    Powers of 0 are 0, except the one with the exponent 0, which is 1.
    """
    if op.types[0].dtype != "complex64":
        raise NotDecomposed(f"LiteRT's {op.name} does not take {op.types[0].dtype}")
    base, exponent = op.operands
    if op.name == "SquaredDifference":
        parts = parts_of(b, base - exponent)
        size = b.binary("AddV2", *(square(part) for part in parts))
        return complex_of(b, size, size * 0.0)
    none, nothing = (_is_zero(b, value) for value in (base, exponent))
    real, imaginary = parts_of(b, base)
    safe = complex_of(b, select(none, 1.0, real), imaginary)
    real, imaginary = parts_of(b, exp(exponent * log(safe)))
    of_zero = b.cast(nothing, "float32")
    return complex_of(b, select(none, of_zero, real), select(none, 0.0, imaginary))


def _is_zero(b: Builder, value: Tensor) -> Tensor:
    real, imaginary = (equal(part, 0.0) for part in parts_of(b, value))
    return real & imaginary


def _hyperbolic(b: Builder, real: Tensor, imaginary: Tensor, first: str, second: str) -> tuple[Tensor, Tensor]:
    """Emits ``first(real) cos(imaginary)`` and ``second(real) sin(imaginary)``."""
    return (
        b.unary(first, real) * cos(imaginary),
        b.unary(second, real) * sin(imaginary),
    )


def _cosh(b: Builder, real: Tensor, imaginary: Tensor) -> Tensor:
    return complex_of(b, *_hyperbolic(b, real, imaginary, "Cosh", "Sinh"))


def _sinh(b: Builder, real: Tensor, imaginary: Tensor) -> Tensor:
    return complex_of(b, *_hyperbolic(b, real, imaginary, "Sinh", "Cosh"))


def _cos(b: Builder, real: Tensor, imaginary: Tensor) -> Tensor:
    first, second = _hyperbolic(b, imaginary, real, "Cosh", "Sinh")
    return complex_of(b, first, -second)


def _sin(b: Builder, real: Tensor, imaginary: Tensor) -> Tensor:
    second, first = _hyperbolic(b, imaginary, real, "Sinh", "Cosh")
    return complex_of(b, first, second)


def _tangents(b: Builder, real: Tensor, imaginary: Tensor) -> tuple[Tensor, Tensor]:
    """Emits the parts of the hyperbolic tangent.

    Where z = x + iy, x is not negative and e = exp(-2x)::

        tanh z = (1 - e^2 + 4ie sin y cos y) / ((1 - e)^2 + 4e cos^2 y)
    """
    double = abs(real) * -2.0
    small = exp(double) * 4.0
    cosine = cos(imaginary)
    below = square(b.unary("Expm1", double)) + small * square(cosine)
    above = b.unary("Expm1", double * 2.0) * -sign(real)
    beside = small * (sin(imaginary) * cosine)
    return above / below, beside / below


def _tanh(b: Builder, real: Tensor, imaginary: Tensor) -> Tensor:
    return complex_of(b, *_tangents(b, real, imaginary))


def _tan(b: Builder, real: Tensor, imaginary: Tensor) -> Tensor:
    # tan z = -i tanh iz
    second, first = _tangents(b, -imaginary, real)
    return complex_of(b, first, -second)


def _expm1(b: Builder, real: Tensor, imaginary: Tensor) -> Tensor:
    cosine = cos(imaginary)
    half = square(sin(imaginary * 0.5))
    first = b.unary("Expm1", real) * cosine - half * 2.0
    return complex_of(b, first, exp(real) * sin(imaginary))


def _log1p(b: Builder, real: Tensor, imaginary: Tensor) -> Tensor:
    # |1 + z|^2 = 1 + x (2 + x) + y^2; where z is not small, by the logarithm, whose squares do not overflow.
    other = real + 1.0
    whole, angle = parts_of(b, log(complex_of(b, other, imaginary)))
    squares = real * (real + 2.0) + square(imaginary)
    small = b.unary("Log1p", squares) * 0.5
    largest = maximum(abs(real), abs(imaginary))
    return complex_of(b, select(largest < 0.5, small, whole), angle)


def _sigmoid(b: Builder, real: Tensor, imaginary: Tensor) -> Tensor:
    # 1 / (1 + w) with w = exp(-z), or 1 - 1 / (1 + 1/w), whichever of w and 1/w is the smaller.
    small = exp(-abs(real))
    right = real >= 0.0
    angle = select(right, -imaginary, imaginary)
    cosine, sine = (small * b.unary(name, angle) for name in ("Cos", "Sin"))
    other = cosine + 1.0
    size = square(other) + square(sine)
    # On the left w' / (1 + w'), whose real part is (w'_x (1 + w'_x) + w'_y^2) / |1 + w'|^2.
    of_left = cosine * other + square(sine)
    first = select(right, other, of_left) / size
    second = select(right, -sine, sine) / size
    return complex_of(b, first, second)


def _sign(b: Builder, real: Tensor, imaginary: Tensor) -> Tensor:
    # The larger part is 1 before the square root, so that squares do not overflow.
    largest = maximum(abs(real), abs(imaginary))
    scale = select(equal(largest, 0.0), 1.0, largest)
    parts = [part / scale for part in (real, imaginary)]
    size = sqrt(b.binary("AddV2", *(square(part) for part in parts)))
    size = select(equal(size, 0.0), 1.0, size)
    return complex_of(b, *(part / size for part in parts))


_FUNCTIONS: dict[str, Callable[[Builder, Tensor, Tensor], Tensor]] = {
    "Cos": _cos,
    "Cosh": _cosh,
    "Expm1": _expm1,
    "Log1p": _log1p,
    "Sigmoid": _sigmoid,
    "Sign": _sign,
    "Sin": _sin,
    "Sinh": _sinh,
    "Tan": _tan,
    "Tanh": _tanh,
}
