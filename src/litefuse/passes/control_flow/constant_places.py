"""Items of tensors that are read and written at constant places: slices, and one PACK of what is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import numpy.typing as npt

from litefuse.ir.builder import Builder
from litefuse.ir.mlir import ir

__all__ = ["Buffer", "item_at", "joined", "write_at"]


class Buffer(NamedTuple):
    """A tensor some of whose items were replaced.

    Attributes:
        base: The tensor before that.
        items: What was written, with a first dimension of 1, by its place in the first dimension.
    """

    base: ir.Value
    items: Mapping[int, ir.Value]


def item_at(value: ir.Value, place: npt.NDArray[Any], axis: npt.NDArray[Any], b: Builder) -> ir.Value | None:
    """Emits the slice that is ``tf.gather(value, place, axis=axis)``; None where the place is not within bounds."""
    kind = ir.ShapedType(value.type)
    if place.ndim or not kind.has_rank or not kind.has_static_shape or not -kind.rank <= int(axis) < kind.rank:
        return None
    dimension = int(axis) % kind.rank
    if not 0 <= int(place) < kind.shape[dimension]:
        return None
    return _slice(value, int(place), dimension, b)


def write_at(
    op: ir.OpView, value: ir.Value, update: ir.Value, place: npt.NDArray[Any], buffers: Mapping[ir.Value, Buffer]
) -> Buffer | None:
    """Returns what the result of ``tf.XlaDynamicUpdateSlice`` holds; None unless it replaces one item of a tensor.

    Args:
        op: The op.
        value: Its first operand.
        update: Its second operand.
        place: Its third operand.
        buffers: The tensors of which it is known what was written.
    """
    kinds = [ir.ShapedType(each.type) for each in (value, update, op.results[0])]
    if not all(kind.has_rank and kind.has_static_shape for kind in kinds) or not kinds[0].rank:
        return None
    shape = list(kinds[0].shape)
    if [*kinds[1].shape] != [1, *shape[1:]] or any(place[1:]) or not 0 <= int(place[0]) < shape[0]:
        return None
    base, items = buffers.get(value, Buffer(value, {}))
    return Buffer(base, {**items, int(place[0]): update})


def joined(buffer: Buffer, b: Builder) -> ir.Value:
    """Emits the PACK of a buffer's items; those that were not written are those of the tensor before."""
    items = [
        _item(buffer.items[place], b) if place in buffer.items else _slice(buffer.base, place, 0, b)
        for place in range(ir.ShapedType(buffer.base.type).shape[0])
    ]
    return b.stack(items, 0)


def _item(update: ir.Value, b: Builder) -> ir.Value:
    owner = update.owner
    shape = list(b.shape(update))[1:]
    if not isinstance(owner, ir.Block) and owner.name == "tf.ExpandDims" and list(b.shape(owner.operands[0])) == shape:
        return owner.operands[0]
    return b.op("Reshape", [update, b.constant(cast("list[int]", shape), "int32")], shape, b.dtype(update))


def _slice(value: ir.Value, place: int, axis: int, b: Builder) -> ir.Value:
    shape = list(b.shape(value))
    rank, others = len(shape), (1 << len(shape)) - 1 - (1 << axis)
    del shape[axis]
    corners = [[at if dimension == axis else 0 for dimension in range(rank)] for at in (place, place + 1)]
    operands = [value, *(b.constant(corner, "int32") for corner in (*corners, [1] * rank))]
    masks = {"begin_mask": others, "end_mask": others, "shrink_axis_mask": 1 << axis}
    return b.op("StridedSlice", operands, shape, b.dtype(value), ellipsis_mask=0, new_axis_mask=0, **masks)
