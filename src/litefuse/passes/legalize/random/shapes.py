"""Results whose shape is an operand, of any rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_value
from litefuse.ir.tensors import Tensor
from litefuse.ir.types import element_type_of

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize
    from litefuse.ir.tensorflow_op import TensorFlowOp

__all__ = ["of_wanted_shape"]


def of_wanted_shape(op: TensorFlowOp, b: Builder, make: Callable[[list[MixedSize]], Tensor]) -> Tensor:
    """Emits the result of an op whose first operand is its shape.

    Args:
        op: The op.
        b: Emits the ops.
        make: Emits a value with some sizes; if the rank of the result is unknown, a vector, which is reshaped.
    """
    (result,) = op.results
    wanted = op.operands[0]
    if result.shape is not None:
        return make(b.sizes_in(wanted, result.shape))
    wanted = b.cast(wanted, "int32")
    count = b.op("Prod", [wanted, b.constant([0], "int32")], [], "int32", keep_dims=False)
    kind = ir.UnrankedTensorType.get(element_type_of(result.dtype))
    return Tensor(create_value("tf.Reshape", kind, [make([count]), wanted]))
