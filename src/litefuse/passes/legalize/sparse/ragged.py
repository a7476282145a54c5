"""Ops on ragged tensors, whose rows of different lengths are concatenated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, ceil, maximum, minimum, select
from litefuse.passes.legalize.arrays.carrier import carried, delivered
from litefuse.passes.legalize.decomposition import decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize


@decomposition("RaggedRange")
def ragged_range(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """Element j belongs to the first row that ends after j.

    Elements of float32 are a product of the delta more than the start, where TensorFlow adds up deltas: the last bits
    may differ.

    Definition: https://www.tensorflow.org/api_docs/python/tf/ragged/range.
    """
    op.require(0, "float32", "int32", "int64")
    dtype = op.types[0].dtype
    computed = "float32" if dtype == "float32" else "int32"  # which suffices for tensors in memory
    operands = [b.cast(operand, computed) for operand in op.operands]
    count: MixedSize = 1
    for operand in (0, 1, 2):
        if len(op.shape(operand, 0, 1)) == 1:
            count = b.size(operands[operand], 0)
    # A scalar start, limit or delta applies to all rows.
    starts, limits, deltas = (
        value if value.shape else b.op("Fill", [b.vector([count]), value], b.known([count]), computed)
        for value in operands
    )
    # The distance in deltas, of either sign, rounded up.
    if computed == "float32":
        lengths = b.cast(ceil((limits - starts) / deltas), "int32")
    else:
        lengths = -((starts - limits) // deltas)
    lengths = maximum(lengths, 0)
    ends, row, place = _numbered(b, lengths)
    steps = b.cast(place, computed) * b.gather(deltas, row)
    values = b.gather(starts, row) + steps
    return b.cast(b.pad(ends, [(1, 0)]), op.results[0].dtype), b.cast(values, dtype)


@decomposition("RaggedGather")
def ragged_gather(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """Computes the positions of each gathered row, from the outermost dimension on, then gathers the values.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/RaggedGather.
    """
    *nested, values, indices = op.operands
    indices = b.reshape(b.cast(indices, "int32"), [b.product(b.sizes(indices))])
    results: list[Tensor] = []
    for splits in nested:
        begins = b.gather(b.cast(splits, "int32"), indices)
        ends = b.gather(b.cast(splits, "int32"), indices + 1)
        gathered, row, place = _numbered(b, ends - begins)
        indices = b.gather(begins, row) + place
        results.append(b.cast(b.pad(gathered, [(1, 0)]), splits.dtype))
    return [*results, b.gather(values, indices)]


@decomposition("RaggedTensorToSparse")
def ragged_tensor_to_sparse(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """Numbers the elements, and finds each one's row, and place in the row, from the innermost dimension on.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/RaggedTensorToSparse.
    """
    *nested, values = op.operands
    rows, *inner = b.sizes(values)
    numbers = b.range(b.product([rows, *inner]))
    coordinates: list[Tensor] = []  # from the last dimension on
    for size in reversed(inner):
        coordinates.append(numbers % b.scalar(size))
        numbers = numbers // b.scalar(size)
    sizes: list[MixedSize] = []
    for splits in reversed([b.cast(each, "int32") for each in nested]):
        count = b.size(splits, 0) + -1
        begins, ends = b.slice(splits, 0, 0, count), b.slice(splits, 0, 1, None)
        behind = b.expand(ends, 0) <= b.expand(numbers, 1)
        row = b.reduce("Sum", b.cast(behind, "int32"), 1)
        # Splits that are none must not read elsewhere.
        row = minimum(row, b.scalar(count + -1))
        coordinates.append(numbers - b.gather(begins, row))
        numbers = row
        sizes.append(maximum(b.reduce("Max", ends - begins, 0), 0))
    coordinates.append(numbers)
    indices = b.stack(coordinates[::-1], 1)
    sizes.append(b.size(nested[0], 0) + -1)
    shape = b.vector([*reversed(sizes), *inner])
    flat = b.reshape(values, [b.product([rows, *inner])])
    return b.cast(indices, "int64"), flat, b.cast(shape, "int64")


def _numbered(b: Builder, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Emits the ends of rows of some lengths, and for each of their elements its row and its position in the row."""
    ends = b.cumsum(lengths, 0)
    total = b.reduce("Sum", lengths, 0)
    numbers = b.op("Range", [b.scalar(0), total, b.scalar(1)], [None], "int32")
    behind = b.expand(ends, 0) <= b.expand(numbers, 1)
    row = b.reduce("Sum", b.cast(behind, "int32"), 1)
    place = numbers - b.gather(ends - lengths, row)
    return ends, row, place


