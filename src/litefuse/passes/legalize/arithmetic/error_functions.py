"""The error function, its complement and its inverse."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.ir.tensors import Tensor, exp, log, maximum, select, sign, sqrt
from litefuse.passes.legalize.arithmetic.elementary import between, log1p, polynomial
from litefuse.passes.legalize.decomposition import decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder

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
