"""A function with one size for all that is unknown, for what the engine converts only if it knows the sizes."""

from __future__ import annotations

from litefuse.ir.call_graph import update_function_type
from litefuse.ir.mlir import func, ir

__all__ = ["fix_arguments"]


def fix_arguments(function: func.FuncOp, size: int) -> None:
    """Gives the function's arguments this size wherever theirs is unknown."""
    for argument in function.entry_block.arguments:
        kind = ir.ShapedType(argument.type)
        if kind.has_rank and not kind.has_static_shape:
            shape = [size if kind.is_dynamic_dim(axis) else kind.shape[axis] for axis in range(kind.rank)]
            argument.set_type(ir.RankedTensorType.get(shape, kind.element_type))
    update_function_type(function)
