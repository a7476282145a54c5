"""The logarithm of the gamma function and its derivative."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.ir.tensors import Tensor, cos, equal, floor, log, select, sin
from litefuse.passes.legalize.arithmetic.elementary import polynomial
from litefuse.passes.legalize.decomposition import before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder

# The shift of arguments to where the asymptotic series are exact in float32.
_STEPS = 7
# With Bernoulli numbers: B(2n) / (2n (2n - 1)) and B(2n) / 2n, n = 1, 2, 3, 4.
_LGAMMA = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680)
_DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240)


@decomposition("Digamma", "Lgamma")
# Fault `constants-of-open-shape`.
@before_engine("Lgamma")
def gamma(op: TensorFlowOp, b: Builder) -> Tensor:
    """Stirling's series, with the recurrence for small arguments and reflection for those below 1 / 2.

    The error is below 5e-6, relative to the result or to 1.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 6.1.15 to 6.1.41, 6.3.5 to 6.3.18.
    """
    op.require(0, "float32")
    (x,) = op.operands
    reflected = x < 0.5
    positive = select(reflected, 1.0 - x, x)
    # Of the distance to the nearest integer, sine and tangent are those of x except for the sign.
    distance = x - floor(x + 0.5)
    angle = distance * math.pi
    if op.name == "Lgamma":
        value = _lgamma(positive)
        sine = log(abs(sin(angle)))
        return select(reflected, math.log(math.pi) - sine - value, value)
    value = _digamma(positive)
    cotangent = cos(angle) / sin(angle)
    other = value - cotangent * math.pi
    pole = equal(distance, 0.0)
    other = select(pole, float("nan"), other)
    return select(reflected, other, value)


def _lgamma(x: Tensor) -> Tensor:
    small = x < float(_STEPS)
    start = select(small, x, 1.0)
    product = start
    for step in range(1, _STEPS):
        product = product * (start + float(step))
    moved = select(small, x + float(_STEPS), x)
    inverse = 1.0 / moved
    series = inverse * polynomial(inverse * inverse, _LGAMMA)
    logarithm = log(moved) - 1.0
    stirling = (moved - 0.5) * logarithm
    value = stirling + (0.5 * math.log(2 * math.pi) - 0.5) + series
    return select(small, value - log(product), value)


def _digamma(x: Tensor) -> Tensor:
    small = x < float(_STEPS)
    start = select(small, x, 1.0)
    total = 1.0 / start
    for step in range(1, _STEPS):
        total = total + 1.0 / (start + float(step))
    moved = select(small, x + float(_STEPS), x)
    inverse = 1.0 / moved
    square = inverse * inverse
    series = square * polynomial(square, _DIGAMMA)
    value = log(moved) - inverse * 0.5 - series
    return select(small, value - total, value)
