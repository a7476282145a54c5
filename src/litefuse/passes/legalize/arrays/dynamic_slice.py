"""``XlaDynamicSlice``: slices of a given size that stay within the tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, maximum, minimum
from litefuse.passes.legalize.decomposition import Decomposition, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder

__all__ = ["DynamicSlice"]


@decomposition("XlaDynamicSlice")
class DynamicSlice(Decomposition):
    """Slices from ``max(0, min(begin, size of the tensor - size of the slice))`` in each dimension.

    Definition: https://openxla.org/xla/operation_semantics#dynamicslice.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        value = op.operands[0]
        rank = len(op.shape(0))
        for operand in (1, 2):
            if op.shape(operand, 1) not in ((rank,), (None,)):
                raise NotDecomposed(f"it has not one begin and one size for each of the {rank} dimensions")
        whole = b.sizes(value)
        begins, sizes = (b.numbers(op, operand, rank) for operand in (1, 2))
        starts = [
            maximum(minimum(begin, size - part), 0) for begin, size, part in zip(begins, whole, sizes, strict=True)
        ]
        known = b.known(sizes)
        return b.op("Slice", [value, b.vector(starts), b.vector(sizes)], known, value.dtype)
