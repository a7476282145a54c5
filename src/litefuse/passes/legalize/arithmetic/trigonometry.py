"""The tangent, and inverse trigonometric and hyperbolic functions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from litefuse.ir.mlir import ir
from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.ir.tensors import Tensor, atan2, cos, exp, log, minimum, select, sign, sin, sqrt
from litefuse.ir.types import tensor_type_of
from litefuse.passes.legalize.arithmetic.elementary import between, log1p, polynomial
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.ops.dims import Shape

# From here on, the 1 in x^2 + 1 and x^2 - 1 is lost in rounding.
_LARGE = 1e4


@decomposition("Acos", "Asin", "Atan")
def inverse_trigonometric(op: TensorFlowOp, b: Builder) -> Tensor:
    """ATAN2 of the two sides of a triangle with this sine, cosine or tangent.

    The other side of the sine ``x`` is ``sqrt((1 - x) (1 + x))``, which is NaN without such an angle. The relative
    error is below 1e-6.
    """
    op.require(0, "float32")
    (x,) = op.operands
    if op.name == "Atan":
        return atan2(x, b.op("OnesLike", [x], x.shape, x.dtype))
    other = sqrt((1.0 - x) * (x + 1.0))
    return atan2(x, other) if op.name == "Asin" else atan2(other, x)


@decomposition("Cosh", "Sinh")
def hyperbolic(op: TensorFlowOp, b: Builder) -> Tensor:
    """``(exp(x) - exp(-x)) / 2``, up to 1 by its Taylor series, and ``(exp(x) + exp(-x)) / 2``.

    ``exp(x) / 2`` is computed as ``exp(x / 2) / 2 * exp(x / 2)``, since ``exp(x)`` overflows earlier. The relative
    error is below 1e-6.
    """
    op.require(0, "float32")
    (x,) = op.operands
    size = abs(x)
    root = exp(size * 0.5)
    rising = root * 0.5 * root
    falling = exp(-size) * 0.5
    if op.name == "Cosh":
        return rising + falling
    small = between(x, -1.0, 1.0)
    coefficients = [1 / math.factorial(n) for n in (1, 3, 5, 7, 9)]
    series = small * polynomial(small * small, coefficients)
    far = sign(x) * (rising - falling)
    return select(size <= 1.0, series, far)


@decomposition("Acosh", "Asinh", "Atanh")
class InverseHyperbolic(Decomposition):
    """``log1p`` of formulas without cancellation; the relative error is below 2e-6::

    asinh(x) = sign(x) log1p(a + a^2 / (1 + sqrt(a^2 + 1))), a = |x|
    acosh(x) = log1p(t + sqrt(t (t + 2))),                   t = x - 1
    atanh(x) = sign(x) log1p(2 a / (1 - a)) / 2,             a = |x| <= 1 / 2
    atanh(x) = -sign(x) log((1 - a) / (1 + a)) / 2,          a = |x| > 1 / 2
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        op.require(0, "float32")
        (x,) = op.operands
        size = abs(x)
        if op.name == "Atanh":
            low = minimum(size, 0.5)
            near = log1p(low * 2.0 / (1.0 - low))
            # Not of the inverse, which may be infinite: fault `logarithm-of-infinity`.
            ratio = (1.0 - size) / (size + 1.0)
            value = select(size <= 0.5, near, -log(ratio))
            return sign(x) * 0.5 * value
        if op.name == "Acosh":
            t = minimum(x, _LARGE) - 1.0
            # Two roots, so that the result is also NaN below -1.
            root = sqrt(t) * sqrt(t + 2.0)
            return self._large(x, log1p(t + root))
        a = minimum(size, _LARGE)
        square = a * a
        root = sqrt(square + 1.0)
        inner = a + square / (root + 1.0)
        return sign(x) * self._large(size, log1p(inner))

    def _large(self, x: Tensor, value: Tensor) -> Tensor:
        logarithm = log(x) + math.log(2)
        return select(x > _LARGE, logarithm, value)


@decomposition("Atan2")
# Fault `angles-of-a-broadcast`.
@before_engine("Atan2")
class Atan2(Decomposition):
    """Broadcasts the operands explicitly, since LiteRT's op does not.

    Two dynamic dimensions may differ, as one of them may be 1. They are equal if both operands are computed elementwise
    from one value.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        shapes = [kind.shape for kind in op.types]
        y, x = op.operands
        return None not in shapes and not _have_one_shape(y, x, *shapes)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        shapes = op.shape(0), op.shape(1)
        y, x = op.operands
        if _have_one_shape(y, x, *shapes):
            return atan2(y, x)
        return b.binary("Atan2", *b.broadcast_both(y, x))


# Elementwise ops: the result has the shape that the operands broadcast to.
_ELEMENT_BY_ELEMENT = frozenset(
    f"tf.{name}"
    for name in (
        *("Abs", "Acos", "AddV2", "Asin", "Atan", "Ceil", "Cos", "Cosh", "Erf", "Exp", "Floor", "Identity", "Log"),
        *("Maximum", "Minimum", "Mul", "Neg", "OnesLike", "RealDiv", "Relu", "Rsqrt", "Sigmoid", "Sign", "Sin"),
        *("Sinh", "Softplus", "Sqrt", "Square", "Sub", "Tan", "Tanh", "ZerosLike"),
    )
)
_DEPTH = 8


def _have_one_shape(a: Tensor, b: Tensor, first: Shape | None, second: Shape | None) -> bool:
    """Whether two values of these shapes are known to have equal shapes."""
    if first != second or first is None:
        return False
    return None not in first or _shaped_like(a, _DEPTH) == _shaped_like(b, _DEPTH)


def _shaped_like(value: ir.Value, depth: int) -> ir.Value:
    """Returns the value that this one is computed from elementwise, or itself; scalar operands are ignored."""
    if not depth or isinstance(value.owner, ir.Block) or value.owner.name not in _ELEMENT_BY_ELEMENT:
        return value
    found = {
        _shaped_like(operand, depth - 1) for operand in value.owner.operands if tensor_type_of(operand).shape != ()
    }
    return found.pop() if len(found) == 1 else value


@decomposition("Tan")
def tan(op: TensorFlowOp, b: Builder) -> Tensor:
    """``sin(x) / cos(x)``."""
    op.require(0, "float32")
    (value,) = op.operands
    return sin(value) / cos(value)
