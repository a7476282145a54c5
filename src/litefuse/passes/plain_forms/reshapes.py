"""Reshaped values, for passes on lowered modules, and one reshape in the place of several."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from litefuse.ir.call_graph import all_operations
from litefuse.ir.constants import pseudo_constant, stored
from litefuse.ir.litert_ops import int32_vector
from litefuse.ir.mlir import ir, producer
from litefuse.ir.op_creation import create_value
from litefuse.ir.passes import module_pass
from litefuse.ir.purity import is_used

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


def sliced(value: ir.Value, begins: Sequence[int], counts: Sequence[int]) -> ir.Value:
    """Emits SLICE, at the current insertion point and location."""
    return create_value("tfl.slice", resized(value.type, counts), [value, int32_vector(begins), int32_vector(counts)])


def resized(kind: ir.Type, shape: Sequence[int]) -> ir.RankedTensorType:
    """Returns a type with the same element type and another shape."""
    return ir.RankedTensorType.get(list(shape), ir.RankedTensorType(kind).element_type)


@module_pass
def join_reshapes(module: ir.Module) -> bool:
    """Reshapes once, or not at all::

    %0 = tfl.reshape(%x : tensor<2x6xf32>, [2, 3, 2])
    %1 = tfl.reshape(%0, [12])                         -->  %1 = tfl.reshape(%x, [12])
    %2 = tfl.reshape(%1, [2, 6])                            %x in the place of %2
    """
    modified = False
    for op in _reshapes(module):
        source = op.operands[0]
        while (inner := producer(source, "tfl.reshape")) is not None:
            source = inner.operands[0]
        if (source == op.operands[0] and source.type != op.results[0].type) or not is_fixed(source, op.results[0]):
            continue
        with ir.InsertionPoint(op), op.location:
            shape = ir.RankedTensorType(op.results[0].type).shape
            op.results[0].replace_all_uses_with(reshaped(source, shape))
        modified = True
    for op in reversed(_reshapes(module)):  # those in between that are new, too
        if not is_used(op):
            op.erase()
            modified = True
    return modified


def _reshapes(module: ir.Module) -> list[ir.OpView]:
    return [op for op in all_operations(module) if op.name == "tfl.reshape"]
