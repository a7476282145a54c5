"""Shape assertions: LiteRT has no op for them."""

from __future__ import annotations

from typing import ClassVar

from litefuse.engine.constants import int32_constant
from litefuse.engine.mlir import ir
from litefuse.passes.call_graph import functions, operations, update_function_type

__all__ = ["LowerEnsureShape"]


class LowerEnsureShape:
    """Replaces ``tf.EnsureShape`` by what is left of it when the assertion holds.

    Where it says more than is known, a reshape to that shape, which changes nothing but the type, if at most one size
    is open; otherwise, and where it says nothing new, nothing.
    """

    name: ClassVar[str] = "lower-ensure-shape"

    def run(self, module: ir.Module) -> bool:
        modified = False
        for function in functions(module).values():
            found = [op for op in operations(function) if op.name == "tf.EnsureShape"]
            for op in found:
                op.results[0].replace_all_uses_with(_ensured(op))
                op.operation.erase()
            if found:
                update_function_type(function)
                modified = True
        return modified


def _ensured(op: ir.OpView) -> ir.Value:
    (value,) = op.operands
    kind = ir.ShapedType(op.results[0].type)
    if kind == value.type or not kind.has_rank:
        return value
    sizes = [-1 if kind.is_dynamic_dim(axis) else kind.shape[axis] for axis in range(kind.rank)]
    if sizes.count(-1) > 1 or 0 in sizes:  # a reshape could not tell the open sizes
        return value
    with ir.InsertionPoint(op), op.location:
        return ir.Operation.create("tf.Reshape", results=[kind], operands=[value, int32_constant(sizes)]).result
