"""``TensorScatterUpdate``: a tensor with some of its rows replaced, which variables are updated by as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.decompositions.carrier import carried, delivered
from litefuse.decompositions.coordinates import element_numbers
from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp
from litefuse.decompositions.slices import LITERT_RANK

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder, Dim
    from litefuse.engine.mlir import ir

__all__ = ["ScatterUpdate", "replace_rows"]


class ScatterUpdate(Decomposition):
    """One box that is replaced; of more than one, each row of the result from the tensor or the last update of it.

    The engine takes the tensor times what no update falls on, and adds the updates up: of an infinity that is replaced
    it makes no number, and where several updates fall on one place, something that is none of them.

    Definition: https://www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_update; of several updates of a place,
    the last one counts, as in TensorFlow's kernel (tensorflow/core/kernels/scatter_nd_op_cpu_impl.h).
    """

    names = ("TensorScatterUpdate",)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        shape, index_shape = op.shape(0), op.shape(1)
        tensor, updates = carried(b, op.operands[0]), carried(b, op.operands[2])
        indices = b.cast(op.operands[1], "int32")
        depth = index_shape[-1]
        if depth is None:  # what is left of the tensor's dimensions is in the updates
            depth = len(index_shape) - 1 + len(shape) - len(op.shape(2))
        if not depth:
            raise NotDecomposed("the index vectors are empty")
        sizes = b.sizes(tensor)
        rest = sizes[depth:]
        number = b.product(b.sizes(indices)[:-1])
        if number == 1 and len(shape) <= LITERT_RANK:
            begin = b.pad(b.reshape(indices, [depth]), [(0, len(shape) - depth)])
            box = b.reshape(updates, [1] * depth + rest)
            result = b.op("XlaDynamicUpdateSlice", [tensor, box, begin], shape, b.dtype(tensor))
        else:
            rows = b.reshape(tensor, [b.product(sizes[:depth]), *rest])
            places = element_numbers(b, indices, [b.scalar(size) for size in sizes[:depth]])
            operands = [rows, b.reshape(places, [number]), b.reshape(updates, [number, *rest])]
            result = b.reshape(replace_rows(b, *operands), sizes)
        return delivered(b, result, op.types[0].dtype)


def replace_rows(b: Builder, rows: ir.Value, places: ir.Value, updates: ir.Value) -> ir.Value:
    """Rows of which some are replaced: each is gathered from where it was, or from the last update of it.

    Args:
        b: Emits ops.
        rows: The rows, ``[count, ...]``, of a dtype that LiteRT's ops move.
        places: int32 ``[number]``: which row each update replaces.
        updates: ``[number, ...]``, of the rows' dtype.
    """
    count, number = b.size(rows, 0), b.size(places, 0)
    total: Dim = b.dims("AddV2", count, number)
    every = b.concat([b.range(count), places], 0)
    sources = b.op("UnsortedSegmentMax", [b.range(total), every, b.scalar(count)], b.known([count]), "int32")
    return b.gather(b.concat([rows, updates], 0), sources)
