"""Casts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp
from litefuse.engine.mlir import ir

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder

__all__ = ["CastOfBroadcast"]


class CastOfBroadcast(Decomposition):
    """A cast to half the width after ``BroadcastTo``: before it.

    The engine exchanges the two, too, but to a BROADCAST_TO of a dtype that LiteRT's does not take; the other order
    leaves it an op that it does not know.
    """

    names = ("Cast",)

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return op.results[0].dtype in {"bfloat16", "float16"} and _broadcast(op) is not None

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        producer, kind = _broadcast(op), op.results[0]
        if producer is None:
            raise NotDecomposed("its operand is not broadcast")
        value, sizes = producer.operands
        return b.op("BroadcastTo", [b.cast(value, kind.dtype), sizes], b.shape(op.operands[0]), kind.dtype)


def _broadcast(op: TensorFlowOp) -> ir.Operation | ir.OpView | None:
    owner = op.operands[0].owner
    return owner if not isinstance(owner, ir.Block) and owner.name == "tf.BroadcastTo" else None
