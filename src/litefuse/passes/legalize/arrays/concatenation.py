"""Concatenations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.mlir import producer
from litefuse.ir.types import tensor_type_of
from litefuse.passes.legalize.decomposition import Decomposition, before_engine

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.tensorflow_op import TensorFlowOp
    from litefuse.ir.tensors import Tensor

# Whether the order of an op's operands counts.
_FACTORED = {"tf.Add": False, "tf.AddV2": False, "tf.Div": True, "tf.Mul": False, "tf.RealDiv": True, "tf.Sub": True}


# Faults `repeated-columns`, `neutral-element-of-halves`, `neutral-element-in-front`. Last, because columns may be
# results of other rewritings.
@before_engine("ConcatV2", dtypes=("bfloat16", "float16", "float32", "float64"), last=True)
class FactoredColumns(Decomposition):
    """Counts the axis of a concatenation of columns from the last dimension.

    The engine moves an op on columns and scalars behind their concatenation, with a neutral element for columns that
    are not such a result::

        [2 * x, 3 * y, z]  -->  [2, 3, 1] * [x, y, z]

    It does so for nonnegative axes only. It is right if there is one such column, the dtype is float32, and the
    neutral element commutes.
    """

    folds = True

    def before_lowering(self, op: TensorFlowOp) -> bool:
        axis, first = op.constants[-1], producer(op.operands[0], *_FACTORED)
        if first is None or axis is None or any(not kind.shape or kind.shape[-1] != 1 for kind in op.types[:-1]):
            return False
        if int(axis) != len(op.shape(0)) - 1:
            return False
        others = sum(producer(column, first.name) is None for column in op.operands[:-1])
        in_front = _FACTORED[first.name] and tensor_type_of(first.operands[0]).shape == ()
        return others > 1 or (others == 1 and (in_front or op.types[0].dtype != "float32"))

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        (result,) = op.results
        return b.op("ConcatV2", [*op.operands[:-1], b.constant(-1, "int32")], result.shape or (), result.dtype)
