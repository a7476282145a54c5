"""Exponentials, logarithms and roots that are accurate near 0 and infinity, and formulas that rewritings share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.ir.constants import splat_number
from litefuse.ir.mlir import ir, producer
from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder

__all__ = [
    "LARGEST",
    "Expm1",
    "Log1p",
    "ReciprocalRoot",
    "Softplus",
    "between",
    "expm1",
    "log1p",
    "polynomial",
    "reciprocal_root",
    "where_finite",
]

LARGEST = 3.4028234e38
"""The largest finite float32."""


@decomposition("Expm1")
# Fault `exponential-minus-one`.
@before_engine("Expm1")
class Expm1(Decomposition):
    """``exp(x) - 1`` as ``tanh(x / 2) (exp(x) + 1)``, without cancellation near 0; the relative error is below 1e-6.

    For values that are never positive, it is the builtin op ELU.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.require(0, "float32")
        return expm1(b, op.operands[0])


@decomposition("Log1p")
# Fault `logarithm-of-one-plus`.
@before_engine("Log1p")
class Log1p(Decomposition):
    """``log(1 + x)``, by a series near 0; the relative error is below 1e-6."""

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.require(0, "float32")
        return log1p(b, op.operands[0])


@decomposition("Rsqrt")
# Fault `reciprocal-root-of-zero`.
@before_engine("Rsqrt", dtypes=("float32",))
class ReciprocalRoot(Decomposition):
    """``sqrt(1 / x)``, unless ``x`` is known to be positive: XNNPACK's reciprocal root of 0 is NaN, not infinity.

    A padded row is a vector of zeros, and models divide by its norm. After a sum with a constant, or a lower bound, as
    in most normalizations, the op stays.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return not _stays_positive(op.operands[0])

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.require(0, "float32")
        return reciprocal_root(b, op.operands[0])


@decomposition("Softplus")
# Fault `softplus`.
@before_engine("Softplus", dtypes=("float32",))
class Softplus(Decomposition):
    """``max(x, log(exp(min(x, 20)) + 1))``: above 20, the result is ``x`` in float32.

    The engine's formula has no bound and is infinite from 89 on. If only ``Tanh`` uses the result, as in Mish, that is
    harmless. Of ``-x`` it is ``-min(x, log(sigmoid(max(x, -20))))``, so that the logarithm of a sigmoid has no signs.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return op.readers != frozenset({"tf.Tanh"})

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.require(0, "float32")
        (x,) = op.operands
        if (negated := producer(x, "tf.Neg")) is not None:
            y = negated.operands[0]
            sigmoid = b.unary("Sigmoid", b.binary("Maximum", y, -20.0))
            return b.unary("Neg", b.binary("Minimum", y, b.unary("Log", sigmoid)))
        bounded = b.unary("Exp", b.binary("Minimum", x, 20.0))
        return b.binary("Maximum", x, b.unary("Log", b.binary("AddV2", bounded, 1.0)))


def _stays_positive(value: ir.Value) -> bool:
    """Whether a value is the sum or the maximum of something and a positive constant."""
    while (same := producer(value, "tf.Identity", "tf.Reshape", "tf.ExpandDims", "tf.Squeeze")) is not None:
        value = same.operands[0]
    bounded = producer(value, "tf.Add", "tf.AddV2", "tf.Maximum")
    return bounded is not None and any((_number(operand) or 0.0) > 0 for operand in bounded.operands)


def _is_never_positive(value: ir.Value) -> bool:
    """Whether a value is the minimum of something and a constant <= 0, perhaps scaled by a positive constant."""
    while (scaled := producer(value, "tf.Identity", "tf.Mul", "tf.RealDiv")) is not None:
        if len(scaled.operands) == 2 and not (_number(scaled.operands[1]) or 0.0) > 0:
            return False
        value = scaled.operands[0]
    bounded = producer(value, "tf.Minimum")
    return bounded is not None and any(
        (number := _number(operand)) is not None and number <= 0 for operand in bounded.operands
    )


def _number(value: ir.Value) -> float | None:
    """Returns the number that all elements of a constant are equal to; None for any other value."""
    constant = producer(value, "tf.Const")
    return None if constant is None else splat_number(constant.attributes["value"])


def reciprocal_root(b: Builder, x: ir.Value) -> ir.Value:
    """Emits ``1 / sqrt(x)``, infinite for 0."""
    if _stays_positive(x):
        return b.unary("Rsqrt", x)
    return b.unary("Sqrt", b.binary("RealDiv", 1.0, x))


def expm1(b: Builder, x: ir.Value) -> ir.Value:
    """Emits ``exp(x) - 1`` to float32 precision."""
    if _is_never_positive(x):
        return b.unary("Elu", x)
    half = b.unary("Tanh", b.binary("Mul", x, 0.5))
    return b.binary("Mul", half, b.binary("AddV2", b.unary("Exp", x), 1.0))


def log1p(b: Builder, x: ir.Value) -> ir.Value:
    """Emits ``log(1 + x)`` to float32 precision, from -1, where it is minus infinity, to infinity."""
    # log(1 + x) = 2 artanh(s) = 2 (s + s^3 / 3 + s^5 / 5 ...) with s = x / (2 + x)
    small = between(b, x, -0.3, 0.4)
    s = b.binary("RealDiv", small, b.binary("AddV2", small, 2.0))
    series = b.binary("Mul", s, polynomial(b, b.binary("Mul", s, s), [2 / n for n in (1, 3, 5, 7, 9)]))
    near = b.compare("Equal", small, x)
    return b.select(near, series, b.unary("Log", b.binary("AddV2", x, 1.0)))


def polynomial(b: Builder, x: ir.Value, coefficients: Sequence[float]) -> ir.Value:
    """Emits a polynomial by Horner's rule, with at least two coefficients, those of the lowest powers first."""
    highest, *others = reversed(coefficients)
    value = b.binary("AddV2", b.binary("Mul", x, highest), others[0])
    for coefficient in others[1:]:
        value = b.binary("AddV2", b.binary("Mul", x, value), coefficient)
    return value


def between(b: Builder, x: ir.Value, low: float, high: float) -> ir.Value:
    """Emits the value, clipped to an interval."""
    return b.binary("Minimum", b.binary("Maximum", x, low), high)


def where_finite(b: Builder, x: ir.Value) -> ir.Value:
    """Emits which elements are neither infinite nor NaN."""
    return b.compare("LessEqual", b.unary("Abs", x), LARGEST)
