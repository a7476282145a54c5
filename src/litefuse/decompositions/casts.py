"""Casts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp
from litefuse.engine.mlir import producer

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder
    from litefuse.engine.mlir import ir

__all__ = ["CastOfBroadcast"]


class CastOfBroadcast(Decomposition):
    """A cast to half the width after ``BroadcastTo``: before it.

    The engine exchanges the two, too, but to a BROADCAST_TO of a dtype that LiteRT's does not take; the other order
    leaves it an op that it does not know.
    """

    names = ("Cast",)

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return op.results[0].dtype in {"bfloat16", "float16"} and producer(op.operands[0], "tf.BroadcastTo") is not None

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        broadcast, kind = producer(op.operands[0], "tf.BroadcastTo"), op.results[0]
        if broadcast is None:
            raise NotDecomposed("its operand is not broadcast")
        value, sizes = broadcast.operands
        return b.op("BroadcastTo", [b.cast(value, kind.dtype), sizes], b.shape(op.operands[0]), kind.dtype)
