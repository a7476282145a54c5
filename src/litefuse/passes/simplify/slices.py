"""Slices: constant begins and ends that are beyond the dimensions, or of int64, and parts of what was stacked."""

from __future__ import annotations

from typing import Any

from litefuse.ir.call_graph import attributes_of
from litefuse.ir.litert_ops import MASKS
from litefuse.ir.mlir import ir
from litefuse.ir.ops.facts import Op, Values, array_of, elements
from litefuse.ir.ops.rules.slicing import extents
from litefuse.ir.shapes.editor import Editor, is_known
from litefuse.ir.shapes.graph import Node
from litefuse.passes.simplify.neutral_ops import keeps_axes

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
    clamped = [_clamped(*limited) for limited in zip(numbers, (places, places, steps), strict=True)]
    dtypes = {editor.tensor(value).dtype for value in stated}
    as_int32 = dtypes == {"i64"} and all(limited is not None for limited in clamped)
    for position, (old, new) in enumerate(zip(numbers, clamped, strict=True), start=1):
        if new is None or old is None or (elements(new) == elements(old) and not as_int32):
            continue
        dtype = "i32" if as_int32 else editor.tensor(stated[position - 1]).dtype
        editor.set_operand(node, position, editor.integers(node, new, dtype))
    if as_int32 and "Index" in node.op.attributes:
        node.op.attributes["Index"] = ir.TypeAttr.get(ir.IntegerType.get_signless(32))


def _clamped(values: Values | None, limits: list[tuple[int, int]]) -> Values | None:
    """Returns known numbers within limits; None if they are not known."""
    if values is None or not is_known(values):
        return None
    numbers = [number for number in elements(values) if isinstance(number, int)]
    within = [min(max(number, low), high) for number, (low, high) in zip(numbers, limits, strict=True)]
    return array_of(within, values.shape)


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
    attributes: dict[str, Any] = {**attributes_of(node.op)}
    for mask in MASKS:
        bits = int(node.attributes.get(mask, 0))
        attributes[mask] = (bits & ((1 << entry) - 1)) | (bits >> entry + 1 << entry)
    kept = [[number for place, number in enumerate(row) if place != entry] for row in rows]
    if editor.shape(value) == result.shape and keeps_axes(attributes, kept[2]):
        return value
    dtype = editor.tensor(editor.resolve(node.operands[1])).dtype
    positions = [editor.integers(node, row, dtype) for row in kept]
    return editor.add(node, "StridedSlice", [value, *positions], result, attributes)
