"""Reductions over segments, lowered to unsorted segment reductions, and scatters, lowered to these too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.legalize.arrays.coordinates import element_numbers
from litefuse.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize
    from litefuse.ir.mlir import ir

__all__ = ["Segment", "SparseSegment", "TensorScatter", "UnsortedSegment"]


@decomposition("SegmentMax", "SegmentMean", "SegmentMin", "SegmentProd", "SegmentSum")
# Fault `segment-without-elements`.
@before_engine("SegmentSum")
class Segment(Decomposition):
    """The unsorted form, with the last id plus 1 as the number of segments.

    Segments without elements are 0, or 1 for products.

    Definition: https://www.tensorflow.org/api_docs/python/tf/math#about_segmentation_2.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.shape(1, 1)
        kind = op.name.removeprefix("Segment")
        op.require(0, "float32", "int32", *(["int64"] if kind == "Sum" else []))
        data, ids = op.operands
        return _segments(b, kind, data, b.cast(ids, "int32"), op.constants[1])


@decomposition("SparseSegmentMean", "SparseSegmentSqrtN", "SparseSegmentSum")
class SparseSegment(Decomposition):
    """A segment reduction of gathered rows.

    Definition: https://www.tensorflow.org/api_docs/python/tf/sparse/segment_sum, segment_mean, segment_sqrt_n.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.shape(2, 1)
        op.require(0, "float32")
        data, indices, ids = op.operands
        rows = b.gather(data, b.cast(indices, "int32"))
        kind = op.name.removeprefix("SparseSegment")
        return _segments(b, kind, rows, b.cast(ids, "int32"), op.constants[2])


@decomposition("UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd", "UnsortedSegmentSum")
class UnsortedSegment(Decomposition):
    """int64 sums as scatters, which add up the updates of one element.

    Negative ids are scattered to a segment that is sliced off.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
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
        places = b.select(b.compare("Less", places, 0), b.scalar(count), places)
        total = b.dims("AddV2", count, 1)
        operands = [b.expand(places, 1), b.reshape(data, [elements, *rest]), b.vector([total, *rest])]
        known = [*b.known([total]), *shape[len(ids_shape) :]]
        return b.slice(b.op("ScatterNd", operands, known, "int64"), 0, 0, count)


@decomposition("TensorScatterAdd", "TensorScatterMax", "TensorScatterMin", "TensorScatterSub")
# The engine gathers, adds and scatters, so of several updates of one element, the last one wins; and the fault
# `addition-to-infinity`.
@before_engine("TensorScatterAdd", "TensorScatterSub")
class TensorScatter(Decomposition):
    """Adds scattered updates; extremes are unsorted segment reductions of the tensor's elements and the updates.

    Definition: https://www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_sub, tensor_scatter_nd_max.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        shape, index_shape = op.shape(0), op.shape(1)
        sums = op.name in {"TensorScatterAdd", "TensorScatterSub"}
        op.require(0, "float32", "int32", "int64", *(["complex64"] if sums else []))
        tensor, indices, updates = op.operands
        dtype = b.dtype(tensor)
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
        return b.reshape(b.op(name, [rows, every, b.scalar(count)], b.known([count, row]), dtype), sizes)


def _segments(
    b: Builder, kind: str, data: ir.Value, ids: ir.Value, known: np.ndarray[tuple[int, ...], np.dtype[np.int64]] | None
) -> ir.Value:
    shape = b.shape(data)
    count: MixedSize
    if known is not None:
        count = int(known[-1]) + 1 if known.size else 0
    else:
        last = b.op("Max", [ids, b.constant([0], "int32")], [], "int32", keep_dims=False)
        count = b.binary("AddV2", last, 1)
    (rows,) = b.known([count])
    operation = "Sum" if kind in {"Mean", "SqrtN"} else kind
    operands = [data, ids, b.scalar(count)]
    value = b.op(f"UnsortedSegment{operation}", operands, [rows, *shape[1:]], b.dtype(data))
    if kind in {"Sum", "Prod"}:
        return value
    elements = b.size(data, 0)
    ones = b.fill([elements], 1, b.dtype(data))
    numbers = b.op("UnsortedSegmentSum", [ones, ids, b.scalar(count)], [rows], b.dtype(data))
    for _ in shape[1:]:
        numbers = b.expand(numbers, len(b.shape(numbers)))
    if kind in {"Max", "Min"}:
        return b.select(b.compare("Greater", numbers, 0), value, 0)
    numbers = b.binary("Maximum", numbers, 1)
    return b.binary("RealDiv", value, b.unary("Sqrt", numbers) if kind == "SqrtN" else numbers)
