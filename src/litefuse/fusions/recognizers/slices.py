"""Finds the values that others are slices of."""

from __future__ import annotations

from litefuse.ir.constants import integer_constant
from litefuse.ir.defining_ops import source
from litefuse.ir.mlir import ir

__all__ = ["part_of", "row_of"]


def part_of(value: ir.Value, first: int, end: int, count: int) -> ir.Value | None:
    """Returns the whole of which this is the parts ``first`` to ``end``, of ``count`` equal ones of the last axis."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    if owner.name == "tf.Split":
        axis, whole = integer_constant(source(owner.operands[0])), owner.operands[1]
        kind = ir.ShapedType(whole.type)
        position = ir.OpResult(value).result_number
        last = kind.has_rank and isinstance(axis, int) and axis % kind.rank == kind.rank - 1
        return whole if last and (position, position + 1, len(owner.results)) == (first, end, count) else None
    if owner.name == "tf.StridedSlice":
        whole = owner.operands[0]
        kind = ir.ShapedType(whole.type)
        if not kind.has_rank or kind.rank == 0 or kind.is_dynamic_dim(kind.rank - 1):
            return None
        size = kind.shape[kind.rank - 1]
        step = size // count
        return whole if size % count == 0 and _last_slice(owner, kind) == (first * step, end * step) else None
    return None


def row_of(value: ir.Value, index: int, count: int) -> ir.Value | None:
    """Returns the matrix of ``count`` rows of which this is a row, as a vector or as a matrix of one row."""
    owner = value.owner
    if not isinstance(owner, ir.Block) and owner.name in {"tf.Reshape", "tf.Squeeze"}:
        before, after = (ir.ShapedType(tensor.type) for tensor in (owner.operands[0], value))
        if not before.has_static_shape or not after.has_static_shape or list(before.shape) != [1, *after.shape]:
            return None
        value = source(owner.operands[0])
        owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    position = ir.OpResult(value).result_number
    if owner.name == "tf.Split" and integer_constant(source(owner.operands[0])) == 0:
        return owner.operands[1] if (position, len(owner.results)) == (index, count) else None
    if owner.name == "tf.Unpack" and ir.IntegerAttr(owner.attributes["axis"]).value == 0:
        return owner.operands[0] if (position, len(owner.results)) == (index, count) else None
    if owner.name == "tf.StridedSlice":
        whole = owner.operands[0]
        kind = ir.ShapedType(whole.type)
        if not kind.has_static_shape or kind.rank != 2 or kind.shape[0] != count:
            return None
        begin = integer_constant(source(owner.operands[1]))
        one_row = begin == [index] and _mask(owner, "shrink_axis_mask") == 1 and not _mask(owner, "begin_mask")
        return whole if one_row else None
    return None


def _mask(op: ir.OpView, name: str) -> int:
    return ir.IntegerAttr(op.attributes[name]).value


def _last_slice(op: ir.OpView, kind: ir.ShapedType) -> tuple[int, int] | None:
    """Returns start and end of a strided slice along the last dimension, if it takes the others whole."""
    begin, end, strides = (integer_constant(source(operand)) for operand in list(op.operands)[1:])
    if not (isinstance(begin, list) and isinstance(end, list)) or strides != [1] * kind.rank:
        return None
    if _mask(op, "ellipsis_mask") or _mask(op, "new_axis_mask") or _mask(op, "shrink_axis_mask"):
        return None
    bounds: tuple[int, int] = (0, 0)
    for axis, (first, last) in enumerate(zip(begin, end, strict=True)):
        size = None if kind.is_dynamic_dim(axis) else kind.shape[axis]
        open_begin, open_end = (bool(_mask(op, name) >> axis & 1) for name in ("begin_mask", "end_mask"))
        if size is None:
            if not (open_begin or first == 0) or not open_end:
                return None
            continue
        bounds = slice(None if open_begin else first, None if open_end else last).indices(size)[:2]
        if axis < kind.rank - 1 and bounds != (0, size):
            return None
    return bounds
