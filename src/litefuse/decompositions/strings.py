"""Moving strings: the op moves their positions, and GATHER_ND, which takes strings, fetches what is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder
    from litefuse.engine.mlir import ir

__all__ = ["MovedStrings"]

# Where the operand that is moved stands.
_OPERANDS = {"Fill": 1, "Split": 1}


class MovedStrings(Decomposition):
    """The op of the numbers 0, 1, 2 ... in the operand's shape, and the strings at these numbers."""

    names = (
        *("BroadcastTo", "Fill", "GatherV2", "ReverseV2", "Slice", "Split", "SplitV", "StridedSlice", "Tile"),
        *("Transpose", "Unpack"),
    )

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[ir.Value]:
        operand = _OPERANDS.get(op.name, 0)
        shape = op.shape(operand)
        if op.types[operand].dtype != "string":
            raise NotDecomposed(f"LiteRT's {op.name} does not take {op.types[operand].dtype} in this form")
        strings = op.operands[operand]
        sizes = b.sizes(strings)
        count = b.product(sizes)
        operands = list(op.operands)
        operands[operand] = b.reshape(b.range(count), sizes)
        attributes = b.options(op)
        places = b.ops(op.name, operands, [(each.shape, "int32") for each in op.results], **attributes)
        flat = b.reshape(strings, [count]) if len(shape) != 1 else strings
        return [
            b.op("GatherNd", [flat, b.expand(each, len(b.shape(each)))], b.shape(each), "string") for each in places
        ]
