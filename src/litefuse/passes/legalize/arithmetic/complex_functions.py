"""Elementary functions of complex numbers, by functions of their parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.passes.legalize.arithmetic.complex_numbers import complex_of, parts_of
from litefuse.passes.legalize.decomposition import Decomposition, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir

__all__ = ["ComplexFunctions", "ComplexPower"]


@decomposition("Cos", "Cosh", "Expm1", "Log1p", "Rsqrt", "Sigmoid", "Sign", "Sin", "Sinh", "Tan", "Tanh", order=1)
class ComplexFunctions(Decomposition):
    """Functions of one complex number.

    Definition: Abramowitz and Stegun, Handbook of Mathematical Functions, 4.3.55 to 4.3.57 and 4.5.49 to 4.5.51, in
    forms in which neither a factor overflows where the result does not, nor like numbers are subtracted.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        if op.types[0].dtype != "complex64":
            raise NotDecomposed(f"LiteRT's {op.name} does not take {op.types[0].dtype}")
        value = op.operands[0]
        if op.name == "Rsqrt":
            return b.unary("Reciprocal", b.unary("Sqrt", value))
        real, imaginary = parts_of(b, value)
        return _FUNCTIONS[op.name](b, real, imaginary)


@decomposition("Pow", "SquaredDifference", order=1)
class ComplexPower(Decomposition):
    """Powers, by the logarithm; and squared absolute values of differences.

    Powers of 0 are 0, except the one with the exponent 0, which is 1.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.shape(1)
        if op.types[0].dtype != "complex64":
            raise NotDecomposed(f"LiteRT's {op.name} does not take {op.types[0].dtype}")
        base, exponent = op.operands
        if op.name == "SquaredDifference":
            parts = parts_of(b, b.binary("Sub", base, exponent))
            size = b.binary("AddV2", *(b.unary("Square", part) for part in parts))
            return complex_of(b, size, b.binary("Mul", size, 0.0))
        none, nothing = (_is_zero(b, value) for value in (base, exponent))
        real, imaginary = parts_of(b, base)
        safe = complex_of(b, b.select(none, 1.0, real), imaginary)
        real, imaginary = parts_of(b, b.unary("Exp", b.binary("Mul", exponent, b.unary("Log", safe))))
        of_zero = b.cast(nothing, "float32")
        return complex_of(b, b.select(none, of_zero, real), b.select(none, 0.0, imaginary))


def _is_zero(b: Builder, value: ir.Value) -> ir.Value:
    real, imaginary = (b.compare("Equal", part, 0.0) for part in parts_of(b, value))
    return b.binary("LogicalAnd", real, imaginary)


def _hyperbolic(b: Builder, real: ir.Value, imaginary: ir.Value, first: str, second: str) -> tuple[ir.Value, ir.Value]:
    """Emits ``first(real) cos(imaginary)`` and ``second(real) sin(imaginary)``."""
    return (
        b.binary("Mul", b.unary(first, real), b.unary("Cos", imaginary)),
        b.binary("Mul", b.unary(second, real), b.unary("Sin", imaginary)),
    )


def _cosh(b: Builder, real: ir.Value, imaginary: ir.Value) -> ir.Value:
    return complex_of(b, *_hyperbolic(b, real, imaginary, "Cosh", "Sinh"))


def _sinh(b: Builder, real: ir.Value, imaginary: ir.Value) -> ir.Value:
    return complex_of(b, *_hyperbolic(b, real, imaginary, "Sinh", "Cosh"))


def _cos(b: Builder, real: ir.Value, imaginary: ir.Value) -> ir.Value:
    first, second = _hyperbolic(b, imaginary, real, "Cosh", "Sinh")
    return complex_of(b, first, b.unary("Neg", second))


def _sin(b: Builder, real: ir.Value, imaginary: ir.Value) -> ir.Value:
    second, first = _hyperbolic(b, imaginary, real, "Sinh", "Cosh")
    return complex_of(b, first, second)


def _tangents(b: Builder, real: ir.Value, imaginary: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Emits the parts of the hyperbolic tangent.

    Where z = x + iy, x is not negative and e = exp(-2x)::

        tanh z = (1 - e^2 + 4ie sin y cos y) / ((1 - e)^2 + 4e cos^2 y)
    """
    double = b.binary("Mul", b.unary("Abs", real), -2.0)
    small = b.binary("Mul", b.unary("Exp", double), 4.0)
    cosine = b.unary("Cos", imaginary)
    below = b.binary(
        "AddV2", b.unary("Square", b.unary("Expm1", double)), b.binary("Mul", small, b.unary("Square", cosine))
    )
    above = b.binary("Mul", b.unary("Expm1", b.binary("Mul", double, 2.0)), b.unary("Neg", b.unary("Sign", real)))
    beside = b.binary("Mul", small, b.binary("Mul", b.unary("Sin", imaginary), cosine))
    return b.binary("RealDiv", above, below), b.binary("RealDiv", beside, below)


