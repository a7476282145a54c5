"""What marks the ops of fusions: names and attributes that the passes after them look for."""

from __future__ import annotations

from litefuse.engine.mlir import ir

__all__ = ["AUXILIARY", "COMPOSITE", "INITIAL_STATE", "custom_op_attributes"]

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
