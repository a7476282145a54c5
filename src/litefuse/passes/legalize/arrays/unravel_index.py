"""``UnravelIndex``: coordinates of row-major indices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.passes.legalize.arrays.coordinates import coordinates
from litefuse.passes.legalize.decomposition import Decomposition, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.tensors import Tensor

__all__ = ["UnravelIndex"]


@decomposition("UnravelIndex")
class UnravelIndex(Decomposition):
    """From the last dimension to the first, coordinate d is the remainder of the previous quotient by ``dims[d]``.

    Definition: https://www.tensorflow.org/api_docs/python/tf/unravel_index.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        op.shape(0, 0, 1)
        (count,) = op.shape(1, 1)
        if not count:
            raise NotDecomposed("the number of dimensions is unknown")
        op.require(0, "int32")
        numbers, dims = op.operands
        return b.stack(coordinates(numbers, [b.element(dims, axis) for axis in range(count)]), 0)
