"""Fixes all dynamic dimensions of a function to one size, for ops that the engine converts only with static shapes."""

from __future__ import annotations

from litefuse.ir.call_graph import update_function_type
from litefuse.ir.mlir import func, ir

__all__ = ["fix_arguments"]


def fix_arguments(function: func.FuncOp, size: int) -> None:
    """Sets all dynamic dimensions of the function's arguments to this size."""
    for argument in function.entry_block.arguments:
        kind = ir.ShapedType(argument.type)
        if kind.has_rank and not kind.has_static_shape:
            shape = [size if kind.is_dynamic_dim(axis) else kind.shape[axis] for axis in range(kind.rank)]
            argument.set_type(ir.RankedTensorType.get(shape, kind.element_type))
    update_function_type(function)
