"""Shapes in gradients: the dimensions that were broadcast, and the offsets of concatenated tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, equal
from litefuse.passes.legalize.decomposition import Decomposition, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize

__all__ = ["BroadcastGradientArgs", "ConcatOffset"]


@decomposition("BroadcastGradientArgs")
class BroadcastGradientArgs(Decomposition):
    """Finds the dimensions where one shape, padded with leading ones, has 1 and the other not, and where both have 1.

    Definition: tensorflow/core/util/bcast.h.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
        (first,), (second,) = op.shape(0, 1), op.shape(1, 1)
        op.require(0, "int32", "int64")
        if first is None or second is None:
            raise NotDecomposed("the number of dimensions is unknown")
        rank = max(first, second)
        shapes = [
            b.pad(b.cast(value, "int32"), [(rank - count, 0)], 1)
            for value, count in zip(op.operands, (first, second), strict=True)
        ]
        return [b.cast(b.places(equal(shape, 1)), op.types[0].dtype) for shape in shapes]


@decomposition("ConcatOffset")
class ConcatOffset(Decomposition):
    """Computes the offsets of concatenated tensors: the sum of the previous sizes along the axis, else 0.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/ConcatOffset.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
        (rank,) = op.shape(1, 1)
        op.require(1, "int32")
        if rank is None:
            raise NotDecomposed("the number of dimensions is unknown")
        axis = op.axis(0, rank)
        begin: MixedSize = 0
        offsets: list[Tensor] = []
        for number, shape in enumerate(op.operands[1:], start=1):
            offsets.append(b.vector([begin if each == axis else 0 for each in range(rank)]))
            sizes = op.constants[number]
            begin = begin + (b.element(shape, axis) if sizes is None else int(sizes[axis]))
        return offsets
