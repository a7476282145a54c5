"""Constants of one value, and FILL in their place."""

from __future__ import annotations

import numpy as np

from litefuse.ir.constants import elements_of_constant, pseudo_constant
from litefuse.ir.mlir import ir

__all__ = ["create_fill", "splat"]


def splat(value: ir.Value) -> ir.DenseElementsAttr | None:
    """The elements of a constant all of whose elements are the same; None for any other value."""
    attribute = elements_of_constant(value, "arith.constant", "tfl.pseudo_const")
    return attribute if attribute is not None and attribute.is_splat else None


def create_fill(elements: ir.DenseElementsAttr, kind: ir.Type) -> ir.Value:
    """FILL with what a splat holds, at the current insertion point and location; the result is of type ``kind``."""
    scalar = ir.RankedTensorType.get([], elements.type.element_type)
    number = ir.DenseElementsAttr.get_splat(scalar, elements.get_splat_value())
    dims = ir.DenseElementsAttr.get(np.array(elements.type.shape, np.int32))
    operands = [pseudo_constant(dims), pseudo_constant(number)]
    return ir.Operation.create("tfl.fill", [kind], operands).result
