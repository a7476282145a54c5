"""Ops that search, count (``Bincount`` and its forms) and deduplicate elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.constants import strings_of_constant
from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, floor, maximum, minimum, select
from litefuse.passes.legalize.arithmetic.elementary import where_finite
from litefuse.passes.legalize.decomposition import before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize


@decomposition("LowerBound", "UpperBound")
def bound(op: TensorFlowOp, b: Builder) -> Tensor:
    """Counts the sorted numbers that are smaller than each value (``UpperBound``: not greater).

    Definition: https://www.tensorflow.org/api_docs/python/tf/searchsorted.
    """
    op.shape(0, 2)
    op.shape(1, 2)
    op.require(0, "float32", "int32", "int64")
    ordered, values = b.expand(op.operands[0], 1), b.expand(op.operands[1], 2)
    before = b.compare("Less" if op.name == "LowerBound" else "LessEqual", ordered, values)
    return b.cast(b.reduce("Sum", b.cast(before, "int32"), 2), op.results[0].dtype)


@decomposition("HistogramFixedWidth")
def histogram_fixed_width(op: TensorFlowOp, b: Builder) -> Tensor:
    """Scatters ones to the bin of each value.

    Definition: https://www.tensorflow.org/api_docs/python/tf/histogram_fixed_width.
    """
    op.shape(1, 1)
    op.require(0, "float32")
    values, limits, number = op.operands
    count: MixedSize = b.cast(number, "int32") if op.constants[2] is None else int(op.constants[2])
    total = b.product(b.sizes(values))
    low, high = (b.gather(limits, b.constant(index, "int32")) for index in (0, 1))
    bins = b.cast(b.scalar(count), "float32")
    step = (high - low) / bins
    place = floor((b.reshape(values, [total]) - low) / step)
    place = minimum(maximum(place, 0.0), bins - 1.0)
    operands = [b.expand(b.cast(place, "int32"), 1), b.fill([total], 1, "int32"), b.vector([count])]
    counts = b.op("ScatterNd", operands, b.known([count]), "int32")
    return b.cast(counts, op.results[0].dtype)


@decomposition("InTopK", "InTopKV2")
def in_top_k(op: TensorFlowOp, b: Builder) -> Tensor:
    """Whether fewer than k classes have a higher prediction than the target; false if one is not finite.

    Definition: https://www.tensorflow.org/api_docs/python/tf/math/in_top_k.
    Source: tensorflow/core/kernels/in_topk_op.h.
    """
    op.shape(0, 2)
    op.require(0, "float32")
    predictions, targets = op.operands[0], b.cast(op.operands[1], "int32")
    k = b.constant(int(op.attributes["k"]), "int32") if op.name == "InTopK" else b.cast(op.operands[2], "int32")
    classes = b.range(b.size(predictions, 1))
    chosen = b.compare("Equal", b.expand(targets, 1), classes)
    own = b.reduce("Sum", select(chosen, predictions, 0.0), 1, keep_dims=True)
    better = b.reduce("Sum", b.cast(predictions > own, "int32"), 1)
    among = b.reduce("Any", chosen, 1)
    finite = b.reduce("All", where_finite(predictions), 1)
    return (better < k) & (finite & among)


@decomposition("NthElement")
def nth_element(op: TensorFlowOp, b: Builder) -> Tensor:
    """The last of the n + 1 smallest or largest elements.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/NthElement.
    """
    shape = op.shape(0)
    op.require(0, "float32")
    values, _ = op.operands
    n = int(op.constant(1))
    reverse = bool(op.attributes.get("reverse", False))
    ordered = values if reverse else -values
    results = b.ops(
        "TopKV2",
        [ordered, b.constant(n + 1, "int32")],
        [((*shape[:-1], n + 1), "float32"), ((*shape[:-1], n + 1), "int32")],
        sorted=True,
    )
    last = b.gather(results[0], b.constant(n, "int32"), len(shape) - 1)
    return last if reverse else -last


@decomposition("ListDiff")
# Fault `reshaped-constant-strings`, if the rewriting is lowered on its own after the engine.
@before_engine("ListDiff", dtypes=("string",))
def list_diff(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """The elements that are not among the others, and their positions.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/ListDiff.
    """
    op.shape(0, 1)
    op.shape(1, 1)
    x, y = op.operands
    equal = b.cast(b.compare("Equal", _expanded(b, x, 1), _expanded(b, y, 0)), "int32")
    alone = b.compare("Equal", b.reduce("Sum", equal, 1), 0)
    indices = b.places(alone)
    return b.gather(x, indices), b.cast(indices, op.results[1].dtype)


@decomposition("Unique")
# Fault `reshaped-constant-strings`, if the rewriting is lowered on its own after the engine.
@before_engine("Unique", dtypes=("string",))
def unique_strings(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """The distinct strings, in the order of their first occurrences, and the index of each string among them.

    Definition: https://www.tensorflow.org/api_docs/python/tf/unique.
    """
    op.shape(0, 1)
    if op.types[0].dtype != "string":
        raise NotDecomposed(f"LiteRT's Unique does not take {op.types[0].dtype}")
    values, places = _unique_strings(b, op.operands[0])
    return values, b.cast(places, op.results[1].dtype)


def _unique_strings(b: Builder, x: Tensor) -> tuple[Tensor, Tensor]:
    equal = b.cast(b.compare("Equal", _expanded(b, x, 1), _expanded(b, x, 0)), "int32")
    first = b.op("ArgMax", [equal, b.constant(1, "int32")], x.shape, "int32")
    is_first = b.compare("Equal", first, b.range(b.size(x, 0)))
    numbers = b.cumsum(b.cast(is_first, "int32"), 0) - 1
    return b.gather(x, b.places(is_first)), b.gather(numbers, first)


def _expanded(b: Builder, x: Tensor, axis: int) -> Tensor:
    """Emits ``ExpandDims``; of constant strings, a constant, for the fault ``reshaped-constant-strings``."""
    known = strings_of_constant(x) if x.dtype == "string" else None
    return b.expand(x, axis) if known is None else b.strings(np.expand_dims(known, axis))


@decomposition("UniqueV2", "UniqueWithCounts")
# Fault `reshaped-constant-strings`, if the rewriting is lowered on its own after the engine.
@before_engine("UniqueV2", "UniqueWithCounts", dtypes=("string",))
def unique_counts(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """``Unique``, and how often each element of it occurs.

    Definition: https://www.tensorflow.org/api_docs/python/tf/unique_with_counts.
    """
    op.shape(0, 1)
    x = op.operands[0]
    if x.dtype == "string":
        values, places = _unique_strings(b, x)
    else:
        values, places = b.ops("Unique", [x], [((None,), x.dtype), (x.shape, "int32")])
    answers = [values, b.cast(places, op.results[1].dtype)]
    if op.name == "UniqueWithCounts":
        ones = b.fill(b.sizes(x), 1, "int32")
        operands = [b.expand(places, 1), ones, b.vector([b.size(values, 0)])]
        answers.append(b.cast(b.op("ScatterNd", operands, [None], "int32"), op.results[2].dtype))
    return answers


@decomposition("ArgMax", "ArgMin")
def arg_extreme(op: TensorFlowOp, b: Builder) -> Tensor:
    """The position of the first of the largest elements of int64, or of their negatives, by TOPK_V2."""
    rank = len(op.shape(0))
    op.require(0, "int64")
    axis = op.axis(1, rank)
    value = op.operands[0]
    if op.name == "ArgMin":  # -1 - x, which the lowest integer has as well
        value = -1 - value
    value = b.transpose(value, [*(each for each in range(rank) if each != axis), axis])
    shape = (*value.shape[:-1], 1)
    largest = b.ops("TopKV2", [value, b.constant(1, "int32")], [(shape, "int64"), (shape, "int32")], sorted=True)
    return b.cast(b.reshape(largest[1], b.sizes(value)[:-1]), op.results[0].dtype)


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
