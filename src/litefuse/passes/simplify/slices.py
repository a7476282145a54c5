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

    The positions are constants. The value may be a stack itself.
    """
    rows = [editor.values(editor.resolve(operand)) for operand in node.operands[1:4]]
    if not all(values is not None and is_known(values) for values in rows):
        return None
    positions = [[int(str(number)) for number in elements(values)] for values in rows if values is not None]
    attributes: dict[str, Any] = {**node.attributes}
    source = value = editor.resolve(node.operands[0])
    while (taken := _taken(editor, value, attributes, len(positions[0]))) is not None:
        entry, values = taken
        if not -len(values) <= positions[0][entry] < len(values):
            break
        value = values[positions[0][entry]]
        positions = [row[:entry] + row[entry + 1 :] for row in positions]
        for mask in MASKS:
            bits = int(attributes.get(mask, 0))
            attributes[mask] = (bits & ((1 << entry) - 1)) | (bits >> entry + 1 << entry)
    if value == source:
        return None
    result = editor.tensor(node.results[0])
    if editor.shape(value) == result.shape and keeps_axes(attributes, positions[2]):
        return value
    dtype = editor.tensor(editor.resolve(node.operands[1])).dtype
    operands = [value, *(editor.integers(node, row, dtype) for row in positions)]
    attributes = {**attributes_of(node.op), **{mask: attributes.get(mask, 0) for mask in MASKS}}
    return editor.add(node, "StridedSlice", operands, result, attributes)


def _taken(editor: Editor, value: int, attributes: dict[str, Any], entries: int) -> tuple[int, list[int]] | None:
    """Returns the entry of a slice that takes one value of a stack, and the values of the stack."""
    stack, shape = editor.producer(value, "Pack"), editor.shape(value)
    if stack is None or shape is None:
        return None
    axis = int(stack.attributes.get("axis", 0)) % len(shape)
    for extent in extents(Op("StridedSlice", [], [], attributes), len(shape), entries):
        if extent.axis == axis and extent.shrinks and extent.entry is not None:
            return extent.entry, editor.operands(stack)
    return None
