"""Values kept in an interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.decompositions.decomposition import Decomposition, TensorFlowOp

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder
    from litefuse.engine.mlir import ir

__all__ = ["ClipByValue"]


class ClipByValue(Decomposition):
    """``min(max(x, low), high)``."""

    names = ("ClipByValue",)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        x, low, high = op.operands
        return b.binary("Minimum", b.binary("Maximum", x, low), high)
