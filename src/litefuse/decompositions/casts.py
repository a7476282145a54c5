"""Casts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp
from litefuse.engine.mlir import producer

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder
    from litefuse.engine.mlir import ir

__all__ = ["CastOfBroadcast", "CastToInteger"]

_FITTING_FLOAT32 = ("bfloat16", "float16", "uint16")
_NO_INTEGER = 2.0**63


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


class CastToInteger(Decomposition):
    """A conversion to int32 or int64 by way of a dtype that LiteRT's GATHER takes.

    What is gathered from a conversion to integers, the engine gathers from the operand, of whatever dtype it is.
    """

    names = ("Cast",)

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return op.results[0].dtype in {"int32", "int64"} and op.types[0].dtype in {*_FITTING_FLOAT32, "uint32"}

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        (x,), dtype = op.operands, op.results[0].dtype
        if not self.before_lowering(op):
            raise NotDecomposed(f"LiteRT's CAST does not make {dtype} of {op.types[0].dtype}")
        if op.types[0].dtype != "uint32":
            # A bound above all integers keeps the engine from making one conversion of the two.
            return b.cast(b.binary("Minimum", b.cast(x, "float32"), _NO_INTEGER), dtype)
        bits = b.bitcast(x, "int32")
        if dtype == "int32":
            return bits
        number = b.cast(bits, "int64")
        return b.select(b.compare("Less", number, 0), b.binary("AddV2", number, 1 << 32), number)
