"""How a loop's body reads the input of its step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from litefuse.ir.constants import integer_constant
from litefuse.ir.defining_ops import source
from litefuse.ir.mlir import ir, producer


class Reading(NamedTuple):
    """The item of a loop variable that is this step's.

    Attributes:
        position: The position of the variable among those of the loop.
        axis: Along which dimension it is sliced, 0 or 1; None for a list.
    """

    position: int
    axis: int | None


def position_of(value: ir.Value) -> int | None:
    """Which loop variable a value in the body is; None if it is computed."""
    return ir.BlockArgument(value).arg_number if isinstance(value.owner, ir.Block) else None


class Item(NamedTuple):
    """One item of a value.

    Attributes:
        whole: The value: a list or a tensor.
        place: The item's index.
        axis: Along which dimension it is sliced, 0 or 1; None for a list.
    """

    whole: ir.Value
    place: ir.Value
    axis: int | None


def item_of(op: ir.OpView | ir.Operation) -> Item | None:
    """Returns how an op reads an item: of a list, ``x[i]``, ``x[:, i]``, ``tf.gather(x, i, axis)``; None for others."""
    if op.name == "tf.TensorListGetItem":
        return Item(source(op.operands[0]), source(op.operands[1]), None)
    if op.name == "tf.StridedSlice":
        axis = _axis_of_slice(op)
        return None if axis is None else Item(source(op.operands[0]), source(_elements(op.operands[1])[axis]), axis)
    if op.name == "tf.GatherV2":
        whole, index, stated = op.operands
        axis = integer_constant(source(stated))
        batch_dims = ir.IntegerAttr(op.attributes["batch_dims"]).value
        if axis in (0, 1) and not ir.ShapedType(index.type).rank and not batch_dims:
            return Item(source(whole), source(index), axis)
    return None


def reading(op: ir.OpView | ir.Operation, indices: frozenset[int]) -> Reading | None:
    """A read of the body, which takes one item after the other.

    Args:
        op: The op.
        indices: The positions of the loop variables that count the steps.
    """
    item = item_of(op)
    position = None if item is None else position_of(item.whole)
    if item is None or position is None or position_of(item.place) not in indices:
        return None
    return Reading(position, item.axis)


def _axis_of_slice(op: ir.OpView | ir.Operation) -> int | None:
    """The dimension of which a slice takes one place, computed, and drops it, where it takes all of the others."""
    places = _elements(op.operands[1])
    masks = {name: ir.IntegerAttr(op.attributes[f"{name}_mask"]).value for name in _MASKS}
    axis = next((axis for axis in (0, 1) if masks["shrink_axis"] == 1 << axis), None)
    if axis is None or len(places) <= axis or masks["new_axis"]:
        return None
    strides = integer_constant(source(op.operands[3]))
    if strides is None:
        strides = [integer_constant(source(element)) for element in _elements(op.operands[3])]
    if strides != [1] * len(places):
        return None
    others = [other for other in range(len(places)) if other != axis and not masks["ellipsis"] >> other & 1]
    before = any(masks["ellipsis"] >> other & 1 for other in range(axis))
    whole = all(masks["begin"] >> other & masks["end"] >> other & 1 for other in others)
    return axis if whole and not before else None


_MASKS = ("begin", "ellipsis", "end", "new_axis", "shrink_axis")


def _elements(vector: ir.Value) -> Sequence[ir.Value]:
    """The scalars that a vector is packed of; none of one that is made otherwise."""
    pack = producer(source(vector), "tf.Pack")
    return [] if pack is None else list(pack.operands)
