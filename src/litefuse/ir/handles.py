"""Resource handles, and variants, which hold tensor lists and optionals."""

from __future__ import annotations

import re

from litefuse.ir.mlir import ir

__all__ = ["assign_variable", "is_resource", "is_variant", "resource_value_type"]

_VALUE_TYPE = re.compile(r"tensor<!tf_type\.resource<(.+)>>")


def is_resource(value: ir.Value) -> bool:
    """Whether the value is a handle."""
    return "!tf_type.resource" in str(value.type)


def resource_value_type(handle: ir.Value) -> ir.ShapedType | None:
    """Returns the type of the value behind a handle, if the handle's type states it."""
    match = _VALUE_TYPE.fullmatch(str(handle.type))
    return ir.ShapedType(ir.Type.parse(match[1])) if match else None


def is_variant(value: ir.Value) -> bool:
    """Whether a value is a variant, such as a tensor list."""
    return "!tf_type.variant" in str(value.type)  # an omitted operand of a fused op has no shaped type


def assign_variable(handle: ir.Value, value: ir.Value) -> None:
    """Emits the assignment of a variable, at the current insertion point."""
    attributes: dict[str, ir.Attribute] = {"validate_shape": ir.BoolAttr.get(False)}
    ir.Operation.create("tf.AssignVariableOp", operands=[handle, value], attributes=attributes)
