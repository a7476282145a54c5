"""How a loop's body reads the input of its step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from litefuse.engine.mlir import ir
from litefuse.passes.integer_constants import constant
from litefuse.recognizers.sources import source

__all__ = ["Reading", "position_of", "reading"]


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


def reading(op: ir.OpView | ir.Operation, indices: frozenset[int]) -> Reading | None:
    """What an op of the body reads in turn: an item of a list, ``x[i]``, ``x[:, i]``, or ``tf.gather(x, i, axis)``.

    Args:
        op: The op.
        indices: The positions of the loop variables that count the steps.
    """
    if op.name == "tf.TensorListGetItem":
        variable, index, axis = op.operands[0], op.operands[1], None
    elif op.name == "tf.StridedSlice":
        axis = _axis_of_slice(op)
        if axis is None:
            return None
        variable, index = op.operands[0], _elements(op.operands[1])[axis]
    elif op.name == "tf.GatherV2":
        variable, index, stated = op.operands
        axis = constant(source(stated))
        if axis not in (0, 1) or ir.ShapedType(index.type).rank or ir.IntegerAttr(op.attributes["batch_dims"]).value:
            return None
    else:
        return None
    position = position_of(source(variable))
    return None if position is None or position_of(source(index)) not in indices else Reading(position, axis)


def _axis_of_slice(op: ir.OpView | ir.Operation) -> int | None:
    """The dimension of which a slice takes one place, computed, and drops it, where it takes all of the others."""
    places = _elements(op.operands[1])
    masks = {name: ir.IntegerAttr(op.attributes[f"{name}_mask"]).value for name in _MASKS}
    axis = next((axis for axis in (0, 1) if masks["shrink_axis"] == 1 << axis), None)
    if axis is None or len(places) <= axis or masks["new_axis"]:
        return None
    strides = constant(source(op.operands[3]))
    if strides is None:
        strides = [constant(source(each)) for each in _elements(op.operands[3])]
    if strides != [1] * len(places):
        return None
    others = [other for other in range(len(places)) if other != axis and not masks["ellipsis"] >> other & 1]
    before = any(masks["ellipsis"] >> other & 1 for other in range(axis))
    whole = all(masks["begin"] >> other & masks["end"] >> other & 1 for other in others)
    return axis if whole and not before else None


_MASKS = ("begin", "ellipsis", "end", "new_axis", "shrink_axis")


def _elements(vector: ir.Value) -> Sequence[ir.Value]:
    """The scalars that a vector is packed of; none of one that is made otherwise."""
    owner = source(vector).owner
    return [] if isinstance(owner, ir.Block) or owner.name != "tf.Pack" else list(owner.operands)
