"""A function with one size for all that is unknown, for what the engine converts only if it knows the sizes."""

from __future__ import annotations

import numpy as np

from litefuse.engine.mlir import func, ir
from litefuse.passes.call_graph import operations, update_function_type

__all__ = ["fix_arguments", "fix_list_elements"]


# The ops that are told the shape of a tensor list's elements, and the position of that operand.
_ELEMENT_SHAPES = {
    "tf.EmptyTensorList": 0,
    "tf.TensorListFromTensor": 1,
    "tf.TensorListGetItem": 2,
    "tf.TensorListReserve": 0,
    "tf.TensorListStack": 1,
}


def fix_list_elements(function: func.FuncOp, size: int) -> None:
    """Gives the elements of the function's tensor lists this size wherever theirs is unknown."""
    for op in operations(function):
        if op.name not in _ELEMENT_SHAPES:
            continue
        operand = op.operands[_ELEMENT_SHAPES[op.name]]
        if isinstance(operand.owner, ir.Block) or operand.owner.name != "tf.Const":
            continue
        value = operand.owner.attributes["value"]
        if not isinstance(value, ir.DenseElementsAttr) or value.type.rank != 1:
            continue
        shape = np.array(value)
        fixed = ir.DenseElementsAttr.get(np.where(shape < 0, np.array(size, shape.dtype), shape))
        constant = ir.Operation.create("tf.Const", [fixed.type], [], {"value": fixed}, ip=ir.InsertionPoint(op))
        op.operands[_ELEMENT_SHAPES[op.name]] = constant.result
        if op.name == "tf.TensorListStack":  # the engine has this type from the list, and no other one will do
            count = ir.IntegerAttr(op.attributes["num_elements"]).value
            sizes = [count if count >= 0 else ir.ShapedType.get_dynamic_size(), *np.array(fixed).tolist()]
            kind = ir.RankedTensorType.get(sizes, ir.ShapedType(op.results[0].type).element_type)
            op.results[0].set_type(kind)
            for use in op.results[0].uses:
                if use.owner.name == "tf.Identity":
                    use.owner.results[0].set_type(kind)


def fix_arguments(function: func.FuncOp, size: int) -> None:
    """Gives the function's arguments this size wherever theirs is unknown."""
    for argument in function.entry_block.arguments:
        kind = ir.ShapedType(argument.type)
        if kind.has_rank and not kind.has_static_shape:
            shape = [size if kind.is_dynamic_dim(axis) else kind.shape[axis] for axis in range(kind.rank)]
            argument.set_type(ir.RankedTensorType.get(shape, kind.element_type))
    update_function_type(function)
