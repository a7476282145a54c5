"""``XlaDynamicSlice``: slices of a given size that stay within the tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.passes.legalize.decomposition import Decomposition, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir

__all__ = ["DynamicSlice"]


@decomposition("XlaDynamicSlice")
class DynamicSlice(Decomposition):
    """Slices from ``max(0, min(begin, size of the tensor - size of the slice))`` in each dimension.

    Definition: https://openxla.org/xla/operation_semantics#dynamicslice.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        value = op.operands[0]
        rank = len(op.shape(0))
        for operand in (1, 2):
            if op.shape(operand, 1) not in ((rank,), (None,)):
                raise NotDecomposed(f"it has not one begin and one size for each of the {rank} dimensions")
        whole = b.sizes(value)
        begins, sizes = (b.numbers(op, operand, rank) for operand in (1, 2))
        starts = [
            b.dims("Maximum", b.dims("Minimum", begin, b.dims("Sub", size, part)), 0)
            for begin, size, part in zip(begins, whole, sizes, strict=True)
        ]
        known = b.known(sizes)
        return b.op("Slice", [value, b.vector(starts), b.vector(sizes)], known, b.dtype(value))
