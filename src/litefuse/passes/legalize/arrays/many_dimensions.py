"""Ops on more dimensions than LiteRT's ops or its delegates support, and extremes of no elements."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.passes.legalize.arrays.carrier import carried, carried_number, delivered
from litefuse.passes.legalize.arrays.loops import around_axis
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition
from litefuse.passes.legalize.linear_algebra.tridiagonal import in_one_batch

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize
    from litefuse.ir.tensors import Tensor

# LiteRT's PADV2 takes no more dimensions.
_PADDED_RANK = 5
# XNNPACK delegates some ops of any rank, and fails when the model is loaded if the rank is above this.
_DELEGATED_RANK = 6


@decomposition("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", order=-1)
def batched_product(op: TensorFlowOp, b: Builder) -> Tensor:
    """Matrix products with the batch dimensions merged into one.

    Definition: https://www.tensorflow.org/api_docs/python/tf/linalg/matmul.
    """
    shapes = [op.shape(0), op.shape(1)]
    if max(map(len, shapes)) <= 3:
        raise NotDecomposed(f"LiteRT's {op.name} does not take {op.types[0].dtype}")
    if len({op.types[0].dtype, op.types[1].dtype, op.results[0].dtype}) > 1:
        raise NotDecomposed("its factors and its result differ in dtype")
    factors, batch = in_one_batch(b, *op.operands)
    rows = b.size(op.operands[0], -1 if op.attributes.get("adj_x", False) else -2)
    columns = b.size(op.operands[1], -2 if op.attributes.get("adj_y", False) else -1)
    count = b.known([b.product(batch), rows, columns])
    product = b.op("BatchMatMulV2", factors, count, op.results[0].dtype, **_adjoint(op))
    return b.reshape(product, [*batch, rows, columns])


@decomposition("All", "Any", "Max", "Mean", "Min", "Prod", "Sum", order=1)
# Fault `reduction-of-seven-dimensions`.
@before_engine("All", "Any", "Max", "Mean", "Min", "Prod", "Sum", above_rank=6, order=1)
class Reduction(Decomposition):
    """Merges adjacent dimensions that are all reduced, or all kept.

    Definition: https://www.tensorflow.org/api_docs/python/tf/math/reduce_sum.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return op.constants[1] is not None  # reductions over computed axes are not delegated

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        rank = len(op.shape(0))
        if rank <= _DELEGATED_RANK:
            raise NotDecomposed(f"LiteRT's {op.name} does not take {op.types[0].dtype} in this form")
        reduced = {int(axis) % rank for axis in op.constant(1).reshape(-1)}
        value = op.operands[0]
        sizes = b.sizes(value)
        axes = [axis for axis in range(rank) if not (isinstance(sizes[axis], int) and sizes[axis] == 1)]
        groups = [list(group) for _, group in itertools.groupby(axes, reduced.__contains__)]
        value = b.reshape(value, [b.product([sizes[axis] for axis in group]) for group in groups])
        for at in reversed(range(len(groups))):
            if groups[at][0] in reduced:
                rows, own = around_axis(b, value, at)
                value = b.reshape(b.reduce(op.name, rows, 1), [*own[:at], *own[at + 1 :]])
        if op.attributes.get("keep_dims", False):
            return b.reshape(value, [1 if axis in reduced else size for axis, size in enumerate(sizes)])
        return b.reshape(value, [size for axis, size in enumerate(sizes) if axis not in reduced])


@decomposition("ConcatV2", order=4)
# Fault `concatenation-of-seven-dimensions`.
@before_engine("ConcatV2", dtypes=("bfloat16", "float16", "float32"), above_rank=6)
def concatenation(op: TensorFlowOp, b: Builder) -> Tensor:
    """A concatenation with the dimensions before the axis, and those after it, merged into one.

    Definition: https://www.tensorflow.org/api_docs/python/tf/concat.
    """
    _require_many(op, len(op.shape(0)))
    *values, _ = op.operands
    return b.concat(values, op.axis(len(values), len(op.shape(0))))


