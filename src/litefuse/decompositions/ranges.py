"""Ranges side by side, and which dimensions a broadcast stretched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder
    from litefuse.engine.mlir import ir

__all__ = ["BroadcastGradientArgs", "RaggedRange"]


class BroadcastGradientArgs(Decomposition):
    """The dimensions where a shape, filled up with ones in front, has 1 and the other has not, and where both have 1.

    Definition: tensorflow/core/util/bcast.h.
    """

    names = ("BroadcastGradientArgs",)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[ir.Value]:
        (first,), (second,) = op.shape(0, 1), op.shape(1, 1)
        op.require(0, "int32", "int64")
        if first is None or second is None:
            raise NotDecomposed("the number of dimensions is unknown")
        rank = max(first, second)
        shapes = [
            b.pad(b.cast(value, "int32"), [(rank - count, 0)], 1)
            for value, count in zip(op.operands, (first, second), strict=True)
        ]
        answers: list[ir.Value] = []
        for shape in shapes:
            places = b.op("Where", [b.compare("Equal", shape, 1)], [None, 1], "int64")
            indices = b.reshape(b.cast(places, "int32"), [b.size(places, 0)])
            answers.append(b.cast(indices, op.types[0].dtype))
        return answers


class RaggedRange(Decomposition):
    """Number j of all belongs to the row whose end is the first behind j.

    Definition: https://www.tensorflow.org/api_docs/python/tf/ragged/range.
    """

    names = ("RaggedRange",)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[ir.Value]:
        rows = [op.shape(operand, 0, 1) for operand in (0, 1, 2)]
        op.require(0, "int32")
        if any(len(shape) == 0 for shape in rows):
            raise NotDecomposed("one start, limit or delta is for all rows")
        starts, limits, deltas = op.operands
        # The distance rounded up to whole deltas, of either sign.
        lengths = b.unary("Neg", b.binary("FloorDiv", b.binary("Sub", starts, limits), deltas))
        lengths = b.binary("Maximum", lengths, 0)
        flags = {"exclusive": False, "reverse": False}
        ends = b.op("Cumsum", [lengths, b.constant(0, "int32")], b.shape(lengths), "int32", **flags)
        total = b.reduce("Sum", lengths, 0)
        numbers = b.op("Range", [b.scalar(0), total, b.scalar(1)], [None], "int32")
        behind = b.compare("LessEqual", b.expand(ends, 0), b.expand(numbers, 1))
        row = b.reduce("Sum", b.cast(behind, "int32"), 1)
        place = b.binary("Sub", numbers, b.gather(b.binary("Sub", ends, lengths), row))
        values = b.binary("AddV2", b.gather(starts, row), b.binary("Mul", place, b.gather(deltas, row)))
        return b.cast(b.pad(ends, [(1, 0)]), op.results[0].dtype), values
