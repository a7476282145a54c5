"""Bessel functions of the first kind, and modified ones, also exponentially scaled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.ir.tensors import Tensor, cos, exp, maximum, minimum, rsqrt, select, sign
from litefuse.passes.legalize.arithmetic.elementary import polynomial
from litefuse.passes.legalize.decomposition import decomposition

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