@decomposition("Pack", order=4)
# The engine lowers it to a concatenation for 16-bit floats: fault `concatenation-of-seven-dimensions`.
@before_engine("Pack", dtypes=("bfloat16", "float16"), above_rank=5)
def stack(op: TensorFlowOp, b: Builder) -> Tensor:
    """A concatenation along a new dimension of size 1, as the engine lowers it for 16-bit floats.

    Definition: https://www.tensorflow.org/api_docs/python/tf/stack.
    """
    rank = len(op.shape(0)) + 1
    _require_many(op, rank)
    axis = int(op.attributes.get("axis", 0)) % rank
    return b.concat([b.expand(value, axis) for value in op.operands], axis)


@decomposition("LogSoftmax", "Softmax")
# Fault `softmax-of-seven-dimensions`.
@before_engine("LogSoftmax", "Softmax", dtypes=("bfloat16", "float16", "float32"), above_rank=6)
def of_rows(op: TensorFlowOp, b: Builder) -> Tensor:
    """The op on a matrix, with all dimensions except the last merged into one.

    Definition: https://www.tensorflow.org/api_docs/python/tf/nn/softmax.
    """
    _require_many(op, len(op.shape(0)))
    (value,) = op.operands
    *before, last = b.sizes(value)
    rows = b.reshape(value, [b.product(before), last])
    return b.reshape(b.unary(op.name, rows), [*before, last])


# Fault `extreme-of-nothing`.
@before_engine("Max", "Min", dtypes=("float32",), empty=True)
class ExtremeOfNone(Decomposition):
    """The maximum of no numbers is minus infinity, their minimum infinity.

    Definition: https://www.tensorflow.org/api_docs/python/tf/math/reduce_max.
    """

    folds = True

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        sizes = b.sizes(op.operands[0])
        reduced = {int(axis) % len(sizes) for axis in op.constant(1).reshape(-1)}
        kept: list[MixedSize] = [size for axis, size in enumerate(sizes) if axis not in reduced]
        if op.attributes.get("keep_dims", False):
            kept = [1 if axis in reduced else size for axis, size in enumerate(sizes)]
        return b.fill(kept, -np.inf if op.name == "Max" else np.inf, op.results[0].dtype)


@decomposition("Pad", "PadV2", "Slice", order=-1)
def moved_pieces(op: TensorFlowOp, b: Builder) -> Tensor:
    """Paddings and slices of more dimensions than LiteRT's ops support, one dimension after the other."""
    rank = len(op.shape(0))
    value = carried(b, op.operands[0])
    dtype = op.types[0].dtype
    if op.name == "Slice":
        begins = op.constant(1).reshape(-1).tolist()
        lengths = op.constant(2).reshape(-1).tolist()
        for axis, (begin, length) in enumerate(zip(begins, lengths, strict=True)):
            rows, sizes = around_axis(b, value, axis)
            taken = b.slice(rows, 1, begin, None if length == -1 else begin + length)
            value = b.reshape(taken, [*sizes[:axis], b.size(taken, 1), *sizes[axis + 1 :]])
        return delivered(b, value, dtype)
    if op.constants[1] is None and rank <= _PADDED_RANK:
        raise NotDecomposed(f"LiteRT's {op.name} does not take {dtype} in this form")
    amounts = b.numbers(op, 1, 2 * rank)
    fill = carried_number(op.constant(2).reshape(-1)[0].item() if op.name == "PadV2" else 0, dtype)
    for axis, (before, after) in enumerate(zip(amounts[::2], amounts[1::2], strict=True)):
        if before == 0 and after == 0:
            continue
        rows, sizes = around_axis(b, value, axis)
        padded = b.pad(rows, [(0, 0), (before, after), (0, 0)], fill)
        value = b.reshape(padded, [*sizes[:axis], b.size(padded, 1), *sizes[axis + 1 :]])
    return delivered(b, value, dtype)


def _require_many(op: TensorFlowOp, rank: int) -> None:
    """Raises ``NotDecomposed`` unless an op has more dimensions than XNNPACK supports."""
    if rank <= _DELEGATED_RANK:
        raise NotDecomposed(f"LiteRT's {op.name} does not take {op.types[0].dtype} in this form")


def _adjoint(op: TensorFlowOp) -> dict[str, bool]:
    return {name: bool(op.attributes.get(name, False)) for name in ("adj_x", "adj_y")}
