"""Python values as MLIR attributes, and the names and attributes that mark ops for later passes."""

from __future__ import annotations

from typing import Any

from litefuse.ir.mlir import ir

#: The attribute of a reshape that must fail at run time if its operand has other sizes than the stated ones.
ASSERTS_SIZES = "asserts_sizes"

#: The attribute of ops that prepare operands or split results: they are left out when a composite's result is named.
AUXILIARY = "auxiliary"

#: The name of the custom op that represents a state's memory until the engine is done, see ``Builder.state``.
INITIAL_STATE = "litefuse.initial_state"

#: The name of the custom op that represents a composite until the engine is done, see ``Builder.composite``. The engine
#: restricts the names of composites: faults `composite-without-a-namespace` and `composite-with-a-name-of-the-engine`.
COMPOSITE = "litefuse.composite"

#: The suffix of the name of a TensorFlow op that is to stay one: no pass, and not the engine, knows such a name.
WITHHELD = ".withheld"


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


def int32_attribute(value: Any) -> ir.Attribute:
    """As ``mlir_attribute``, but with 32-bit ints, 64-bit ones in lists alone, as LiteRT's builtin ops have them."""
    if isinstance(value, int) and not isinstance(value, bool):
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), value)
    return mlir_attribute(value)


def attribute_values(op: ir.OpView | ir.Operation) -> dict[str, Any]:
    """Returns an op's attributes by name, converted by :func:`attribute_value`."""
    return {name: attribute_value(op.attributes[name]) for name in op.attributes}


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


def custom_code(op: ir.OpView | ir.Operation) -> str:
    """Returns the name of a custom op; empty for another op."""
    return ir.StringAttr(op.attributes["custom_code"]).value if op.name == "tfl.custom" else ""


def custom_op_attributes(name: str, options: bytes) -> dict[str, ir.Attribute]:
    """Returns the attributes of a ``tfl.custom`` op."""
    return {
        "custom_code": ir.StringAttr.get(name),
        "custom_option": ir.Attribute.parse(f'#tfl<const_bytes : "0x{options.hex().upper()}">'),
    }
