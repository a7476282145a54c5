"""Slicing, gathering and scattering; reading items of tensor lists, as far as an operand states their shape."""

from __future__ import annotations

from typing import NamedTuple

from litefuse.ir.ops.dims import Dim, Formula, is_size, maximum, minimum
from litefuse.ir.ops.facts import Answer, Dims, Op, Rule, ShapeError, Undecided, meet, size_or_none, text
from litefuse.ir.ops.rules.layout import stated_shape


class Extent(NamedTuple):
    """The effect of a ``StridedSlice`` on one dimension of its operand, or a dimension that it adds.

    Attributes:
        axis: The operand's dimension; None for a new one of size 1.
        entry: Its index in begin, end and strides; None for a dimension that is taken whole.
        shrinks: Whether one element is taken, and the dimension is dropped.
    """

    axis: int | None
    entry: int | None
    shrinks: bool = False


class _Bounds(NamedTuple):
    """Whether each end of a slice is an end of the dimension."""

    first: bool
    last: bool


def extents(op: Op, rank: int, count: int) -> list[Extent]:
    """Returns the effect of a ``StridedSlice`` with ``count`` entries on each dimension.

    Raises:
        ShapeError: It has more entries than the tensor has dimensions.
    """
    masks = {name: op.attribute(f"{name}_mask", 0) for name in ("ellipsis", "new_axis", "shrink_axis")}
    ellipsis = next((entry for entry in range(count) if masks["ellipsis"] >> entry & 1), count)
    added = sum(1 for entry in range(count) if masks["new_axis"] >> entry & 1 and entry != ellipsis)
    explicit = count - added - (ellipsis < count)
    if explicit > rank:
        raise ShapeError(f"a slice of {explicit} dimensions of a tensor of rank {rank}")
    kept: list[Extent] = []
    axis = 0
    for entry in range(count + (ellipsis == count)):
        if entry == ellipsis:
            for _ in range(rank - explicit):
                kept.append(Extent(axis, None))
                axis += 1
        elif masks["new_axis"] >> entry & 1:
            kept.append(Extent(None, entry))
        else:
            kept.append(Extent(axis, entry, bool(masks["shrink_axis"] >> entry & 1)))
            axis += 1
    return kept


def _entries(op: Op, index: int, count: int) -> list[Dim | None]:
    values = op.operands[index].values
    return [None] * count if values is None else list(op.vector(index))


def _strided_slice(op: Op) -> Answer:
    shape = op.shape(0)
    counts = [operand.shape[0] for operand in op.operands[1:4] if operand.shape]
    numbers = [count for count in counts if isinstance(count, int)]
    if not numbers:
        raise Undecided("the number of sliced dimensions is not known")
    count = numbers[0]
    begins, ends, strides = (_entries(op, index, count) for index in (1, 2, 3))
    begin_mask, end_mask = op.attribute("begin_mask", 0), op.attribute("end_mask", 0)
    result: list[Dim | None] = []
    for extent in extents(op, len(shape), count):
        if extent.axis is None:
            result.append(1)
        elif extent.entry is None:
            result.append(shape[extent.axis])
        elif extent.shrinks:
            _check_index(begins[extent.entry], shape[extent.axis], shape)
        else:
            entry = extent.entry
            whole = _Bounds(bool(begin_mask >> entry & 1), bool(end_mask >> entry & 1))
            result.append(_length(shape[extent.axis], begins[entry], ends[entry], strides[entry], whole))
    return tuple(result)


def _check_index(index: Dim | None, size: Dim, shape: Dims) -> None:
    if isinstance(index, int) and isinstance(size, int) and not -size <= index < size:
        raise ShapeError(f"index {index} is out of range in a dimension of {text(shape)}")


def _length(size: Dim, begin: Dim | None, end: Dim | None, stride: Dim | None, whole: _Bounds) -> Dim | None:
    """Returns the number of elements between two positions, None if unknown."""
    if not isinstance(stride, int):
        return None
    if stride == 0:
        raise ShapeError("a stride is 0")
    forward = stride > 0
    lowest, highest = (0, size) if forward else (-1, size - 1)
    first = (lowest if forward else highest) if whole.first else _place(begin, size, lowest, highest)
    last = (highest if forward else lowest) if whole.last else _place(end, size, lowest, highest)
    if first is None or last is None:
        return None
    span = last - first if forward else first - last
    step = abs(stride)
    count = span if step == 1 else (span + (step - 1)) // step
    return count if is_size(count) else maximum(count, 0)


