"""``Erf``: the error function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.passes.legalize.arithmetic.elementary import between, polynomial
from litefuse.passes.legalize.decomposition import Decomposition, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.tensors import Tensor

__all__ = ["Erf", "erf"]

# erf(x) = x * p(x * x) / q(x * x) up to 4, above which it is 1 in float32. The coefficients, lowest powers first, are a
# reweighted least-squares fit to the function; in float32 the error is at most 4e-7.
_P = (1.1283789873, 0.1962495446, 5.3467556834e-2, 4.0036719292e-3, 2.8804235626e-4, 1.9748292743e-6)
_Q = (1.0, 0.5072528124, 0.11647666246, 1.5444472432e-2, 1.2163670035e-3, 3.7480906030e-5)


@decomposition("Erf")
class Erf(Decomposition):
    """The error function as a quotient of two polynomials.

    Definition: https://www.tensorflow.org/api_docs/python/tf/math/erf.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        op.shape(0)
        op.require(0, "float32")
        return erf(op.operands[0])


def erf(value: Tensor) -> Tensor:
    """Emits the error function."""
    x = between(value, -4.0, 4.0)
    square = x * x
    quotient = x * polynomial(square, _P) / polynomial(square, _Q)
    return between(quotient, -1.0, 1.0)
