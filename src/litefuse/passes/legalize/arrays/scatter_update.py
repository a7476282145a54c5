"""``TensorScatterUpdate``: a tensor with some of its rows replaced; updates of variables use it too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, maximum, select
from litefuse.passes.legalize.arrays.carrier import carried, delivered
from litefuse.passes.legalize.arrays.coordinates import element_numbers
from litefuse.passes.legalize.arrays.slices import LITERT_RANK
from litefuse.passes.legalize.decomposition import before_engine, decomposition

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from litefuse.ir.builder import Builder, MixedSize

# Up to this many rows, the source of each is a constant in the file.
_WRITTEN = 1 << 12


@decomposition("TensorScatterUpdate")
# Faults `replaced-infinity` and `element-replaced-twice`.
@before_engine("TensorScatterUpdate")
def scatter_update(op: TensorFlowOp, b: Builder) -> Tensor:
    """Replaces a single box in place; otherwise gathers each row from the tensor or from its last update.

    Definition: https://www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_update; of several updates of an
    element, the last one wins, as in TensorFlow's kernel (tensorflow/core/kernels/scatter_nd_op_cpu_impl.h).
    """
    shape, index_shape = op.shape(0), op.shape(1)
    tensor, updates = carried(b, op.operands[0]), carried(b, op.operands[2])
    indices = b.cast(op.operands[1], "int32")
    depth = index_shape[-1]
    if depth is None:  # the updates have the remaining dimensions of the tensor
        depth = len(index_shape) - 1 + len(shape) - len(op.shape(2))
    if not depth:
        raise NotDecomposed("the index vectors are empty")
    sizes = b.sizes(tensor)
    rest = sizes[depth:]
    number = b.product(b.sizes(indices)[:-1])
    # DYNAMIC_UPDATE_SLICE supports all carrier dtypes except uint8.
    if number == 1 and len(shape) <= LITERT_RANK and tensor.dtype != "uint8":
        begin = b.pad(b.reshape(indices, [depth]), [(0, len(shape) - depth)])
        box = b.reshape(updates, [1] * depth + rest)
        # A loop without iterations is prepared too, with a tensor that may have no row to replace.
        axes = [axis for axis, size in enumerate(shape[:depth]) if size is None]
        box = b.slices(box, {axis: (0, sizes[axis], 1) for axis in axes}) if axes else box
        result = b.op("XlaDynamicUpdateSlice", [tensor, box, begin], shape, tensor.dtype)
    else:
        rows = b.reshape(tensor, [b.product(sizes[:depth]), *rest])
        places = element_numbers(b, indices, [b.scalar(size) for size in sizes[:depth]])
        known = _known_places(op.constants[1], sizes[:depth])
        operands = [rows, b.reshape(places, [number]), b.reshape(updates, [number, *rest])]
        result = b.reshape(replace_rows(b, *operands, known=known), sizes)
    return delivered(b, result, op.types[0].dtype)


def replace_rows(
    b: Builder, rows: Tensor, places: Tensor, updates: Tensor, *, known: npt.NDArray[Any] | None = None
) -> Tensor:
    """Emits rows of which some are replaced: each is gathered from the rows or from its last update.

    Args:
        b: Emits ops.
        rows: The rows, ``[count, ...]``, of a carrier dtype.
        places: int32 ``[number]``: the index of the row that each update replaces.
        updates: ``[number, ...]``, of the rows' dtype.
        known: The places, if they are constants and ``count`` is static.
    """
    count, number = b.size(rows, 0), b.size(places, 0)
    if number == 0:
        return rows
    if known is not None and isinstance(count, int) and count <= _WRITTEN:
        sources = np.arange(count)
        sources[known] = count + np.arange(len(known))  # of several for one row, the last wins
        return b.gather(b.concat([rows, updates], 0), b.constant(sources, "int32"))
    if len(rows.shape) == 1:
        return _replace_elements(b, rows, places, updates)
    total: MixedSize = count + number
    every = b.concat([b.range(count), places], 0)
    sources = b.op("UnsortedSegmentMax", [b.range(total), every, b.scalar(count)], b.known([count]), "int32")
    return b.gather(b.concat([rows, updates], 0), sources)


def _replace_elements(b: Builder, elements: Tensor, places: Tensor, updates: Tensor) -> Tensor:
    """Replaces elements, without a range over all of them, which would be as large in the file as they are."""
    count, number = b.size(elements, 0), b.size(places, 0)
    # Elements without an update get the lowest int32.
    last = b.op("UnsortedSegmentMax", [b.range(number), places, b.scalar(count)], b.known([count]), "int32")
    some = updates if isinstance(number, int) else b.pad(updates, [(0, 1)])
    new = b.gather(some, maximum(last, 0))
    return select(last >= 0, new, elements)


def _known_places(indices: npt.NDArray[Any] | None, sizes: Sequence[MixedSize]) -> npt.NDArray[Any] | None:
    """Returns the row-major indices of index vectors, if these and the sizes are constants, and they are in range."""
    limits = [size for size in sizes if isinstance(size, int)]
    if indices is None or len(limits) < len(sizes):
        return None
    vectors = indices.reshape(-1, len(sizes))
    if np.any(vectors < 0) or np.any(vectors >= np.array(limits)):
        return None
    numbers: npt.NDArray[Any] = vectors @ np.cumprod([1, *limits[:0:-1]])[::-1]
    return numbers
