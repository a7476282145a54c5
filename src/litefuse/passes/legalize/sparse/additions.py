"""Sums of sparse tensors, and of sparse and dense ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, not_equal
from litefuse.passes.legalize.arrays.coordinates import element_numbers
from litefuse.passes.legalize.decomposition import decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder


@decomposition("SparseAdd")
def sparse_addition(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """Sorts the elements of both by their row-major indices, and adds those of one place, unless their sum is small.

    The elements of each operand must be in this order, as those of sparse tensors are by definition.

    Definition: https://www.tensorflow.org/api_docs/python/tf/sparse/add.
    """
    rank = op.shape(0, 2)[1] or op.shape(2, 1)[0]
    if not rank:
        raise NotDecomposed("the number of dimensions is unknown")
    op.require(1, "float32", "int32", "int64")
    threshold = op.operands[6]
    indices, values = (b.concat([op.operands[place], op.operands[place + 3]], 0) for place in (0, 1))
    sizes = [b.cast(b.element(op.operands[2], axis), "int32") for axis in range(rank)]
    numbers = element_numbers(b, b.cast(indices, "int32"), sizes)
    known, count = numbers.shape, b.size(numbers, 0)
    # Negated, since TopK returns the largest first.
    _, order = b.ops("TopKV2", [-numbers, b.scalar(count)], [(known, "int32")] * 2, sorted=True)
    ordered = b.gather(numbers, order)
    before = b.slice(b.pad(ordered, [(1, 0)], -1), 0, 0, count)
    first = not_equal(ordered, before)
    place = b.cumsum(b.cast(first, "int32"), 0)
    total = b.reduce("Sum", b.cast(first, "int32"), 0)
    sums, several = (
        b.op("UnsortedSegmentSum", [each, place - 1, total], [None], each.dtype)
        for each in (b.gather(values, order), b.fill([count], 1, "int32"))
    )
    enough = [abs(sums) >= threshold, several < 2]
    kept = b.places(b.binary("LogicalOr", *enough))
    sources = b.gather(b.gather(order, b.places(first)), kept)
    return [b.gather(indices, sources), b.gather(sums, kept), op.operands[2]]


@decomposition("SparseTensorDenseAdd")
def sparse_dense_addition(op: TensorFlowOp, b: Builder) -> Tensor:
    """Adds the dense tensor and the scattered elements, of which several may be at one place.

    Definition: https://www.tensorflow.org/api_docs/python/tf/sparse/add.
    """
    indices, values, _, dense = op.operands
    shape, dtype = dense.shape, op.types[1].dtype
    operands = [b.cast(indices, "int32"), values, b.vector(b.sizes(dense))]
    return dense + b.op("ScatterNd", operands, shape, dtype)
