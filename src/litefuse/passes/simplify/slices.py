"""Slices: constant begins and ends that are beyond the dimensions, or of int64, and parts of what is made of parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from litefuse.ir.call_graph import attributes_of
from litefuse.ir.litert_ops import MASKS
from litefuse.ir.mlir import ir
from litefuse.ir.ops.facts import Dims, Op, Values, array_of, elements
from litefuse.ir.ops.rules.slicing import Extent, extents
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


def take_part(editor: Editor, node: Node) -> int | None:
    """Takes a value itself where one of a stack is taken, or a part of one that is concatenated or padded::

        %s = tf.Pack(%a : tensor<4x8xf32>, %b) {axis = 1}
        %y = tf.StridedSlice(%s)[:, 1, 2:]                   -->  %y = tf.StridedSlice(%b)[:, 2:]

        %c = tf.ConcatV2(%a : tensor<4x8xf32>, %b, 0)
        %y = tf.StridedSlice(%c)[5:7]                        -->  %y = tf.StridedSlice(%b)[1:3]

    The positions are constants. What is taken may be stacked itself, and the slice is left out if it takes all of it.
    """
    rows = [editor.values(editor.resolve(operand)) for operand in node.operands[1:4]]
    if not all(values is not None and is_known(values) for values in rows):
        return None
    positions = [[int(str(number)) for number in elements(values)] for values in rows if values is not None]
    source = editor.resolve(node.operands[0])
    slicing = _Slicing(editor, source, positions, {**node.attributes})
    while slicing.step():
        pass
    if slicing.value == source:
        return None
    result = editor.tensor(node.results[0])
    if editor.shape(slicing.value) == result.shape and keeps_axes(slicing.attributes, slicing.positions[2]):
        return slicing.value
    dtype = editor.tensor(editor.resolve(node.operands[1])).dtype
    operands = [slicing.value, *(editor.integers(node, row, dtype) for row in slicing.positions)]
    attributes = {**attributes_of(node.op), **{mask: slicing.attributes.get(mask, 0) for mask in MASKS}}
    return editor.add(node, "StridedSlice", operands, result, attributes)


class _Slicing:
    """A slice at constant positions, while it moves to what its operand is made of.

    Attributes:
        value: What is sliced.
        positions: The begins, ends and strides.
        attributes: The masks.
    """

    def __init__(self, editor: Editor, value: int, positions: list[list[int]], attributes: dict[str, Any]) -> None:
        self.value = value
        self.positions = positions
        self.attributes = attributes
        self._editor = editor

    def step(self) -> bool:
        """Moves to an operand of what makes the value; returns whether it could."""
        editor, value = self._editor, self.value
        maker, shape = editor.producer(value, "ConcatV2", "Pack", "Pad", "PadV2"), editor.shape(value)
        if maker is None or shape is None:
            return False
        entries = extents(Op("StridedSlice", [], [], self.attributes), len(shape), len(self.positions[0]))
        by_axis = {extent.axis: extent for extent in entries if extent.axis is not None and extent.entry is not None}
        if maker.name == "Pack":
            return self._one_of_stack(maker, by_axis.get(int(maker.attributes.get("axis", 0)) % len(shape)))
        if maker.name == "ConcatV2":
            return self._one_of_parts(maker, shape, by_axis)
        return self._without_padding(maker, shape, by_axis)

    def _one_of_stack(self, stack: Node, extent: Extent | None) -> bool:
        values = self._editor.operands(stack)
        if extent is None or extent.entry is None or not extent.shrinks:
            return False
        entry, index = extent.entry, self.positions[0][extent.entry]
        if not -len(values) <= index < len(values):
            return False
        self.value = values[index]
        self.positions = [row[:entry] + row[entry + 1 :] for row in self.positions]
        for mask in MASKS:
            bits = int(self.attributes.get(mask, 0))
            self.attributes[mask] = (bits & ((1 << entry) - 1)) | (bits >> entry + 1 << entry)
        return True

    def _one_of_parts(self, concatenation: Node, shape: Dims, by_axis: Mapping[int, Extent]) -> bool:
        *parts, stated = self._editor.operands(concatenation)
        axes = self._editor.values(stated)
        if axes is None or not is_known(axes):
            return False
        axis, begin = int(axes.item()) % len(shape), 0
        taken = self._taken(shape, by_axis.get(axis))
        for part in parts if taken else ():
            size = (self._editor.shape(part) or {axis: None})[axis]
            if not isinstance(size, int) or taken is None:
                return False
            if begin <= min(taken) and max(taken) < begin + size:
                self.value = part
                self._shift(by_axis[axis], taken, begin)
                return True
            begin += size
        return False

    def _without_padding(self, padding: Node, shape: Dims, by_axis: Mapping[int, Extent]) -> bool:
        source, stated, *_ = self._editor.operands(padding)
        sizes, before = self._editor.values(stated), self._editor.shape(source)
        if sizes is None or before is None or not is_known(sizes) or sizes.shape != (len(shape), 2):
            return False
        padded = {axis: int(str(pair[0])) for axis, pair in enumerate(sizes.tolist()) if any(pair)}
        taken = {axis: self._taken(shape, by_axis.get(axis)) for axis in padded}
        for axis, places in taken.items():
            size = before[axis]
            if not places or not isinstance(size, int):
                return False
            if not padded[axis] <= min(places) <= max(places) < padded[axis] + size:
                return False
        self.value = source
        for axis, places in taken.items():
            self._shift(by_axis[axis], places or range(0), padded[axis])
        return True

    def _taken(self, shape: Dims, extent: Extent | None) -> range | None:
        """Returns the places that the slice takes of a dimension, in its order."""
        if extent is None or extent.entry is None or extent.axis is None:
            return None
        size, entry = shape[extent.axis], extent.entry
        begin, end, stride = (row[entry] for row in self.positions)
        if not isinstance(size, int) or stride == 0:
            return None
        if extent.shrinks:
            return range(begin % size, begin % size + 1) if -size <= begin < size else None
        masked = [int(self.attributes.get(mask, 0)) >> entry & 1 for mask in ("begin_mask", "end_mask")]
        ends = slice(None if masked[0] else begin, None if masked[1] else end, stride)
        return range(*ends.indices(size))

    def _shift(self, extent: Extent, taken: range, offset: int) -> None:
        """Takes the same elements of a part that begins at an offset."""
        entry, step = extent.entry or 0, taken.step
        end = taken[-1] + (1 if step > 0 else -1) - offset
        self.positions = [row.copy() for row in self.positions]
        for row, number in zip(self.positions, (taken[0] - offset, end, step), strict=True):
            row[entry] = number
        bit = 1 << entry
        self.attributes["begin_mask"] = int(self.attributes.get("begin_mask", 0)) & ~bit
        masks = int(self.attributes.get("end_mask", 0)) & ~bit
        self.attributes["end_mask"] = masks | (bit if end < 0 else 0)  # down to the first
