"""``Cross``: the cross product of vectors of three elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.passes.legalize.decomposition import Decomposition, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.tensors import Tensor

__all__ = ["Cross"]


@decomposition("Cross")
class Cross(Decomposition):
    """``a[1] * b[2] - a[2] * b[1]`` and so on, along the last dimension.

    Definition: https://www.tensorflow.org/api_docs/python/tf/linalg/cross.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        axis = len(op.shape(0)) - 1
        op.shape(1, axis + 1)
        op.require(0, "float32", "int32", "int64")
        x, y = ([b.slice(value, axis, n, n + 1) for n in range(3)] for value in op.operands)

        def part(i: int, j: int) -> Tensor:
            return x[i] * y[j] - x[j] * y[i]

        return b.concat([part(1, 2), part(2, 0), part(0, 1)], axis)
