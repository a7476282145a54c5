"""``StridedSlice`` in forms that LiteRT lacks (rank, new axes, ellipsis), its gradient, and updates of slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, maximum, minimum, select
from litefuse.passes.legalize.arrays.carrier import carried, delivered
from litefuse.passes.legalize.arrays.loops import element_numbers
from litefuse.passes.legalize.arrays.slices import LITERT_RANK, AxisSlice, Slices
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from litefuse.ir.builder import Builder, MixedSize


# The dtypes that XNNPACK takes in some op. An empty constant of conditions could not be read.
_FILLED = frozenset({"bfloat16", "float16", "float32"}) | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


# Fault `empty-slice`.
@before_engine("Slice", "StridedSlice", empty=True, order=-1)
class EmptySlice(Decomposition):
    """A ``Fill`` without elements instead of an empty slice."""

    folds = True

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return 0 in (op.results[0].shape or ()) and op.types[0].dtype in _FILLED

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        (result,) = op.results
        if result.shape is None or 0 not in result.shape:
            raise NotDecomposed("its result has elements, or may have some")
        if None not in result.shape:
            return b.fill([size for size in result.shape if size is not None], 0, result.dtype)
        sizes = b.sizes(op.operands[0])
        if op.name == "Slice":
            begins, given = (b.numbers(op, operand, len(sizes)) for operand in (1, 2))
            dims = [_taken(b, *each) for each in zip(sizes, begins, given, strict=True)]
        else:
            slices = Slices.of(op, b, len(sizes))
            kept = [each.extent(b, size) for each, size in zip(slices.axes, sizes, strict=True) if not each.shrink]
            dims = slices.with_new_axes(kept)
        known = zip(result.shape, dims, strict=True)
        return b.fill([dim if size is None else size for size, dim in known], 0, result.dtype)


def _taken(b: Builder, size: MixedSize, begin: MixedSize, given: MixedSize) -> MixedSize:
    """Returns the size of a slice of a dimension; -1 as the given size requests the rest."""
    rest = size - begin
    if isinstance(given, int):
        return rest if given == -1 else given
    return select(given < 0, b.scalar(rest), given)


@decomposition("Slice")
# Fault `slice-at-int64-positions`.
@before_engine("Slice", dtypes=("int64",), operand=1)
class SliceAtComputedPositions(Decomposition):
    """Casts int64 begins and sizes to int32 if only one of the two is a constant."""

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return (op.constants[1] is None) != (op.constants[2] is None)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        value, *places = op.operands
        (result,) = op.results
        shape = (None,) * len(op.shape(0)) if result.shape is None else result.shape
        return b.op("Slice", [value, *(b.cast(place, "int32") for place in places)], shape, result.dtype)


@decomposition("StridedSlice")
def strided_slice(op: TensorFlowOp, b: Builder) -> Tensor:
    """LiteRT's op for up to five dimensions, else one dimension after the other; a reshape inserts new axes.

    Definition: https://www.tensorflow.org/api_docs/python/tf/strided_slice.
    """
    slices = Slices.of(op, b, len(op.shape(0)))
    return delivered(b, slices.taken(b, carried(b, op.operands[0])), op.types[0].dtype)


@decomposition("StridedSliceGrad")
def strided_slice_gradient(op: TensorFlowOp, b: Builder) -> Tensor:
    """The gradient at the position of the slice, and zeros around it: by a padding, or by a scatter if it has strides.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/StridedSliceGrad.
    """
    (rank,) = op.shape(0, 1)
    if rank is None:
        raise NotDecomposed("the result is of unknown rank")
    slices = Slices.of(op, b, rank)
    op.shape(4)
    gradient = carried(b, op.operands[4])
    sizes = b.sizes_in(op.operands[0], op.results[0].shape or [None] * rank)
    begins = [_begin(each, size) for each, size in zip(slices.axes, sizes, strict=True)]
    known = [begin for begin in begins if begin is not None]
    if len(known) < len(begins):
        zeros = b.fill(sizes, 0, gradient.dtype)
        return delivered(b, _scattered(b, zeros, slices, gradient), op.types[4].dtype)
    taken, position = b.sizes(gradient), 0
    counts: list[MixedSize] = []
    paddings: list[tuple[MixedSize, MixedSize]] = []
    for axis, (each, before) in enumerate(zip(slices.axes, known, strict=True)):
        position += slices.new_axes.count(axis)
        counts.append(1 if each.shrink else taken[position])
        position += not each.shrink
        paddings.append((before, sizes[axis] - before - counts[axis]))
    return delivered(b, b.pad(b.reshape(gradient, counts), paddings), op.types[4].dtype)


def _begin(each: AxisSlice, size: MixedSize) -> MixedSize | None:
    """Returns the begin of a slice; None if it has a stride, or if the sign of the begin is unknown."""
    begin = each.begin or 0
    if not isinstance(each.stride, int) or each.stride != 1 or not isinstance(begin, int):
        return None
    before = maximum(size + begin, 0) if begin < 0 else begin
    return minimum(before, size)


@decomposition("TensorStridedSliceUpdate")
def strided_slice_update(op: TensorFlowOp, b: Builder) -> Tensor:
    """Replaces a slice of the tensor: at once if it is a box, else element by element.

    Definition: https://www.tensorflow.org/api_docs/python/tf/tensor_strided_slice_update.
    """
    slices = Slices.of(op, b, len(op.shape(0)))
    op.shape(4)
    value, update = carried(b, op.operands[0]), carried(b, op.operands[4])
    sizes = b.sizes(value)
    boxes = [each.box(b, size) for each, size in zip(slices.axes, sizes, strict=True)]
    known = [box for box in boxes if box is not None]
    if len(known) == len(boxes) <= LITERT_RANK:
        visible = [extent for (_, extent), each in zip(known, slices.axes, strict=True) if not each.shrink]
        filled = b.reshape(b.broadcast(update, slices.with_new_axes(visible)), [extent for _, extent in known])
        begin = b.vector([first for first, _ in known])
        result = b.op("XlaDynamicUpdateSlice", [value, filled, begin], value.shape, value.dtype)
    else:
        result = _scattered(b, value, slices, update)
    return delivered(b, result, op.types[0].dtype)


def _scattered(b: Builder, value: Tensor, slices: Slices, update: Tensor) -> Tensor:
    """Emits the value with the elements of the slice replaced by those of the update."""
    sizes = b.sizes(value)
    count = b.product(sizes)
    places = slices.taken(b, b.reshape(b.range(count), sizes))
    taken = b.sizes(places)
    number = b.product(taken)
    elements = b.reshape(b.broadcast(update, taken), [number])
    return b.reshape(replace_rows(b, b.reshape(value, [count]), b.reshape(places, [number]), elements), sizes)


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
