"""Names and attributes that mark ops for the passes after those that make them."""

from __future__ import annotations

from litefuse.ir.mlir import ir

__all__ = ["ASSERTS_SIZES", "AUXILIARY", "COMPOSITE", "INITIAL_STATE", "custom_op_attributes"]

#: The attribute of a reshape that must fail in the running model if its operand has other sizes than it says.
ASSERTS_SIZES = "asserts_sizes"

#: The attribute of ops that prepare operands or take results apart: what a composite became is named without them.
AUXILIARY = "auxiliary"

#: The name of the custom op that stands for a state's memory until the engine is done, see ``Builder.state``.
INITIAL_STATE = "litefuse.initial_state"

#: The name of the custom op that stands for a composite until the engine is done, see ``Builder.composite``: the engine
#: takes composites with names of a certain form only.
COMPOSITE = "litefuse.composite"


def custom_op_attributes(name: str, options: bytes) -> dict[str, ir.Attribute]:
    """The attributes of a ``tfl.custom`` op."""
    return {
        "custom_code": ir.StringAttr.get(name),
        "custom_option": ir.Attribute.parse(f'#tfl<const_bytes : "0x{options.hex().upper()}">'),
    }
