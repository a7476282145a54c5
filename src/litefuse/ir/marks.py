"""Names and attributes that mark ops for later passes."""

from __future__ import annotations

from litefuse.ir.mlir import ir

__all__ = ["ASSERTS_SIZES", "AUXILIARY", "COMPOSITE", "INITIAL_STATE", "WITHHELD", "custom_op_attributes"]

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


def custom_op_attributes(name: str, options: bytes) -> dict[str, ir.Attribute]:
    """Returns the attributes of a ``tfl.custom`` op."""
    return {
        "custom_code": ir.StringAttr.get(name),
        "custom_option": ir.Attribute.parse(f'#tfl<const_bytes : "0x{options.hex().upper()}">'),
    }
