"""Means of integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize
    from litefuse.ir.tensors import Tensor

__all__ = ["IntegerMean"]


@decomposition("Mean")
# Fault `mean-of-bytes`.
@before_engine("Mean", dtypes=("uint8",))
# Fault `reduction-of-seven-dimensions`; a mean of means would be rounded twice.
@before_engine("Mean", dtypes=("int8", "int16", "int32", "int64"), above_rank=6)
class IntegerMean(Decomposition):
    """The sum divided by the count, truncated."""

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        shape = op.shape(0)
        op.require(0, "uint8", "int8", "int16", "int32", "int64")
        dtype = op.types[0].dtype
        value = op.operands[0] if dtype == "int64" else b.cast(op.operands[0], "int32")
        sizes = b.sizes(value)
        count: MixedSize = 1
        for axis in sorted({int(axis) % len(shape) for axis in op.constant(1).reshape(-1)}, reverse=True):
            count = count * sizes[axis]
            value = b.reduce("Sum", value, axis, keep_dims=bool(op.attributes.get("keep_dims", False)))
        return b.cast(b.binary("Div", value, b.cast(b.scalar(count), value.dtype)), dtype)
