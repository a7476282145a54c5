"""``Tan``: the quotient of sine and cosine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.ir.tensors import Tensor, cos, sin
from litefuse.passes.legalize.decomposition import Decomposition, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder

__all__ = ["Tan"]


@decomposition("Tan")
class Tan(Decomposition):
    """``sin(x) / cos(x)``."""

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        op.shape(0)
        op.require(0, "float32")
        (value,) = op.operands
        return sin(value) / cos(value)
