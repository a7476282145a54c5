"""LiteRT ops for passes on lowered modules, emitted at the current insertion point and location."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from litefuse.ir.constants import pseudo_constant, stored
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_value

MASKS = ("begin_mask", "ellipsis_mask", "end_mask", "new_axis_mask", "shrink_axis_mask")
"""The masks of STRIDED_SLICE."""


def int32_vector(numbers: Sequence[int]) -> ir.Value:
    """Emits a constant int32 vector."""
    return pseudo_constant(ir.DenseElementsAttr.get(np.array(numbers, np.int32)))


def int32_scalar(number: int) -> ir.Value:
    """Emits a constant int32 scalar."""
    return pseudo_constant(ir.DenseElementsAttr.get(np.array(number, np.int32)))


def sizes_of(value: ir.Value) -> ir.Value:
    """Emits SHAPE of a value of known rank, as an int32 vector."""
    rank = ir.ShapedType(value.type).rank
    return create_value("tfl.shape", ir.RankedTensorType.get([rank], ir.IntegerType.get_signless(32)), [value])


def part(vector: ir.Value, begin: int, end: int) -> ir.Value:
    """Emits a slice of a vector from ``begin`` until before ``end``."""
    return _sliced(vector, begin, end, [end - begin])


def element(vector: ir.Value, index: int) -> ir.Value:
    """Emits a slice of one element, as a scalar."""
    return _sliced(vector, index, index + 1, [], shrink_axis_mask=1)


def packed(shape: ir.Value) -> ir.Value:
    """Emits a shape that is packed from its elements, so that the runtime computes it during the call, not before.

    An op that takes it as the shape of its result then allocates the result itself.
    """
    (rank,) = ir.RankedTensorType(shape.type).shape
    return packed_sizes([element(shape, axis) for axis in range(rank)])


def packed_sizes(sizes: Sequence[ir.Value]) -> ir.Value:
    """Emits the vector of scalars of int32, which the runtime computes during the call."""
    int32 = ir.IntegerType.get_signless(32)
    kind = ir.RankedTensorType.get([len(sizes)], int32)
    return create_value("tfl.pack", kind, sizes, {"axis": 0, "values_count": len(sizes)})


def strided_slice(operands: Sequence[ir.Value], kind: ir.Type, **masks: int) -> ir.Value:
    """Emits STRIDED_SLICE with operands tensor, begins, ends and strides, and some masks."""
    attributes = {**dict.fromkeys(MASKS, 0), **masks, "offset": False}
    return create_value("tfl.strided_slice", kind, operands, attributes)


def _sliced(vector: ir.Value, begin: int, end: int, shape: list[int], **masks: int) -> ir.Value:
    kind = ir.RankedTensorType.get(shape, ir.ShapedType(vector.type).element_type)
    return strided_slice([vector, *(int32_vector([number]) for number in (begin, end, 1))], kind, **masks)


def arithmetic(name: str, one: ir.Value, other: ir.Value, kind: ir.Type) -> ir.Value:
    """Emits ADD, SUB, MUL or DIV, by its name in MLIR, without an activation; the result is of type ``kind``."""
    return create_value(name, kind, [one, other], {"fused_activation_function": "NONE"})


def concatenation(values: Sequence[ir.Value], kind: ir.Type, axis: int) -> ir.Value:
    """Emits CONCATENATION along an axis, without an activation; the result is of type ``kind``."""
    return create_value("tfl.concatenation", kind, values, {"axis": axis, "fused_activation_function": "NONE"})


def transposed(value: ir.Value, order: Sequence[int]) -> ir.Value:
    """Emits TRANSPOSE of a value of known rank."""
    kind = ir.RankedTensorType(value.type)
    moved = ir.RankedTensorType.get([kind.shape[axis] for axis in order], kind.element_type)
    return create_value("tfl.transpose", moved, [value, int32_vector(order)])


def gathered(table: ir.Value, ids: ir.Value, kind: ir.Type, axis: int) -> ir.Value:
    """Emits GATHER without batch dimensions; the result is of type ``kind``."""
    return create_value("tfl.gather", kind, [table, ids], {"axis": axis, "batch_dims": 0})


def integers(value: ir.Value) -> list[int] | None:
    """Returns the elements of an integer constant, in their order in memory; None for any other value."""
    elements = stored(value)
    return None if elements is None else np.array(elements).reshape(-1).tolist()


def splat(value: ir.Value) -> ir.DenseElementsAttr | None:
    """Returns the elements of a constant if they are all equal; None for any other value."""
    attribute = stored(value)
    return attribute if attribute is not None and attribute.is_splat else None


def create_fill(elements: ir.DenseElementsAttr, kind: ir.Type) -> ir.Value:
    """Emits FILL with the element and the shape of a splat; the result is of type ``kind``."""
    scalar = ir.RankedTensorType.get([], elements.type.element_type)
    number = ir.DenseElementsAttr.get_splat(scalar, elements.get_splat_value())
    dims = ir.DenseElementsAttr.get(np.array(elements.type.shape, np.int32))
    operands = [pseudo_constant(dims), pseudo_constant(number)]
    return create_value("tfl.fill", kind, operands)


# The dtypes of LiteRT's MAXIMUM; SELECT_V2, which is slower, supports all but strings.
_WITH_MAXIMUM = frozenset({"bf16", "f16", "f32", "i8", "i16", "i32", "i64", "ui8"})


def copied(value: ir.Value) -> ir.Value:
    """Copies a value into its own memory, by a LiteRT op at the current insertion point."""
    kind = ir.ShapedType(value.type)
    if str(kind.element_type) == "!tf_type.string" and kind.has_rank:
        if not kind.rank:
            return create_value("tfl.fill", value.type, [int32_vector([]), value])
        corner, whole = int32_vector([0] * kind.rank), int32_vector([-1] * kind.rank)
        return create_value("tfl.slice", value.type, [value, corner, whole])
    if str(kind.element_type) in _WITH_MAXIMUM:
        return create_value("tfl.maximum", value.type, [value, value])
    condition = pseudo_constant(ir.DenseElementsAttr.get(np.array(True)))
    return create_value("tfl.select_v2", value.type, [condition, value, value])
