"""Modified Bessel functions, also scaled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.legalize.arithmetic.elementary import polynomial
from litefuse.legalize.decomposition import Decomposition, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir

__all__ = ["Bessel"]

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
class Bessel(Decomposition):
    """``I(x)`` and ``exp(-|x|) I(x)`` of the orders 0 and 1."""

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.require(0, "float32")
        (x,) = op.operands
        size = b.unary("Abs", x)
        small = b.binary("Mul", b.binary("Minimum", size, _LIMIT), 1 / _LIMIT)
        order = op.name.removesuffix("e")
        near = polynomial(b, b.binary("Mul", small, small), _SMALL[order])
        large = b.binary("Maximum", size, _LIMIT)
        far = polynomial(b, b.binary("RealDiv", _LIMIT, large), _LARGE[order])
        far = b.binary("Mul", far, b.unary("Rsqrt", large))
        if op.name.endswith("e"):
            near = b.binary("Mul", near, b.unary("Exp", b.unary("Neg", size)))
        else:
            half = b.unary("Exp", b.binary("Mul", size, 0.5))  # exp(|x|) overflows before I(x) does
            far = b.binary("Mul", b.binary("Mul", far, half), half)
        if order == "BesselI1":
            near = b.binary("Mul", near, x)
            far = b.binary("Mul", far, b.unary("Sign", x))
        return b.select(b.compare("Less", size, _LIMIT), near, far)
