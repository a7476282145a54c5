"""Ops that return their operand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.passes.legalize.decomposition import Decomposition, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.tensors import Tensor

__all__ = ["Alias"]


@decomposition("GuaranteeConst", "Print")
class Alias(Decomposition):
    """The operand; ``Print`` does not print.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/Print, GuaranteeConst.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        return op.operands[0]
