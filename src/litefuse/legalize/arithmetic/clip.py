"""Clipping of values to an interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.legalize.decomposition import Decomposition, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir

__all__ = ["ClipByValue", "IntegerRelu6"]


@decomposition("ClipByValue")
class ClipByValue(Decomposition):
    """``max(min(x, high), low)``, which is ``low`` if that is above ``high``."""

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        x, low, high = op.operands
        return b.binary("Maximum", b.binary("Minimum", x, high), low)


@decomposition("Relu6")
class IntegerRelu6(Decomposition):
    """``min(max(x, 0), 6)`` of integers, for the fault ``integer-relu6``."""

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.require(0, "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")
        return b.binary("Minimum", b.binary("Maximum", op.operands[0], 0), 6)
