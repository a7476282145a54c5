"""``Abs`` and ``Sign`` of int64, which LiteRT's ops do not support."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.ir.tensors import Tensor, maximum, minimum
from litefuse.passes.legalize.decomposition import Decomposition, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder

__all__ = ["IntegerSign"]


@decomposition("Abs", "Sign")
class IntegerSign(Decomposition):
    """``max(x, -x)``, and ``min(max(x, -1), 1)``."""

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        op.shape(0)
        op.require(0, "int64")
        (value,) = op.operands
        if op.name == "Abs":
            return maximum(value, -value)
        return minimum(maximum(value, -1), 1)
