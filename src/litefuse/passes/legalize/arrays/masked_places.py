"""``StridedSlice`` of one position despite a begin mask; in a module of its own, since many models import it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.passes.legalize.decomposition import Decomposition, before_engine

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.tensors import Tensor


# Fault `masked-place`.
@before_engine("StridedSlice", other_than={"begin_mask": 0, "shrink_axis_mask": 0})
class PlaceDespiteMask(Decomposition):
    """Clears the begin mask of dimensions that are dropped, where TensorFlow ignores it.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/StridedSlice.
    """

    folds = True

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return bool(_mask(op, "begin_mask") & _mask(op, "shrink_axis_mask"))

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        (result,) = op.results
        attributes = b.options(op)
        if not self.before_lowering(op) or result.shape is None:
            raise NotDecomposed("no mask is to be left out")
        attributes["begin_mask"] = _mask(op, "begin_mask") & ~_mask(op, "shrink_axis_mask")
        return b.op("StridedSlice", op.operands, result.shape, result.dtype, **attributes)


def _mask(op: TensorFlowOp, name: str) -> int:
    return int(op.attributes[name])
