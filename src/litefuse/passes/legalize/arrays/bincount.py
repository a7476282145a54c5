"""``Bincount``, ``DenseBincount`` and ``RaggedBincount``: counts of how often each number occurs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.ir.tensors import Tensor, minimum
from litefuse.passes.legalize.decomposition import decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize


@decomposition("Bincount", "DenseBincount")
def bincount(op: TensorFlowOp, b: Builder) -> Tensor:
    """A scatter, which adds up updates of one element; those of numbers from ``size`` on go to one that is sliced off.

    Definition: https://www.tensorflow.org/api_docs/python/tf/math/bincount.
    """
    rank = len(op.shape(0)) if op.name == "Bincount" else len(op.shape(0, 1, 2))
    op.require(2, "float32", "int32", "int64")
    numbers, size, weights = op.operands
    binary = bool(op.attributes.get("binary_output", False))
    known = op.constants[1]
    bins: MixedSize = b.cast(size, "int32") if known is None else int(known)
    sizes = b.sizes(numbers)
    batch: MixedSize = sizes[0] if op.name == "DenseBincount" and rank == 2 else 1

    count = b.product(sizes)
    place = _places(b, b.reshape(numbers, [count]), bins)
    width = bins + 1
    if batch != 1:
        row = b.range(batch) * b.scalar(width)
        place = b.reshape(b.reshape(place, [batch, sizes[1]]) + b.expand(row, 1), [count])
    dtype = op.types[2].dtype
    unweighted = binary or 0 in op.shape(2)
    updates = b.fill([count], 1, dtype) if unweighted else b.reshape(weights, [count])
    sums = _sums(b, place, updates, batch * width, binary=binary)
    if op.name == "DenseBincount" and rank == 2:
        return b.slice(b.reshape(sums, [batch, width]), 1, 0, bins)
    return b.slice(sums, 0, 0, bins)


@decomposition("RaggedBincount")
def ragged_bincount(op: TensorFlowOp, b: Builder) -> Tensor:
    """Like ``Bincount``, with bins of its own for each row.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/RaggedBincount.
    """
    op.require(3, "float32", "int32", "int64")
    splits, numbers, size, weights = op.operands
    op.shape(1, 1)
    known = op.constants[2]
    bins: MixedSize = b.cast(size, "int32") if known is None else int(known)
    binary = bool(op.attributes.get("binary_output", False))
    count = b.size(numbers, 0)
    rows = b.size(splits, 0) - 1
    # The row of a number is the count of rows that end at or before its position.
    ends = b.expand(b.cast(b.slice(splits, 0, 1, None), "int32"), 1)
    ones = b.fill([rows], 1, "int32")
    steps = count + 1
    ended = b.op("ScatterNd", [ends, ones, b.vector([steps])], b.known([steps]), "int32")
    row = b.slice(b.cumsum(ended, 0), 0, 0, count)
    width = bins + 1
    place = _places(b, numbers, bins) + row * b.scalar(width)
    dtype = op.types[3].dtype
    updates = b.fill([count], 1, dtype) if binary or 0 in op.shape(3) else weights
    sums = _sums(b, place, updates, rows * width, binary=binary)
    return b.slice(b.reshape(sums, [rows, width]), 1, 0, bins)


def _places(b: Builder, numbers: Tensor, bins: MixedSize) -> Tensor:
    """Emits the numbers as int32, at most ``bins``."""
    return b.cast(minimum(numbers, b.cast(b.scalar(bins), numbers.dtype)), "int32")


def _sums(b: Builder, places: Tensor, updates: Tensor, total: MixedSize, *, binary: bool) -> Tensor:
    """Emits the sum of the updates of each of ``total`` elements; if ``binary``, 1 for those that have any."""
    operands = [b.expand(places, 1), updates, b.vector([total])]
    sums = b.op("ScatterNd", operands, b.known([total]), updates.dtype)
    return minimum(sums, 1) if binary else sums
