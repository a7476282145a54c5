"""Reversals whose items are read or written at constant places: the places are reversed instead."""

from __future__ import annotations

from litefuse.ir.builder import Builder
from litefuse.ir.constants import integer_constant, without_copies
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_like
from litefuse.ir.passes import module_pass, visit_ops
from litefuse.ir.purity import is_used

_SUMS = frozenset({"tf.Add", "tf.AddV2"})


@module_pass
def read_reversed(module: ir.Module) -> bool:
    """Reads items from the other end where a reversal would be read, and writes them in the other order::

        %r = tf.ReverseV2(%x : tensor<6x1x4xf32>, [0])
        %p = tf.BatchMatMulV2(%r, %w)                      -->  %p = tf.BatchMatMulV2(%x, %w)
        %0 = tf.StridedSlice(%p)[0]                             %0 = tf.StridedSlice(%p)[5]

        %y = tf.Transpose(tf.Pack(%0, %1, %2), [1, 0])     -->  %r = tf.Transpose(tf.Pack(%2, %1, %0), [1, 0])
        %r = tf.ReverseV2(%y, [1])

    Backward layers, the steps of which are one after the other, are such: no op is left of their reversals.
    """
    return visit_ops(module, {"tf.ReverseV2": _reverse}, nested=False)


def _reverse(op: ir.OpView) -> bool:
    axis = _axis(op)
    if axis is None:
        return False
    stacked = _stacked(op.operands[0], axis)
    if stacked is not None:
        op.results[0].replace_all_uses_with(stacked)
    read = [(use.owner, use.operand_number) for use in op.results[0].uses if _is_read(use, axis)]
    for user, number in read:
        user.operands[number] = op.operands[0]
        _read_from_the_end(user, axis)
    if not is_used(op):
        op.operation.erase()
    return stacked is not None or bool(read)


def _axis(op: ir.OpView) -> int | None:
    """Returns the only dimension that is reversed, of a tensor of known shape."""
    kind, axes = ir.ShapedType(op.operands[0].type), integer_constant(op.operands[1])
    if not isinstance(axes, list) or len(axes) != 1 or not kind.has_rank or not kind.has_static_shape:
        return None
    return axes[0] % kind.rank


def _stacked(value: ir.Value, axis: int) -> ir.Value | None:
    """Emits a PACK in the other order, if a value is a PACK along a dimension, or that transposed."""
    op = without_copies(value).owner
    if isinstance(op, ir.Block):
        return None
    if op.name == "tf.Pack":
        if _number(op, "axis") % ir.ShapedType(value.type).rank != axis:
            return None
        operands = [*op.operands][::-1]
    elif op.name == "tf.Transpose":
        order = integer_constant(op.operands[1])
        turned = _stacked(op.operands[0], order[axis]) if isinstance(order, list) and min(order) >= 0 else None
        if turned is None:
            return None
        operands = [turned, op.operands[1]]
    else:
        return None
    with ir.InsertionPoint(op), op.location:
        return create_like(op, operands, [value.type]).result


def _is_read(use: ir.OpOperand, axis: int) -> bool:
    """Whether of a tensor, and of what is computed of it, only single items along a dimension are used.

    What is computed of it is computed of each item alone: if its items are reversed, so are the results.
    """
    op, number = use.owner, use.operand_number
    kind = ir.ShapedType(op.operands[number].type)
    if op.name == "tf.StridedSlice":
        return number == 0 and _place(op, axis) is not None
    if op.name == "tf.Unpack":
        return _number(op, "axis") % kind.rank == axis
    if not _is_of_each_item(op, number, axis):
        return False
    uses = [*op.results[0].uses]
    return bool(uses) and all(_is_read(inner, axis) for inner in uses)


def _is_of_each_item(op: ir.OpView, number: int, axis: int) -> bool:
    if op.name == "tf.Identity":
        return True
    if len(op.operands) != 2:
        return False
    kind, other = ir.ShapedType(op.operands[number].type), ir.ShapedType(op.operands[1 - number].type)
    last = axis == kind.rank - 1
    if not other.has_rank or not other.has_static_shape:
        return False
    if op.name == "tf.BatchMatMulV2":
        return not number and not ir.BoolAttr(op.attributes["adj_x"]).value and other.rank == 2 and not last
    if op.name == "tf.BiasAdd":
        return not number and ir.StringAttr(op.attributes["data_format"]).value == "NHWC" and not last
    place = axis - kind.rank
    return (
        op.name in _SUMS
        and list(ir.ShapedType(op.results[0].type).shape) == list(kind.shape)
        and (other.rank < -place or other.shape[place] == 1)
    )


def _place(op: ir.OpView, axis: int) -> int | None:
    """Returns the place of the one item along a dimension that a slice takes; None if it takes others."""
    size = ir.ShapedType(op.operands[0].type).shape[axis]
    begin, end = (integer_constant(operand) for operand in op.operands[1:3])
    if not isinstance(begin, list) or not isinstance(end, list):
        return None
    if _number(op, "ellipsis_mask") or _number(op, "new_axis_mask"):
        return None
    if axis >= len(begin) or not _number(op, "shrink_axis_mask") >> axis & 1 or _number(op, "begin_mask") >> axis & 1:
        return None
    return begin[axis] % size if -size <= begin[axis] < size else None


def _read_from_the_end(op: ir.OpView, axis: int) -> None:
    """Reverses the places of items in all that reads a tensor, whose reversal it read before."""
    if op.name == "tf.StridedSlice":
        place = _place(op, axis)
        assert place is not None
        begin = ir.ShapedType(op.operands[0].type).shape[axis] - 1 - place
        with ir.InsertionPoint(op), op.location:
            for number, at in ((1, begin), (2, begin + 1)):
                corner = integer_constant(op.operands[number])
                assert isinstance(corner, list)
                corner[axis] = at
                b = Builder()
                op.operands[number] = b.constant(corner, b.dtype(op.operands[number]))
        return
    if op.name == "tf.Unpack":
        uses = [[(use.owner, use.operand_number) for use in result.uses] for result in op.results]
        for of_result, result in zip(uses, [*op.results][::-1], strict=True):
            for user, number in of_result:
                user.operands[number] = result
        return
    for use in [*op.results[0].uses]:
        _read_from_the_end(use.owner, axis)


def _number(op: ir.OpView, attribute: str) -> int:
    return ir.IntegerAttr(op.attributes[attribute]).value
