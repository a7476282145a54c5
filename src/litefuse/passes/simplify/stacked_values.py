"""Slices of what was stacked."""

from __future__ import annotations

from typing import Any

from litefuse.ir.mlir import ir
from litefuse.ir.ops.facts import Op, array_of, elements
from litefuse.ir.ops.rules.slicing import extents
from litefuse.ir.shapes.editor import Editor
from litefuse.ir.shapes.graph import Node
from litefuse.passes.simplify.neutral_ops import keeps_axes

__all__ = ["take_stacked"]

_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


def take_stacked(editor: Editor, node: Node) -> int | None:
    """Takes the value itself where one of a stack is taken, and slices it if the slice does more::

    %s = tf.Pack(%a : tensor<4x8xf32>, %b) {axis = 1}
    %y = tf.StridedSlice(%s)[:, 1, 2:]                   -->  %y = tf.StridedSlice(%b)[:, 2:]

    The positions are constants.
    """
    stack = editor.producer(editor.resolve(node.operands[0]), "Pack")
    shape = editor.shape(editor.resolve(node.operands[0]))
    numbers = [editor.values(editor.resolve(operand)) for operand in node.operands[1:4]]
    if stack is None or shape is None:
        return None
    rows = [elements(values) for values in numbers if values is not None]
    if len(rows) < 3 or not all(isinstance(number, int) for row in rows for number in row):
        return None
    axis = int(stack.attributes.get("axis", 0)) % len(shape)
    taken = extents(Op(node.name, [], [], node.attributes), len(shape), len(rows[0]))
    entry = next((extent.entry for extent in taken if extent.axis == axis and extent.shrinks), None)
    values = editor.operands(stack)
    if entry is None or not -len(values) <= (index := int(str(rows[0][entry]))) < len(values):
        return None
    value = values[index]
    result = editor.tensor(node.results[0])
    attributes: dict[str, Any] = {name: node.op.attributes[name] for name in node.op.attributes}
    for mask in _MASKS:
        bits = int(node.attributes.get(mask, 0))
        attributes[mask] = (bits & ((1 << entry) - 1)) | (bits >> entry + 1 << entry)
    kept = [[number for place, number in enumerate(row) if place != entry] for row in rows]
    if editor.shape(value) == result.shape and keeps_axes(attributes, kept[2]):
        return value
    point, location = ir.InsertionPoint(node.op), node.op.location
    dtype = editor.tensor(editor.resolve(node.operands[1])).dtype
    positions = [editor.constant(array_of(row, [len(row)]), dtype, point, location) for row in kept]
    return editor.add(node, "StridedSlice", [value, *positions], result, attributes)