@decomposition("RaggedTensorToTensor")
def ragged_tensor_to_tensor(op: TensorFlowOp, b: Builder) -> Tensor:
    """Gathers each row's elements, and the default after its end, from the innermost dimension on.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/RaggedTensorToTensor.
    """
    kinds = [str(kind) for kind in op.attributes["row_partition_types"]]
    partitions = [b.cast(value, "int32") for value in op.operands[3:]]
    levels = _row_splits(b, kinds, partitions)
    sizes = _wanted_sizes(op, len(levels) + 1)
    value = carried(b, op.operands[1])
    default = carried(b, op.operands[2])
    for level in reversed(range(len(levels))):
        splits, width = levels[level], sizes[level + 1]
        if width is None:  # that of the longest row, of all
            width = maximum(b.reduce("Max", _lengths(b, splits), 0), 0)
        if level == 0 and sizes[0] is not None:  # rows are dropped, or empty ones appended
            present = b.size(splits, 0) + -1
            numbers = minimum(b.range(sizes[0] + 1), b.scalar(present))
            splits = b.gather(splits, numbers)
        value = _rows(b, value, splits, width, default)
    return delivered(b, value, op.types[1].dtype)


def _row_splits(b: Builder, kinds: Sequence[str], partitions: Sequence[Tensor]) -> list[Tensor]:
    if set(kinds) == {"ROW_SPLITS"}:
        return list(partitions)
    if kinds[0] != "FIRST_DIM_SIZE" or set(kinds[1:]) != {"VALUE_ROWIDS"}:
        raise NotDecomposed(f"its rows are described by {', '.join(kinds)}")
    splits: list[Tensor] = []
    count: MixedSize = partitions[0]
    for ids in partitions[1:]:
        ones = b.fill(b.sizes(ids), 1, "int32")
        lengths = b.op("UnsortedSegmentSum", [ones, ids, b.scalar(count)], b.known([count]), "int32")
        splits.append(b.pad(b.cumsum(lengths, 0), [(1, 0)]))
        count = b.size(ids, 0)
    return splits


def _wanted_sizes(op: TensorFlowOp, count: int) -> list[int | None]:
    """Returns the sizes of the first dimension and of the rows of each level, None for that of the longest row."""
    shape = op.shape(0, 0, 1)
    if not shape:
        return [None] * count
    wanted = op.constants[0]
    if wanted is None:
        raise NotDecomposed("the shape of the result is not constant")
    return [int(size) if size >= 0 else None for size in wanted[:count]]


def _lengths(b: Builder, splits: Tensor) -> Tensor:
    return b.slice(splits, 0, 1, None) - b.slice(splits, 0, 0, b.size(splits, 0) + -1)


def _rows(b: Builder, value: Tensor, splits: Tensor, width: MixedSize, default: Tensor) -> Tensor:
    begins, lengths = b.slice(splits, 0, 0, b.size(splits, 0) + -1), _lengths(b, splits)
    positions = b.expand(b.range(width), 0)
    inside = positions < b.expand(lengths, 1)
    count, *rest = b.sizes(value)
    places = select(inside, b.expand(begins, 1) + positions, b.scalar(count))
    return b.gather(b.concat([value, b.broadcast(default, [1, *rest])], 0), places)
