"""Vectors of sizes in a lowered module: constants, and parts of them. All emit at the current insertion point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from litefuse.ir.constants import pseudo_constant
from litefuse.ir.mlir import ir

__all__ = ["MASKS", "element", "int32_vector", "part", "strided_slice"]

MASKS = ("begin_mask", "ellipsis_mask", "end_mask", "new_axis_mask", "shrink_axis_mask")
"""The masks of STRIDED_SLICE."""


def int32_vector(numbers: Sequence[int]) -> ir.Value:
    """A constant int32 vector."""
    return pseudo_constant(ir.DenseElementsAttr.get(np.array(numbers, np.int32)))


def part(vector: ir.Value, begin: int, end: int) -> ir.Value:
    """The elements from ``begin`` on, before ``end``."""
    return _sliced(vector, begin, end, [end - begin])


def element(vector: ir.Value, index: int) -> ir.Value:
    """One element, as a scalar."""
    return _sliced(vector, index, index + 1, [], shrink_axis_mask=1)


def strided_slice(operands: Sequence[ir.Value], kind: ir.Type, **masks: int) -> ir.Value:
    """STRIDED_SLICE of a tensor, begins, ends and strides, with some of its masks."""
    int32 = ir.IntegerType.get_signless(32)
    attributes: dict[str, ir.Attribute] = {mask: ir.IntegerAttr.get(int32, masks.get(mask, 0)) for mask in MASKS}
    attributes["offset"] = ir.BoolAttr.get(False)
    return ir.Operation.create("tfl.strided_slice", [kind], operands, attributes).result


def _sliced(vector: ir.Value, begin: int, end: int, shape: list[int], **masks: int) -> ir.Value:
    kind = ir.RankedTensorType.get(shape, ir.ShapedType(vector.type).element_type)
    return strided_slice([vector, *(int32_vector([number]) for number in (begin, end, 1))], kind, **masks)
