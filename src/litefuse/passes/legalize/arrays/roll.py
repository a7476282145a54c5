"""``Roll``: circular shifts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, maximum
from litefuse.passes.legalize.arrays.carrier import carried, delivered
from litefuse.passes.legalize.arrays.coordinates import around_axis
from litefuse.passes.legalize.decomposition import before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize


@decomposition("Roll")
# Fault `int64-axes-of-roll`.
@before_engine("Roll", dtypes=("int64",), operand=2)
def roll(op: TensorFlowOp, b: Builder) -> Tensor:
    """For each axis in turn, a concatenation of the part that is shifted past the end and the other.

    Definition: https://www.tensorflow.org/api_docs/python/tf/roll.
    """
    rank = len(op.shape(0))
    axes = [int(axis) for axis in op.constant(2).reshape(-1)]
    if not all(-rank <= axis < rank for axis in axes):
        raise NotDecomposed(f"{axes} are not axes of rank {rank}")
    value = carried(b, op.operands[0])
    for axis, shift in zip(axes, _shifts(op, b, len(axes)), strict=True):
        rows, sizes = around_axis(b, value, axis % rank)
        size = sizes[axis % rank]
        # The begin of the part that comes first; an empty dimension must not be a divisor.
        begin = (0 - shift) % maximum(size, 1)
        parts = [b.slice(rows, 1, begin, None), b.slice(rows, 1, 0, begin)]
        value = b.reshape(b.concat(parts, 1), sizes)
    return delivered(b, value, op.types[0].dtype)


def _shifts(op: TensorFlowOp, b: Builder, count: int) -> list[MixedSize]:
    known = op.constants[1]
    if known is not None:
        return [int(shift) for shift in known.reshape(-1)]
    shifts = b.cast(op.operands[1], "int32")
    if not op.shape(1, 0, 1):
        return [shifts]
    return [b.element(shifts, index) for index in range(count)]
