"""Slices whose constant begins and ends are beyond the dimensions."""

from __future__ import annotations

from litefuse.ir.mlir import ir
from litefuse.ops.facts import Op, array_of, elements
from litefuse.ops.rules.slicing import extents
from litefuse.shapes.editor import Editor, is_known
from litefuse.shapes.graph import Node

__all__ = ["bound_slice"]

_HIGHEST = 2**31 - 1


def bound_slice(editor: Editor, node: Node) -> None:
    """Clamps constant begins, ends and strides to the dimensions, or to int32 where their sizes are not known::

        %y = tf.StridedSlice(%x : tensor<37xf32>, [5], [2^63 - 1], [1])  -->  tf.StridedSlice(%x, [5], [37], [1])

    Faults ``end-behind-the-last``, ``positions-of-int64``.
    """
    shape = editor.shape(editor.resolve(node.operands[0]))
    strides = editor.values(editor.resolve(node.operands[3]))
    if shape is None or strides is None:
        return
    places = [(-_HIGHEST, _HIGHEST)] * strides.size
    steps = places.copy()
    for extent in extents(Op(node.name, [], [], node.attributes), len(shape), strides.size):
        size = None if extent.axis is None else shape[extent.axis]
        if extent.entry is not None and isinstance(size, int) and not extent.shrinks:
            places[extent.entry], steps[extent.entry] = (-size - 1, size), (-size - 1, size + 1)
    for operand, limits in ((1, places), (2, places), (3, steps)):
        _clamp(editor, node, operand, limits)


def _clamp(editor: Editor, node: Node, operand: int, limits: list[tuple[int, int]]) -> None:
    stated = editor.resolve(node.operands[operand])
    values = editor.values(stated)
    if values is None or not is_known(values):
        return
    numbers = [number for number in elements(values) if isinstance(number, int)]
    clamped = [min(max(number, low), high) for number, (low, high) in zip(numbers, limits, strict=True)]
    if clamped != numbers:
        dtype = editor.tensor(stated).dtype
        constant = editor.constant(array_of(clamped, values.shape), dtype, ir.InsertionPoint(node.op), node.op.location)
        editor.set_operand(node, operand, constant)
