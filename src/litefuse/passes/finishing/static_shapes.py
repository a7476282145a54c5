"""Static types of states and of what is computed of them, for runtimes that take no dynamic dimension."""

from __future__ import annotations

import numpy as np

from litefuse.ir.call_graph import (
    defined_functions,
    is_public,
    nested_operations,
    update_function_type,
)
from litefuse.ir.constants import pseudo_constant, stored
from litefuse.ir.mlir import ir, producer
from litefuse.ir.ops.dims import Shape
from litefuse.ir.passes import module_pass
from litefuse.ir.purity import erase_unused
from litefuse.ir.shapes.result_types import FORWARDING, inferred_shape
from litefuse.ir.types import ranked_type, shape_of

# The ops that sizes are computed with.
_SIZES = frozenset({"tfl.pack", "tfl.shape", "tfl.strided_slice"})


@module_pass
def type_static_shapes(module: ir.Module) -> bool:
    """Gives results their shapes where these are known, although the types do not say so::

        tfl.fill([1, 64], 0.0) : tensor<?x64xf32>         -->  tensor<1x64xf32>
        tfl.broadcast_to(%v, shape(%v)) : tensor<?x64xf32>  -->  the type of %v
        tfl.maximum(%s, %s) : tensor<?x64xf32>            -->  the type of %s

    Fusions emit states before the shapes of inputs are set. Sizes that are computed for a BROADCAST_TO become
    constants: tflite-micro takes no others.
    """
    modified = False
    for function in defined_functions(module):
        for op in nested_operations(function.entry_block):
            if len(op.results) != 1 or not op.name.startswith("tfl.") or not _is_open(op.results[0]):
                continue
            # Values that a terminator or a call forwards are typed elsewhere too; nothing calls public functions.
            users = {use.owner.name for use in op.results[0].uses}
            if users & FORWARDING - ({"func.return"} if is_public(function) else set()):
                continue
            shape = _shape(op)
            if shape is not None and None not in shape:
                op.results[0].set_type(ranked_type(shape, ir.ShapedType(op.results[0].type).element_type))
                modified = True
        if is_public(function):
            update_function_type(function)
        for op in list(nested_operations(function.entry_block)):
            if op.name == "tfl.broadcast_to":
                modified = _with_constant_sizes(op) or modified
    return modified


def _with_constant_sizes(op: ir.OpView) -> bool:
    """Makes constants of sizes that are computed of a value of known shape; returns whether they were."""
    value, dims = op.operands
    if _is_open(op.results[0]) or isinstance(dims.owner, ir.Block) or not _are_sizes_of(dims, value):
        return False
    sizes = np.array(shape_of(ir.ShapedType(op.results[0].type)), np.int32)
    with ir.InsertionPoint(op), op.location:
        op.operands[1] = pseudo_constant(ir.DenseElementsAttr.get(sizes))
    erase_unused([dims.owner], _SIZES.__contains__)
    return True


def _is_open(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType) and not value.type.has_static_shape


def _shape(op: ir.OpView) -> Shape | None:
    if op.name == "tfl.fill":
        elements = stored(op.operands[0])
        return None if elements is None else tuple(np.array(elements).reshape(-1).tolist())
    if op.name == "tfl.broadcast_to":
        value, dims = op.operands
        return shape_of(ir.ShapedType(value.type)) if _are_sizes_of(dims, value) else None
    return inferred_shape(op)


def _are_sizes_of(dims: ir.Value, value: ir.Value) -> bool:
    """Whether sizes are those of a value: SHAPE of it, or that taken apart and packed again."""
    while (owner := producer(dims, "tfl.pack", "tfl.strided_slice")) is not None:
        dims = owner.operands[0]  # litefuse packs all of the sizes, in their order
    shape = producer(dims, "tfl.shape")
    return shape is not None and shape.operands[0] == value
