"""Bessel functions, the logarithm of the gamma function and its derivative, and the error function and its inverse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.ir.tensors import Tensor, cos, equal, exp, floor, log, maximum, minimum, rsqrt, select, sign, sin, sqrt
from litefuse.passes.legalize.arithmetic.elementary import between, log1p, polynomial
from litefuse.passes.legalize.decomposition import before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder


# Polynomials in (x / 3.75)^2 for I(x) and in 3.75 / x for sqrt(x) exp(-x) I(x), with errors below 3e-7.
# Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 9.8.1 to 9.8.4.
_SMALL = {
    "BesselI0": (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813),
    "BesselI1": (0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411),
}
_LARGE = {
    "BesselI0": (
        *(0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281),
        *(-0.02057706, 0.02635537, -0.01647633, 0.00392377),
    ),
    "BesselI1": (
        *(0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555),
        *(0.02282967, -0.02895312, 0.01787654, -0.00420059),
    ),
}
_LIMIT = 3.75


@decomposition("BesselI0", "BesselI0e", "BesselI1", "BesselI1e")
def bessel(op: TensorFlowOp, b: Builder) -> Tensor:
    """``I(x)`` and ``exp(-|x|) I(x)`` of orders 0 and 1."""
    order = op.name.removesuffix("e")
    size, near, large, inverse = _near(op, _LIMIT, _SMALL[order])
    far = polynomial(inverse, _LARGE[order]) * rsqrt(large)
    if op.name.endswith("e"):
        near = near * exp(-size)
    else:
        half = exp(size * 0.5)  # exp(|x|) overflows before I(x) does
        far = far * half * half
    return _joined(op, _LIMIT, size, near, far)


# Polynomials in (x / 3)^2 for J0(x) and J1(x) / x, with errors below 5e-8. Beyond 3, J(x) is a wave: polynomials in
# 3 / x for sqrt(x) times its amplitude, and for the difference of its phase and x, with errors below 9e-8.
# Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 9.4.1, 9.4.3, 9.4.4 and 9.4.6.
_NEAR = {
    "BesselJ0": (1.0, -2.2499997, 1.2656208, -0.3163866, 0.0444479, -0.0039444, 0.00021),
    "BesselJ1": (0.5, -0.56249985, 0.21093573, -0.03954289, 0.00443319, -0.00031761, 0.00001109),
}
_AMPLITUDE = {
    "BesselJ0": (0.79788456, -0.00000077, -0.0055274, -0.00009512, 0.00137237, -0.00072805, 0.00014476),
    "BesselJ1": (0.79788456, 0.00000156, 0.01659667, 0.00017105, -0.00249511, 0.00113653, -0.00020033),
}
_PHASE = {
    "BesselJ0": (-0.78539816, -0.04166397, -0.00003954, 0.00262573, -0.00054125, -0.00029333, 0.00013558),
    "BesselJ1": (-2.35619449, 0.12499612, 0.0000565, -0.00637879, 0.00074348, 0.00079824, -0.00029166),
}
_NEAR_LIMIT = 3.0


@decomposition("BesselJ0", "BesselJ1")
def bessel_of_first_kind(op: TensorFlowOp, b: Builder) -> Tensor:
    """``J(x)`` of orders 0 and 1: a polynomial near 0, a damped wave beyond."""
    size, near, large, inverse = _near(op, _NEAR_LIMIT, _NEAR[op.name])
    phase = large + polynomial(inverse, _PHASE[op.name])
    far = polynomial(inverse, _AMPLITUDE[op.name]) * cos(phase)
    far = far * rsqrt(large)
    return _joined(op, _NEAR_LIMIT, size, near, far)


class _Near(NamedTuple):
    """The parts that the functions have in common: ``

    x|`` and the polynomial in ``(x / limit)^2`` up to the limit.|``large`` is ``|x|``, but at least the limit;
    ``inverse`` is the limit divided by that.
    """

    size: Tensor
    value: Tensor
    large: Tensor
    inverse: Tensor


def _near(op: TensorFlowOp, limit: float, coefficients: Sequence[float]) -> _Near:
    """Emits the parts of an op of float32; raises NotDecomposed for others."""
    op.require(0, "float32")
    size = abs(op.operands[0])
    small = minimum(size, limit) * (1 / limit)
    near = polynomial(small * small, coefficients)
    large = maximum(size, limit)
    return _Near(size, near, large, limit / large)


def _joined(op: TensorFlowOp, limit: float, size: Tensor, near: Tensor, far: Tensor) -> Tensor:
    """Selects between the forms near 0 and beyond; of odd functions, those of order 1, ``near`` lacks the factor x."""
    if "1" in op.name:
        near = near * op.operands[0]
        far = far * sign(op.operands[0])
    return select(size < limit, near, far)


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


# erfc(x) = t exp(-x^2 + p(t)), t = 1 / (1 + x / 2), with a relative error of at most 1.2e-7.
# Source: Press et al., Numerical Recipes, 6.2.
_ERFC = (
    *(-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806),
    *(0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277),
)

# erfinv(x) = x p(w), w = -log(1 - x^2): around w = 2.5 below 5, around sqrt(w) = 3 above.
# Source: Giles, Approximating the erfinv function, GPU Computing Gems, 2011, table 1.
_CENTRAL = (
    *(1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087),
    *(-4.39150654e-06, -3.5233877e-06, 3.43273939e-07, 2.81022636e-08),
)
_TAIL = (
    *(2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773),
    *(-0.00367342844, 0.00134934322, 0.000100950558, -0.000200214257),
)
# Further out, such as for ndtri(1e-12): around sqrt(w) = 7 above 4. A least-squares fit of Chebyshev polynomials to the
# inverse, up to the smallest float32; the relative error is below 1e-6.
_FAR = (
    *(6.86901951, 1.00859618, -0.000512832776, 5.52645588e-06, 6.18637478e-06),
    *(-1.33260517e-06, 2.74711311e-07, -9.18832725e-08, 1.37721923e-08),
)
# erf(x) = x * p(x * x) / q(x * x) up to 4, above which it is 1 in float32. The coefficients, lowest powers first, are a
# reweighted least-squares fit to the function; in float32 the error is at most 4e-7.
_P = (1.1283789873, 0.1962495446, 5.3467556834e-2, 4.0036719292e-3, 2.8804235626e-4, 1.9748292743e-6)
_Q = (1.0, 0.5072528124, 0.11647666246, 1.5444472432e-2, 1.2163670035e-3, 3.7480906030e-5)


@decomposition("Erf")
def error_function(op: TensorFlowOp, b: Builder) -> Tensor:
    """The error function as a quotient of two polynomials.

    Definition: https://www.tensorflow.org/api_docs/python/tf/math/erf.
    """
    op.require(0, "float32")
    return erf(op.operands[0])


def erf(value: Tensor) -> Tensor:
    """Emits the error function."""
    x = between(value, -4.0, 4.0)
    square = x * x
    quotient = x * polynomial(square, _P) / polynomial(square, _Q)
    return between(quotient, -1.0, 1.0)


@decomposition("Erfc")
def erfc(op: TensorFlowOp, b: Builder) -> Tensor:
    """``1 - erf(x)`` for ``|x| < 1 / 2``, else a polynomial in the exponent, so that small results are accurate.

    The relative error is below 1e-5 up to 9, and a few rounding errors up to 3.
    """
    op.require(0, "float32")
    (x,) = op.operands
    size = abs(x)
    t = 1.0 / (size * 0.5 + 1.0)
    exponent = polynomial(t, _ERFC) - x * x
    upper = t * exp(exponent)
    far = select(x < 0.0, 2.0 - upper, upper)
    near = size < 0.5
    return select(near, 1.0 - erf(x), far)


@decomposition("Erfinv", "Ndtri")
def erfinv(op: TensorFlowOp, b: Builder) -> Tensor:
    """The inverses of the error function and of the normal distribution.

    ``ndtri(p)`` is ``sqrt(2) erfinv(2 p - 1)``. ``1 - (2 p - 1)^2`` is computed as ``4 p (1 - p)``, which is accurate
    for small p. The relative error is below 2e-6.
    """
    op.require(0, "float32")
    (value,) = op.operands
    if op.name == "Ndtri":
        x = value * 2.0 - 1.0
        remainder = value * 4.0 * (1.0 - value)
        logarithm = log(remainder)
        factor = math.sqrt(2)
    else:
        x, factor = value, 1.0
        logarithm = log1p(-(x * x))
    w = -logarithm
    central = polynomial(w - 2.5, _CENTRAL)
    root = sqrt(maximum(w, 5.0))
    tail = polynomial(root - 3.0, _TAIL)
    if op.name == "Ndtri":
        far = polynomial(root - 7.0, _FAR)
        tail = select(root < 4.0, tail, far)
    scaled = x * factor * select(w < 5.0, central, tail)
    # At the ends of the domain, it is infinite like w.
    return select(w > 1e3, sign(x) * w, scaled)
