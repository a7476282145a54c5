"""Reshaped values, for passes on lowered modules."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from litefuse.ir.constants import pseudo_constant, stored
from litefuse.ir.litert_ops import int32_vector
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_value

__all__ = ["is_fixed", "reshaped", "resized"]

# The dtypes of constants that are reshaped here; others get an op.
_DTYPES = frozenset({"f32", "i1", "i32", "i64"})


def is_fixed(*values: ir.Value) -> bool:
    """Whether all sizes of values are known, and none is 0."""
    return all(
        isinstance(value.type, ir.RankedTensorType) and value.type.has_static_shape and math.prod(value.type.shape) > 0
        for value in values
    )


def reshaped(value: ir.Value, shape: Sequence[int]) -> ir.Value:
    """Emits RESHAPE, at the current insertion point and location; the value itself if it has the shape.

    A constant whose elements are in the module becomes another constant.
    """
    kind = resized(value.type, shape)
    if kind == value.type:
        return value
    elements = stored(value)
    if elements is not None and str(kind.element_type) in _DTYPES:
        array = np.array(elements).reshape(elements.type.shape).reshape(shape)
        return pseudo_constant(ir.DenseElementsAttr.get(np.ascontiguousarray(array), type=kind))
    return create_value("tfl.reshape", kind, [value, int32_vector(shape)])


def resized(kind: ir.Type, shape: Sequence[int]) -> ir.RankedTensorType:
    """Returns a type with the same element type and another shape."""
    return ir.RankedTensorType.get(list(shape), ir.RankedTensorType(kind).element_type)
