"""Reductions over segments: all in terms of those whose segments need no order, and scatters in terms of these."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.legalize.arrays.coordinates import element_numbers
from litefuse.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, Dim
    from litefuse.ir.mlir import ir

__all__ = ["Segment", "SparseSegment", "TensorScatter", "UnsortedSegment"]


@decomposition("SegmentMax", "SegmentMean", "SegmentMin", "SegmentProd", "SegmentSum")
# LiteRT's op fails where a segment is left out.
@before_engine("SegmentSum")
class Segment(Decomposition):
    """The unsorted form; there are as many segments as the last number says, and those without any element hold 0.

    (1 in products.) LiteRT's SEGMENT_SUM fails when a segment is left out.

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
    """int64 sums as scatters, which add up what falls on one place.

    Numbers below 0 fall on a place that is cut off.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        shape, ids_shape = op.shape(0), op.shape(1)
        op.require(0, "int64", "float32", "int32")
        if op.types[0].dtype != "int64" or op.name != "UnsortedSegmentSum":
            raise NotDecomposed(f"LiteRT's op for it does not take {op.types[0].dtype}")
        data, ids, number = op.operands
        count: Dim = b.cast(number, "int32") if op.constants[2] is None else int(op.constants[2])
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
# The engine gathers, adds and scatters: of what falls on one place, the last one counts.
@before_engine("TensorScatterAdd", "TensorScatterSub")
class TensorScatter(Decomposition):
    """Sums of scattered updates; for the extremes, those of all updates of each place, the place's own among them.

    Definition: https://www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_sub, tensor_scatter_nd_max.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        shape, index_shape = op.shape(0), op.shape(1)
        sums = op.name in {"TensorScatterAdd", "TensorScatterSub"}
        op.require(0, "float32", "int32", "int64", *(["complex64"] if sums else []))
        tensor, indices, updates = op.operands
        dtype = b.dtype(tensor)
        depth = index_shape[-1]
        if depth is None:  # what is left of the tensor's dimensions is in the updates
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
    count: Dim
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
