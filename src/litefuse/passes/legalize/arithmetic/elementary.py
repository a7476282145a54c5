"""Exponentials, logarithms and roots that are accurate near 0 and infinity, and formulas that rewritings share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.ir.constants import splat_number
from litefuse.ir.mlir import ir, producer
from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.ir.tensors import Tensor, equal, exp, log, maximum, minimum, rsqrt, select, sqrt
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder

LARGEST = 3.4028234e38
"""The largest finite float32."""


@decomposition("Expm1")
# Fault `exponential-minus-one`.
@before_engine("Expm1")
def exponential_minus_one(op: TensorFlowOp, b: Builder) -> Tensor:
    """``exp(x) - 1`` as ``tanh(x / 2) (exp(x) + 1)``, without cancellation near 0; the relative error is below 1e-6.

    For values that are never positive, it is the builtin op ELU.
    """
    op.require(0, "float32")
    return expm1(b, op.operands[0])


@decomposition("Log1p")
# Fault `logarithm-of-one-plus`.
@before_engine("Log1p")
def logarithm_of_one_plus(op: TensorFlowOp, b: Builder) -> Tensor:
    """``log(1 + x)``, by a series near 0; the relative error is below 1e-6."""
    op.require(0, "float32")
    return log1p(op.operands[0])


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

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        op.require(0, "float32")
        return reciprocal_root(op.operands[0])


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

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        op.require(0, "float32")
        (x,) = op.operands
        if (negated := producer(x, "tf.Neg")) is not None:
            y = Tensor(negated.operands[0])
            sigmoid = b.unary("Sigmoid", maximum(y, -20.0))
            return -minimum(y, log(sigmoid))
        bounded = exp(minimum(x, 20.0))
        return maximum(x, log(bounded + 1.0))


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


def reciprocal_root(x: Tensor) -> Tensor:
    """Emits ``1 / sqrt(x)``, infinite for 0."""
    if _stays_positive(x):
        return rsqrt(x)
    return sqrt(1.0 / x)


def expm1(b: Builder, x: Tensor) -> Tensor:
    """Emits ``exp(x) - 1`` to float32 precision."""
    if _is_never_positive(x):
        return b.unary("Elu", x)
    half = b.unary("Tanh", x * 0.5)
    return half * (exp(x) + 1.0)


def log1p(x: Tensor) -> Tensor:
    """Emits ``log(1 + x)`` to float32 precision, from -1, where it is minus infinity, to infinity."""
    # log(1 + x) = 2 artanh(s) = 2 (s + s^3 / 3 + s^5 / 5 ...) with s = x / (2 + x)
    small = between(x, -0.3, 0.4)
    s = small / (small + 2.0)
    series = s * polynomial(s * s, [2 / n for n in (1, 3, 5, 7, 9)])
    near = equal(small, x)
    return select(near, series, log(x + 1.0))


def polynomial(x: Tensor, coefficients: Sequence[float]) -> Tensor:
    """Emits a polynomial by Horner's rule, with at least two coefficients, those of the lowest powers first."""
    highest, *others = reversed(coefficients)
    value = x * highest + others[0]
    for coefficient in others[1:]:
        value = x * value + coefficient
    return value


def between(x: Tensor, low: float, high: float) -> Tensor:
    """Emits the value, clipped to an interval."""
    return minimum(maximum(x, low), high)


def where_finite(x: Tensor) -> Tensor:
    """Emits which elements are neither infinite nor NaN."""
    return abs(x) <= LARGEST
