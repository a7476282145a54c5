"""Ops on sparse tensors: indices ``[count, rank]``, values ``[count]``, and the dense shape."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, equal, exp, maximum, not_equal, select
from litefuse.passes.legalize.arrays.carrier import carried, delivered
from litefuse.passes.legalize.arrays.loops import coordinates, element_numbers
from litefuse.passes.legalize.decomposition import decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder


@decomposition("SparseTensorDenseMatMul")
def sparse_dense_product(op: TensorFlowOp, b: Builder) -> Tensor:
    """Multiplies each value by a row of the dense factor, and sums the products by rows of the result.

    Definition: https://www.tensorflow.org/api_docs/python/tf/sparse/sparse_dense_matmul.
    """
    op.shape(0, 2)
    op.shape(3, 2)
    op.require(1, "float32")
    indices, values, shape, dense = op.operands
    row, column = (1, 0) if op.attributes.get("adjoint_a", False) else (0, 1)
    if op.attributes.get("adjoint_b", False):
        dense = b.transpose(dense, [1, 0])
    products = b.expand(values, 1) * b.gather(dense, _column(b, indices, column))
    count = b.sizes_in(shape, (None, None))[row] if op.constants[2] is None else int(op.constants[2][row])
    known = [*b.known([count]), dense.shape[1]]
    return b.op("UnsortedSegmentSum", [products, _column(b, indices, row), b.scalar(count)], known, "float32")


@decomposition("SparseFillEmptyRows")
def sparse_fill_empty_rows(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """Sorts the elements by rows, stably, and inserts the default in each empty row.

    An element's position is the number of elements and empty rows before it.

    Definition: https://www.tensorflow.org/api_docs/python/tf/sparse/fill_empty_rows.
    """
    _, rank = op.shape(0, 2)
    if rank is None:
        raise NotDecomposed("the number of dimensions is unknown")
    indices, values, shape, default = op.operands
    total = b.cast(b.element(shape, 0), "int32")
    count = b.size(indices, 0)
    rows = _column(b, indices, 0)
    ones = b.fill([count], 1, "int32")
    numbers = b.op("UnsortedSegmentSum", [ones, rows, total], [None], "int32")
    empty = equal(numbers, 0)
    # The number of elements before each row, including the defaults of empty rows.
    before = b.cumsum(maximum(numbers, 1), 0, exclusive=True)
    # The order of the elements by rows, of negated keys, since TopK returns the largest first.
    keys = rows * b.scalar(count) + b.range(count)
    known = keys.shape
    _, order = b.ops("TopKV2", [-keys, b.scalar(count)], [(known, "int32")] * 2, sorted=True)
    ordered = b.gather(rows, order)
    in_row = b.range(count) - b.gather(b.cumsum(numbers, 0, exclusive=True), ordered)
    sorted_places = b.gather(before, ordered) + in_row
    places = b.op("ScatterNd", [b.expand(order, 1), sorted_places, b.vector([count])], known, "int32")

    filled = b.places(empty)
    missing = b.size(filled, 0)
    every = b.concat([places, b.gather(before, filled)], 0)
    length = count + missing
    # The source of each element of the result.
    sources = b.op("ScatterNd", [b.expand(every, 1), b.range(length), b.vector([length])], [None], "int32")
    first = b.expand(b.cast(filled, op.types[0].dtype), 1)
    all_indices = b.concat([indices, b.pad(first, [(0, 0), (0, rank - 1)])], 0)
    carrier = carried(b, values)
    defaults = b.op("Fill", [b.vector([missing]), carried(b, default)], [None], carrier.dtype)
    all_values = delivered(b, b.gather(b.concat([carrier, defaults], 0), sources), op.types[1].dtype)
    return [b.gather(all_indices, sources), all_values, empty, b.cast(places, op.results[3].dtype)]


@decomposition("SparseReshape")
def sparse_reshape(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """Converts each index vector to a row-major index, and that to an index vector of the new shape.

    Definition: https://www.tensorflow.org/api_docs/python/tf/sparse/reshape.
    """
    op.shape(0, 2)
    (old_rank,), (new_rank,) = op.shape(1, 1), op.shape(2, 1)
    if old_rank is None or new_rank is None:
        raise NotDecomposed("the number of dimensions is unknown")
    indices, old, new = op.operands
    sizes = [b.element(old, axis) for axis in range(old_rank)]
    one, multiply = b.constant(1, "int64"), functools.partial(b.binary, "Mul")
    if not sizes:
        raise NotDecomposed("it has no dimensions")
    total = functools.reduce(multiply, sizes, one)
    wanted = [b.element(new, axis) for axis in range(new_rank)]
    given = functools.reduce(multiply, wanted, one)  # negative if one of the sizes is -1
    rest = total // maximum(-given, 1)
    shape = [select(size < 0, rest, size) for size in wanted]
    divisors = [maximum(size, 1) for size in shape]
    columns = coordinates(element_numbers(b, indices, sizes), divisors)
    return b.stack(columns, 1), b.stack(shape, 0)


@decomposition("SparseReorder")
def sparse_reorder(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """Sorts the elements by their row-major indices.

    Definition: https://www.tensorflow.org/api_docs/python/tf/sparse/reorder.
    """
    indices, values, shape = op.operands
    rank = _rank(op)
    sizes = [b.cast(b.element(shape, axis), "int32") for axis in range(rank)]
    numbers = element_numbers(b, b.cast(indices, "int32"), sizes)
    known, count = numbers.shape, b.scalar(b.size(indices, 0))
    # Negated, since TopK returns the largest first.
    _, order = b.ops("TopKV2", [-numbers, count], [(known, "int32")] * 2, sorted=True)
    ordered = delivered(b, b.gather(carried(b, values), order), op.types[1].dtype)
    return b.gather(indices, order), ordered


@decomposition("SparseDenseCwiseAdd", "SparseDenseCwiseDiv", "SparseDenseCwiseMul")
def sparse_dense_arithmetic(op: TensorFlowOp, b: Builder) -> Tensor:
    """Combines the values with the elements of the dense tensor at their indices.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/SparseDenseCwiseMul, SparseDenseCwiseAdd,
    SparseDenseCwiseDiv.
    """
    op.require(1, "float32", "int32", "int64")
    indices, values, shape, dense = op.operands
    if op.shape(3):
        whole = b.op("BroadcastTo", [dense, b.cast(shape, "int32")], [None] * _rank(op), op.types[3].dtype)
        dense = b.op("GatherNd", [whole, b.cast(indices, "int32")], values.shape, op.types[3].dtype)
    kind = op.name.removeprefix("SparseDenseCwise")
    if kind == "Div":
        kind = "RealDiv" if op.types[1].dtype == "float32" else "Div"
    return b.binary({"Add": "AddV2"}.get(kind, kind), values, dense)


@decomposition("SparseSoftmax")
def sparse_softmax(op: TensorFlowOp, b: Builder) -> Tensor:
    """The softmax of the values of each row, whose indices differ only in the last dimension.

    Definition: https://www.tensorflow.org/api_docs/python/tf/sparse/softmax.
    """
    op.require(1, "float32")
    indices, values, shape = op.operands
    rank = _rank(op)
    if rank < 2:
        raise NotDecomposed("it has less than two dimensions")
    sizes = [b.cast(b.element(shape, axis), "int32") for axis in range(rank - 1)]
    rows = element_numbers(b, b.cast(indices, "int32"), sizes)
    count = functools.reduce(functools.partial(b.binary, "Mul"), sizes)
    largest = b.op("UnsortedSegmentMax", [values, rows, count], [None], "float32")
    powers = exp(values - b.gather(largest, rows))
    sums = b.op("UnsortedSegmentSum", [powers, rows, count], [None], "float32")
    return powers / b.gather(sums, rows)


@decomposition("SparseReduceSum")
def sparse_sum(op: TensorFlowOp, b: Builder) -> Tensor:
    """Sums the tensor after a conversion to a dense one.

    Definition: https://www.tensorflow.org/api_docs/python/tf/sparse/reduce_sum.
    """
    rank = _rank(op)
    op.require(1, "float32", "int32", "int64")
    indices, values, shape, axes = op.operands
    operands = [b.cast(indices, "int32"), values, b.cast(shape, "int32")]
    dense = b.op("ScatterNd", operands, [None] * rank, op.types[1].dtype)
    kept = bool(op.attributes.get("keep_dims", False))
    known = op.results[0].shape
    if known is None:
        summed = {int(axis) % rank for axis in op.constant(3).reshape(-1)}
        known = [1 if axis in summed else None for axis in range(rank) if kept or axis not in summed]
    return b.op("Sum", [dense, axes], known, op.types[1].dtype, keep_dims=kept)


def _rank(op: TensorFlowOp) -> int:
    """Returns the number of dimensions, from the type of the indices or of the shape."""
    rank = op.shape(0, 2)[1]
    if rank is None:
        rank = op.shape(2, 1)[0]
    if rank is None:
        raise NotDecomposed("the number of dimensions is unknown")
    return rank


def _column(b: Builder, indices: Tensor, axis: int) -> Tensor:
    """Emits the indices of one dimension, int32."""
    return b.cast(b.gather(indices, b.constant(axis, "int32"), 1), "int32")


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