def _place(index: Dim | None, size: Dim, lowest: Dim, highest: Dim) -> Dim | None:
    """Returns a position in a dimension, counted from the front and clamped to its bounds."""
    if index is None:
        return None
    if isinstance(index, int):
        place = size + index if index < 0 else index
    elif is_size(index):
        place = index
    else:  # counted from the end if it is negative
        return None
    return maximum(minimum(place, highest), lowest)


def _slice(op: Op) -> Answer:
    shape = op.operands[0].shape
    if op.operands[2].values is None:
        return None if shape is None else (None,) * len(shape)
    sizes = op.vector(2)
    shape = op.ranked(0, len(sizes))
    begins = _entries(op, 1, len(sizes))
    result: list[Dim | None] = []
    for axis, (size, begin) in enumerate(zip(sizes, begins, strict=True)):
        if size == -1:
            left = None if begin is None else shape[axis] - begin
            result.append(size_or_none(left))
            continue
        if isinstance(size, int) and isinstance(begin, int):
            extent = shape[axis]
            if begin < 0 or (isinstance(extent, int) and begin + size > extent):
                raise ShapeError(f"{size} elements from {begin} on are not in dimension {axis} of {text(shape)}")
        result.append(size if is_size(size) else None)
    return tuple(result)


def _gather(op: Op) -> Answer:
    shape, indices = op.shape(0), op.shape(1)
    batch = op.attribute("batch_dims", 0)
    batch = batch + len(indices) if batch < 0 else batch
    try:
        axis = op.axis(2, len(shape)) if op.name == "GatherV2" else 0
    except Undecided:
        return (None,) * (len(shape) + len(indices) - 1 - batch)
    if not shape or batch > axis or batch > len(indices):
        raise ShapeError(f"{batch} batch dimensions, axis {axis}, {text(shape)} and {text(indices)} do not fit")
    meet(shape[:batch], indices[:batch])
    return (*shape[:axis], *indices[batch:], *shape[axis + 1 :])


def _gather_nd(op: Op) -> Answer:
    shape, indices = op.shape(0), op.shape(1)
    if not indices:
        raise ShapeError("the indices are a scalar")
    depth = indices[-1]
    if isinstance(depth, Formula):
        raise Undecided("the depth of the indices is not known")
    if depth > len(shape):
        raise ShapeError(f"indices of {depth} dimensions into {text(shape)}")
    return (*indices[:-1], *shape[depth:])


def _xla_dynamic_slice(op: Op) -> Answer:
    try:
        return stated_shape(op, 2)
    except Undecided:
        return (None,) * len(op.shape(0))


def _item_shape(op: Op, index: int) -> tuple[Dim | None, ...]:
    """Returns the item shape that an operand states, which is a scalar if any shape is allowed."""
    if op.shape(index) == ():
        raise Undecided("the shape of the items is not stated")
    stated = stated_shape(op, index)
    assert stated is not None
    return stated


def _list_stack(op: Op) -> Answer:
    count = op.attribute("num_elements", -1)
    return (None if count < 0 else count, *_item_shape(op, 1))


RULES: dict[str, Rule] = {
    "Gather": _gather,
    "GatherNd": _gather_nd,
    "GatherV2": _gather,
    "ListDiff": lambda _: [(None,), (None,)],
    "ScatterNd": lambda op: stated_shape(op, 2),
    "Slice": _slice,
    "StridedSlice": _strided_slice,
    "TensorListGather": lambda op: (*op.ranked(1, 1), *_item_shape(op, 2)),
    "TensorListGetItem": lambda op: _item_shape(op, 2),
    "TensorListPopBack": lambda op: [None, _item_shape(op, 1)],
    "TensorListStack": _list_stack,
    "XlaDynamicSlice": _xla_dynamic_slice,
}
