"""The logarithm of the gamma function and its derivative."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.passes.legalize.arithmetic.elementary import polynomial
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir

__all__ = ["Gamma"]

# The shift of arguments to where the asymptotic series are exact in float32.
_STEPS = 7
# With Bernoulli numbers: B(2n) / (2n (2n - 1)) and B(2n) / 2n, n = 1, 2, 3, 4.
_LGAMMA = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680)
_DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240)


@decomposition("Digamma", "Lgamma")
# Fault `constants-of-open-shape`.
@before_engine("Lgamma")
class Gamma(Decomposition):
    """Stirling's series, with the recurrence for small arguments and reflection for those below 1 / 2.

    The error is below 5e-6, relative to the result or to 1.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 6.1.15 to 6.1.41, 6.3.5 to 6.3.18.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.require(0, "float32")
        (x,) = op.operands
        reflected = b.compare("Less", x, 0.5)
        positive = b.select(reflected, b.binary("Sub", 1.0, x), x)
        # Of the distance to the nearest integer, sine and tangent are those of x except for the sign.
        distance = b.binary("Sub", x, b.unary("Floor", b.binary("AddV2", x, 0.5)))
        angle = b.binary("Mul", distance, math.pi)
        if op.name == "Lgamma":
            value = _lgamma(b, positive)
            sine = b.unary("Log", b.unary("Abs", b.unary("Sin", angle)))
            return b.select(reflected, b.binary("Sub", b.binary("Sub", math.log(math.pi), sine), value), value)
        value = _digamma(b, positive)
        cotangent = b.binary("RealDiv", b.unary("Cos", angle), b.unary("Sin", angle))
        other = b.binary("Sub", value, b.binary("Mul", cotangent, math.pi))
        pole = b.compare("Equal", distance, 0.0)
        other = b.select(pole, float("nan"), other)
        return b.select(reflected, other, value)


def _lgamma(b: Builder, x: ir.Value) -> ir.Value:
    small = b.compare("Less", x, float(_STEPS))
    start = b.select(small, x, 1.0)
    product = start
    for step in range(1, _STEPS):
        product = b.binary("Mul", product, b.binary("AddV2", start, float(step)))
    moved = b.select(small, b.binary("AddV2", x, float(_STEPS)), x)
    inverse = b.binary("RealDiv", 1.0, moved)
    series = b.binary("Mul", inverse, polynomial(b, b.binary("Mul", inverse, inverse), _LGAMMA))
    logarithm = b.binary("Sub", b.unary("Log", moved), 1.0)
    stirling = b.binary("Mul", b.binary("Sub", moved, 0.5), logarithm)
    value = b.binary("AddV2", b.binary("AddV2", stirling, 0.5 * math.log(2 * math.pi) - 0.5), series)
    return b.select(small, b.binary("Sub", value, b.unary("Log", product)), value)


def _digamma(b: Builder, x: ir.Value) -> ir.Value:
    small = b.compare("Less", x, float(_STEPS))
    start = b.select(small, x, 1.0)
    total = b.binary("RealDiv", 1.0, start)
    for step in range(1, _STEPS):
        total = b.binary("AddV2", total, b.binary("RealDiv", 1.0, b.binary("AddV2", start, float(step))))
    moved = b.select(small, b.binary("AddV2", x, float(_STEPS)), x)
    inverse = b.binary("RealDiv", 1.0, moved)
    square = b.binary("Mul", inverse, inverse)
    series = b.binary("Mul", square, polynomial(b, square, _DIGAMMA))
    value = b.binary("Sub", b.binary("Sub", b.unary("Log", moved), b.binary("Mul", inverse, 0.5)), series)
    return b.select(small, b.binary("Sub", value, total), value)
