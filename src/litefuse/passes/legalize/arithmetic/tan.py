"""``Tan``: the quotient of sine and cosine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.passes.legalize.decomposition import Decomposition, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir

__all__ = ["Tan"]


@decomposition("Tan")
class Tan(Decomposition):
    """``sin(x) / cos(x)``."""

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.require(0, "float32")
        (value,) = op.operands
        return b.binary("RealDiv", b.unary("Sin", value), b.unary("Cos", value))
