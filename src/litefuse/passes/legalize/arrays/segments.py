"""Reductions over segments, lowered to unsorted ones, scatters, and partitions of rows with their inverse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, equal, maximum, select, sqrt
from litefuse.passes.legalize.arithmetic.elementary import LARGEST
from litefuse.passes.legalize.arrays.carrier import carried, delivered
from litefuse.passes.legalize.arrays.loops import element_numbers
from litefuse.passes.legalize.decomposition import before_engine, decomposition

if TYPE_CHECKING:
    import numpy.typing as npt

    from litefuse.ir.builder import Builder, MixedSize


# The dtypes in which LiteRT sums up others, and what wraps around in them wraps around in the others.
_SUMMED_AS = {
    **dict.fromkeys(["int8", "int16", "uint8", "uint16"], "int32"),
    "uint32": "int32",
    "uint64": "int64",
}


@decomposition("SegmentMax", "SegmentMean", "SegmentMin", "SegmentProd", "SegmentSum")
# Fault `segment-without-elements`.
@before_engine("SegmentSum")
def segment(op: TensorFlowOp, b: Builder) -> Tensor:
    """The unsorted form, with the last id plus 1 as the number of segments.

    Segments without elements are 0, or 1 for products.

    Definition: https://www.tensorflow.org/api_docs/python/tf/math#about_segmentation_2.
    """
    op.shape(1, 1)
    kind = op.name.removeprefix("Segment")
    op.require(0, "float32", "int32", *(["int64"] if kind == "Sum" else []))
    data, ids = op.operands
    ids = b.cast(ids, "int32")
    if op.types[0].rank is not None:
        return _segments(b, kind, data, ids, op.constants[1])
    # Of unknown rank: the other dimensions are merged into one, and set apart again.
    rest = b.slice(b.op("Shape", [data], [None], "int32"), 0, 1, None)
    rows = b.op("Reshape", [data, b.vector([b.size(ids, 0), -1])], [ids.shape[0], None], op.types[0].dtype)
    made = _segments(b, kind, rows, ids, op.constants[1])
    return b.reshape_to(made, b.concat([b.vector([b.size(made, 0)]), rest], 0))


@decomposition(
    *("SparseSegmentMean", "SparseSegmentSqrtN", "SparseSegmentSum", "SparseSegmentMeanWithNumSegments"),
    *("SparseSegmentSqrtNWithNumSegments", "SparseSegmentSumWithNumSegments"),
)
def sparse_segment(op: TensorFlowOp, b: Builder) -> Tensor:
    """A segment reduction of gathered rows; an operand gives the number of segments, or the last id.

    Sums of narrow integers are those of int32, cut to their width.

    Definition: https://www.tensorflow.org/api_docs/python/tf/sparse/segment_sum, segment_mean, segment_sqrt_n.
    """
    op.shape(0)
    op.shape(2, 1)
    kind = op.name.removeprefix("SparseSegment").removesuffix("WithNumSegments")
    dtype = op.types[0].dtype
    data, indices, ids = op.operands[:3]
    if kind == "Sum" and dtype in _SUMMED_AS:
        change = b.bitcast if dtype in {"uint32", "uint64"} else b.cast
        data = change(data, _SUMMED_AS[dtype])
    else:
        op.require(0, "float32", *(["int32", "int64"] if kind == "Sum" else []))
        change = b.cast
    rows = b.gather(data, b.cast(indices, "int32"))
    count: MixedSize | None = b.numbers(op, 3, 1)[0] if len(op.operands) > 3 else None
    return change(_segments(b, kind, rows, b.cast(ids, "int32"), op.constants[2], count), dtype)


@decomposition("SparseSegmentMeanGrad", "SparseSegmentSqrtNGrad", "SparseSegmentSumGrad")
def sparse_segment_gradient(op: TensorFlowOp, b: Builder) -> Tensor:
    """Adds the gradient of each segment, or its share, to the rows that the segment was made of.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/SparseSegmentMeanGrad.
    """
    op.shape(0)
    op.shape(2, 1)
    op.require(0, "float32")
    gradient, indices, ids = op.operands[0], *(b.cast(operand, "int32") for operand in op.operands[1:3])
    kind = op.name.removeprefix("SparseSegment").removesuffix("Grad")
    if kind != "Sum":
        gradient = gradient / _divisors(b, kind, gradient, ids, b.size(gradient, 0))
    (count,) = b.numbers(op, 3, 1)
    return _segments(b, "Sum", b.gather(gradient, ids), indices, None, count)


@decomposition("UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd", "UnsortedSegmentSum")
def unsorted_segment(op: TensorFlowOp, b: Builder) -> Tensor:
    """int64 sums as scatters, which add up the updates of one element.

    Negative ids are scattered to a segment that is sliced off.
    """
    shape, ids_shape = op.shape(0), op.shape(1)
    op.require(0, "int64", "float32", "int32")
    if op.types[0].dtype != "int64" or op.name != "UnsortedSegmentSum":
        raise NotDecomposed(f"LiteRT's op for it does not take {op.types[0].dtype}")
    data, ids, number = op.operands
    count: MixedSize = b.cast(number, "int32") if op.constants[2] is None else int(op.constants[2])
    sizes = b.sizes(data)
    rest = sizes[len(ids_shape) :]
    elements = b.product(sizes[: len(ids_shape)])
    places = b.reshape(b.cast(ids, "int32"), [elements])
    places = select(places < 0, b.scalar(count), places)
    total = count + 1
    operands = [b.expand(places, 1), b.reshape(data, [elements, *rest]), b.vector([total, *rest])]
    known = [*b.known([total]), *shape[len(ids_shape) :]]
    return b.slice(b.op("ScatterNd", operands, known, "int64"), 0, 0, count)


@decomposition("TensorScatterAdd", "TensorScatterMax", "TensorScatterMin", "TensorScatterSub")
# The engine gathers, adds and scatters, so of several updates of one element, the last one wins; and the fault
# `addition-to-infinity`.
@before_engine("TensorScatterAdd", "TensorScatterSub")
def tensor_scatter(op: TensorFlowOp, b: Builder) -> Tensor:
    """Adds scattered updates; extremes are unsorted segment reductions of the tensor's elements and the updates.

    Definition: https://www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_sub, tensor_scatter_nd_max.
    """
    shape, index_shape = op.shape(0), op.shape(1)
    sums = op.name in {"TensorScatterAdd", "TensorScatterSub"}
    op.require(0, "float32", "int32", "int64", *(["complex64"] if sums else []))
    tensor, indices, updates = op.operands
    dtype = tensor.dtype
    depth = index_shape[-1]
    if depth is None:  # the updates have the remaining dimensions of the tensor
        depth = len(index_shape) - 1 + len(shape) - len(op.shape(2))
        indices = b.reshape(indices, [*b.sizes(indices)[:-1], depth])
    sizes = b.sizes(tensor)
    indices = b.cast(indices, "int32")
    if sums:
        scattered = b.op("ScatterNd", [indices, updates, b.vector(sizes)], shape, dtype)
        return b.binary(op.name.replace("TensorScatter", "").replace("Add", "AddV2"), tensor, scattered)
    if not depth:
        raise NotDecomposed("the index vectors are empty")
    places = element_numbers(b, indices, [b.scalar(size) for size in sizes[:depth]])
    count, row = b.product(sizes[:depth]), b.product(sizes[depth:])
    number = b.product(b.sizes(indices)[:-1])
    every = b.concat([b.range(count), b.reshape(places, [number])], 0)
    rows = b.concat([b.reshape(tensor, [count, row]), b.reshape(updates, [number, row])], 0)
    name = op.name.replace("TensorScatter", "UnsortedSegment")
    if dtype == "int64":
        raise NotDecomposed(f"LiteRT's {name} does not take int64")
    return b.reshape(_reduced(b, name, rows, every, count), sizes)


def _reduced(b: Builder, name: str, data: Tensor, ids: Tensor, count: MixedSize) -> Tensor:
    """Reduces ``count`` segments of a tensor's rows, each of which has an element.

    LiteRT starts from the lowest or the largest finite float, beyond which only half of an infinity is::

        max(-inf, -inf)  -->  max(-inf / 2, -inf / 2) = -3.4e38 < -3.4e38 / 2  -->  -inf

    No other product is infinite, since LiteRT's own MUL bounds them. Of subnormal floats the last bit is lost.
    """
    shape, dtype = [*b.known([count]), *data.shape[1:]], data.dtype
    if dtype != "float32" or name not in {"UnsortedSegmentMax", "UnsortedSegmentMin"}:
        return b.op(name, [data, ids, b.scalar(count)], shape, dtype)
    half = b.op(name, [data * 0.5, ids, b.scalar(count)], shape, dtype)
    finite = select(half < -LARGEST / 2, -math.inf, half * 2.0)
    return select(half > LARGEST / 2, math.inf, finite)


def _segments(
    b: Builder,
    kind: str,
    data: Tensor,
    ids: Tensor,
    known: np.ndarray[tuple[int, ...], np.dtype[np.int64]] | None,
    count: MixedSize | None = None,
) -> Tensor:
    """Reduces segments; ``count`` of them if it is given, else as many as the last id says, which may be known."""
    if count is None and known is not None:
        count = int(known[-1]) + 1 if known.size else 0
    elif count is None:
        last = b.op("Max", [ids, b.constant([0], "int32")], [], "int32", keep_dims=False)
        count = last + 1
    value = _reduced(b, f"UnsortedSegment{'Sum' if kind in {'Mean', 'SqrtN'} else kind}", data, ids, count)
    if kind in {"Sum", "Prod"}:
        return value
    if kind in {"Max", "Min"}:
        return select(_numbers(b, data, ids, count) > 0, value, 0)
    return value / _divisors(b, kind, data, ids, count)


def _divisors(b: Builder, kind: str, data: Tensor, ids: Tensor, count: MixedSize) -> Tensor:
    """Emits what means, or sums over the square root of their number, divide the sum of each segment by."""
    numbers = maximum(_numbers(b, data, ids, count), 1)
    return sqrt(numbers) if kind == "SqrtN" else numbers


def _numbers(b: Builder, data: Tensor, ids: Tensor, count: MixedSize) -> Tensor:
    """Emits how many ids each segment has, in the data's dtype and rank."""
    ones = b.fill([b.size(ids, 0)], 1, data.dtype)
    numbers = b.op("UnsortedSegmentSum", [ones, ids, b.scalar(count)], b.known([count]), data.dtype)
    for axis in range(1, len(data.shape)):
        numbers = b.expand(numbers, axis)
    return numbers


