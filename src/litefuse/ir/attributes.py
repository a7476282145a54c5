"""Conversion between Python values and MLIR attributes."""

from __future__ import annotations

from typing import Any

from litefuse.ir.mlir import ir

__all__ = ["attribute_value", "mlir_attribute"]


def mlir_attribute(value: Any) -> ir.Attribute:
    """Converts a Python value to an MLIR attribute, the inverse of ``attribute_value``: 64-bit ints, 32-bit floats.

    Raises:
        TypeError: It is not a bool, int, float, str, bytes, or a list or tuple of these.
    """
    match value:
        case bool():
            return ir.BoolAttr.get(value)
        case int():
            return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
        case float():
            return ir.FloatAttr.get(ir.F32Type.get(), value)
        case str() | bytes():
            return ir.StringAttr.get(value)
        case list() | tuple():
            return ir.ArrayAttr.get([mlir_attribute(item) for item in value])  # pyright: ignore[reportUnknownVariableType]
        case _:
            raise TypeError(value)


def attribute_value(attribute: ir.Attribute) -> Any:
    """Converts an MLIR attribute to int, float, bool, str, or a list of these; returns other attributes unchanged.

    A string that is not UTF-8 stays bytes.
    """
    if isinstance(attribute, (ir.BoolAttr, ir.IntegerAttr, ir.FloatAttr)):
        return attribute.value
    if isinstance(attribute, ir.StringAttr):
        try:
            return attribute.value_bytes.decode()
        except UnicodeDecodeError:
            return attribute.value_bytes
    if isinstance(attribute, ir.ArrayAttr):
        return [attribute_value(item) for item in attribute]
    return attribute