def _tanh(b: Builder, real: ir.Value, imaginary: ir.Value) -> ir.Value:
    return complex_of(b, *_tangents(b, real, imaginary))


def _tan(b: Builder, real: ir.Value, imaginary: ir.Value) -> ir.Value:
    # tan z = -i tanh iz
    second, first = _tangents(b, b.unary("Neg", imaginary), real)
    return complex_of(b, first, b.unary("Neg", second))


def _expm1(b: Builder, real: ir.Value, imaginary: ir.Value) -> ir.Value:
    cosine = b.unary("Cos", imaginary)
    half = b.unary("Square", b.unary("Sin", b.binary("Mul", imaginary, 0.5)))
    first = b.binary("Sub", b.binary("Mul", b.unary("Expm1", real), cosine), b.binary("Mul", half, 2.0))
    return complex_of(b, first, b.binary("Mul", b.unary("Exp", real), b.unary("Sin", imaginary)))


def _log1p(b: Builder, real: ir.Value, imaginary: ir.Value) -> ir.Value:
    # |1 + z|^2 = 1 + x (2 + x) + y^2; where z is not small, by the logarithm, whose squares do not overflow.
    other = b.binary("AddV2", real, 1.0)
    whole, angle = parts_of(b, b.unary("Log", complex_of(b, other, imaginary)))
    squares = b.binary("AddV2", b.binary("Mul", real, b.binary("AddV2", real, 2.0)), b.unary("Square", imaginary))
    small = b.binary("Mul", b.unary("Log1p", squares), 0.5)
    largest = b.binary("Maximum", b.unary("Abs", real), b.unary("Abs", imaginary))
    return complex_of(b, b.select(b.compare("Less", largest, 0.5), small, whole), angle)


def _sigmoid(b: Builder, real: ir.Value, imaginary: ir.Value) -> ir.Value:
    # 1 / (1 + w) with w = exp(-z), or 1 - 1 / (1 + 1/w), whichever of w and 1/w is the smaller.
    small = b.unary("Exp", b.unary("Neg", b.unary("Abs", real)))
    right = b.compare("GreaterEqual", real, 0.0)
    angle = b.select(right, b.unary("Neg", imaginary), imaginary)
    cosine, sine = (b.binary("Mul", small, b.unary(name, angle)) for name in ("Cos", "Sin"))
    other = b.binary("AddV2", cosine, 1.0)
    size = b.binary("AddV2", b.unary("Square", other), b.unary("Square", sine))
    # On the left w' / (1 + w'), whose real part is (w'_x (1 + w'_x) + w'_y^2) / |1 + w'|^2.
    of_left = b.binary("AddV2", b.binary("Mul", cosine, other), b.unary("Square", sine))
    first = b.binary("RealDiv", b.select(right, other, of_left), size)
    second = b.binary("RealDiv", b.select(right, b.unary("Neg", sine), sine), size)
    return complex_of(b, first, second)


def _sign(b: Builder, real: ir.Value, imaginary: ir.Value) -> ir.Value:
    # The larger part is 1 before the square root, so that squares do not overflow.
    largest = b.binary("Maximum", b.unary("Abs", real), b.unary("Abs", imaginary))
    scale = b.select(b.compare("Equal", largest, 0.0), 1.0, largest)
    parts = [b.binary("RealDiv", part, scale) for part in (real, imaginary)]
    size = b.unary("Sqrt", b.binary("AddV2", *(b.unary("Square", part) for part in parts)))
    size = b.select(b.compare("Equal", size, 0.0), 1.0, size)
    return complex_of(b, *(b.binary("RealDiv", part, size) for part in parts))


_FUNCTIONS: dict[str, Callable[[Builder, ir.Value, ir.Value], ir.Value]] = {
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
