"""Slices whose constant begins and ends are beyond the dimensions, or of int64."""

from __future__ import annotations

from litefuse.ir.mlir import ir
from litefuse.ir.ops.facts import Op, Values, array_of, elements
from litefuse.ir.ops.rules.slicing import extents
from litefuse.ir.shapes.editor import Editor, is_known
from litefuse.ir.shapes.graph import Node

__all__ = ["bound_slice"]

_HIGHEST = 2**31 - 1


def bound_slice(editor: Editor, node: Node) -> None:
    """Clamps constant begins, ends and strides to the dimensions, or to int32 where their sizes are not known::

        %y = tf.StridedSlice(%x : tensor<37xf32>, [5], [2^63 - 1], [1])  -->  tf.StridedSlice(%x, [5], [37], [1])

    Constants of int64 become int32 if all are constants. Faults ``end-behind-the-last``, ``positions-of-int64``,
    ``ellipsis-of-int64``.
    """
    shape = editor.shape(editor.resolve(node.operands[0]))
    stated = [editor.resolve(operand) for operand in node.operands[1:4]]
    numbers = [editor.values(value) for value in stated]
    strides = numbers[2]
    if shape is None or strides is None:
        return
    places = [(-_HIGHEST, _HIGHEST)] * strides.size
    steps = places.copy()
    for extent in extents(Op(node.name, [], [], node.attributes), len(shape), strides.size):
        size = None if extent.axis is None else shape[extent.axis]
        if extent.entry is not None and isinstance(size, int) and not extent.shrinks:
            places[extent.entry], steps[extent.entry] = (-size - 1, size), (-size - 1, size + 1)
    clamped = [_clamped(*each) for each in zip(numbers, (places, places, steps), strict=True)]
    dtypes = {editor.tensor(value).dtype for value in stated}
    as_int32 = dtypes == {"i64"} and all(each is not None for each in clamped)
    for position, (old, new) in enumerate(zip(numbers, clamped, strict=True), start=1):
        if new is None or old is None or (elements(new) == elements(old) and not as_int32):
            continue
        dtype = "i32" if as_int32 else editor.tensor(stated[position - 1]).dtype
        constant = editor.constant(new, dtype, ir.InsertionPoint(node.op), node.op.location)
        editor.set_operand(node, position, constant)
    if as_int32 and "Index" in node.op.attributes:
        node.op.attributes["Index"] = ir.TypeAttr.get(ir.IntegerType.get_signless(32))


def _clamped(values: Values | None, limits: list[tuple[int, int]]) -> Values | None:
    """Returns known numbers within limits; None if they are not known."""
    if values is None or not is_known(values):
        return None
    numbers = [number for number in elements(values) if isinstance(number, int)]
    within = [min(max(number, low), high) for number, (low, high) in zip(numbers, limits, strict=True)]
    return array_of(within, values.shape)