@decomposition("DynamicPartition")
def dynamic_partition(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """Gathers for each partition the rows with its number.

    Definition: https://www.tensorflow.org/api_docs/python/tf/dynamic_partition.
    """
    shape = op.shape(0)
    rank = len(op.shape(1))
    if not rank:
        raise NotDecomposed("there is one partition for all")
    data, partitions = op.operands
    parts: list[Tensor] = []
    for number in range(len(op.results)):
        places = b.op("Where", [equal(partitions, number)], [None, rank], "int64")
        parts.append(b.op("GatherNd", [data, b.cast(places, "int32")], [None, *shape[rank:]], data.dtype))
    return parts


@decomposition("DynamicStitch", "ParallelDynamicStitch")
def dynamic_stitch(op: TensorFlowOp, b: Builder) -> Tensor:
    """Gathers the row of each position; if there are several, the last.

    A position without any gets the first row: TensorFlow leaves it undefined.

    Definition: https://www.tensorflow.org/api_docs/python/tf/dynamic_stitch, parallel_stitch.
    """
    count = len(op.operands) // 2
    places: list[Tensor] = []
    rows: list[Tensor] = []
    for number in range(count):
        rank = len(op.shape(number))
        data = carried(b, op.operands[count + number])
        sizes = b.sizes(data)
        length = b.product(sizes[:rank])
        places.append(b.reshape(op.operands[number], [length]))
        rows.append(b.reshape(data, [length, *sizes[rank:]]))
    constants = [value.reshape(-1) for value in op.constants[:count] if value is not None]
    if len(constants) == count:
        last = b.constant(_last_for_each(np.concatenate(constants)), "int32")
    else:
        place = b.concat(places, 0)
        total = b.reduce("Max", place, 0) + 1
        found = b.op("UnsortedSegmentMax", [b.range(b.size(place, 0)), place, total], [None], "int32")
        last = maximum(found, 0)
    return delivered(b, b.gather(b.concat(rows, 0), last), op.types[count].dtype)


def _last_for_each(places: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns for each number the position of its last occurrence, 0 if it does not occur."""
    last = np.zeros(places.max(initial=-1) + 1, np.int32)
    last[places] = np.arange(places.size)
    return last
