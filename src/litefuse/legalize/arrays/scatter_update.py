"""``TensorScatterUpdate``: a tensor with some of its rows replaced, which variables are updated by as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.legalize.arrays.carrier import carried, delivered
from litefuse.legalize.arrays.coordinates import element_numbers
from litefuse.legalize.arrays.slices import LITERT_RANK
from litefuse.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from litefuse.ir.builder import Builder, Dim
    from litefuse.ir.mlir import ir

__all__ = ["ScatterUpdate", "replace_rows"]

# For so many rows, where each is from is a constant in the file.
_WRITTEN = 1 << 12


@decomposition("TensorScatterUpdate")
# The form that the engine writes makes NaN of an infinity that is replaced, and adds up what falls on one place.
@before_engine("TensorScatterUpdate")
class ScatterUpdate(Decomposition):
    """One box that is replaced; of more than one, each row of the result from the tensor or the last update of it.

    The engine takes the tensor times what no update falls on, and adds the updates up: of an infinity that is replaced
    it makes no number, and where several updates fall on one place, something that is none of them.

    Definition: https://www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_update; of several updates of a place,
    the last one counts, as in TensorFlow's kernel (tensorflow/core/kernels/scatter_nd_op_cpu_impl.h).
    """

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
        # Of those that elements are carried in, DYNAMIC_UPDATE_SLICE lacks one.
        if number == 1 and len(shape) <= LITERT_RANK and b.dtype(tensor) != "uint8":
            begin = b.pad(b.reshape(indices, [depth]), [(0, len(shape) - depth)])
            box = b.reshape(updates, [1] * depth + rest)
            # A loop that is not entered is prepared all the same, with a tensor that may have no row to replace.
            axes = [axis for axis, size in enumerate(shape[:depth]) if size is None]
            box = b.slices(box, {axis: (0, sizes[axis], 1) for axis in axes}) if axes else box
            result = b.op("XlaDynamicUpdateSlice", [tensor, box, begin], shape, b.dtype(tensor))
        else:
            rows = b.reshape(tensor, [b.product(sizes[:depth]), *rest])
            places = element_numbers(b, indices, [b.scalar(size) for size in sizes[:depth]])
            known = _known_places(op.constants[1], sizes[:depth])
            operands = [rows, b.reshape(places, [number]), b.reshape(updates, [number, *rest])]
            result = b.reshape(replace_rows(b, *operands, known=known), sizes)
        return delivered(b, result, op.types[0].dtype)


def replace_rows(
    b: Builder, rows: ir.Value, places: ir.Value, updates: ir.Value, *, known: npt.NDArray[Any] | None = None
) -> ir.Value:
    """Rows of which some are replaced: each is taken from where it was, or from the last update of it.

    Args:
        b: Emits ops.
        rows: The rows, ``[count, ...]``, of a dtype that LiteRT's ops move.
        places: int32 ``[number]``: which row each update replaces.
        updates: ``[number, ...]``, of the rows' dtype.
        known: The places, if they are constants, and ``count`` is known.
    """
    count, number = b.size(rows, 0), b.size(places, 0)
    if number == 0:
        return rows
    if known is not None and isinstance(count, int) and count <= _WRITTEN:
        sources = np.arange(count)
        sources[known] = count + np.arange(len(known))  # of several for one place, the last counts
        return b.gather(b.concat([rows, updates], 0), b.constant(sources, "int32"))
    if len(b.shape(rows)) == 1:
        return _replace_elements(b, rows, places, updates)
    total: Dim = b.dims("AddV2", count, number)
    every = b.concat([b.range(count), places], 0)
    sources = b.op("UnsortedSegmentMax", [b.range(total), every, b.scalar(count)], b.known([count]), "int32")
    return b.gather(b.concat([rows, updates], 0), sources)


def _replace_elements(b: Builder, elements: ir.Value, places: ir.Value, updates: ir.Value) -> ir.Value:
    """The same of elements, without numbers for all of them, which would be as large in the file as they are."""
    count, number = b.size(elements, 0), b.size(places, 0)
    # Where no update falls, the lowest number.
    last = b.op("UnsortedSegmentMax", [b.range(number), places, b.scalar(count)], b.known([count]), "int32")
    some = updates if isinstance(number, int) else b.pad(updates, [(0, 1)])
    new = b.gather(some, b.binary("Maximum", last, 0))
    return b.select(b.compare("GreaterEqual", last, 0), new, elements)


def _known_places(indices: npt.NDArray[Any] | None, sizes: Sequence[Dim]) -> npt.NDArray[Any] | None:
    """The numbers of the rows that index vectors name, if these and the sizes are constants, and they name such."""
    limits = [size for size in sizes if isinstance(size, int)]
    if indices is None or len(limits) < len(sizes):
        return None
    vectors = indices.reshape(-1, len(sizes))
    if np.any(vectors < 0) or np.any(vectors >= np.array(limits)):
        return None
    numbers: npt.NDArray[Any] = vectors @ np.cumprod([1, *limits[:0:-1]])[::-1]
    return numbers
