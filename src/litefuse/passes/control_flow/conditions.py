"""Converts conditions of any type to booleans."""

from __future__ import annotations

from typing import ClassVar

from litefuse.ir.call_graph import callees, functions, operations, terminator_of, update_function_type
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_op

__all__ = ["LowerConditions"]


class LowerConditions:
    """Makes the conditions of If and While scalars of type bool, as LiteRT demands.

    TensorFlow also takes a number, which is true if it is not zero, a string, which is true if it is not empty, and a
    tensor of rank 1 or more, which is true if it has elements (``tf.ToBool``).
    """

    name: ClassVar[str] = "lower-conditions"

    def run(self, module: ir.Module) -> bool:
        by_symbol = functions(module)
        modified = False
        for function in list(by_symbol.values()):
            for op in operations(function):
                if op.name == "tf.If":
                    modified |= _make_bool(op, 0)
                elif op.name == "tf.While":
                    condition = by_symbol[callees(op)[0]]
                    if _make_bool(terminator_of(condition.entry_block), 0):
                        update_function_type(condition)
                        modified = True
        return modified


def _make_bool(user: ir.OpView, index: int) -> bool:
    value = user.operands[index]
    boolean = ir.RankedTensorType.get([], ir.IntegerType.get_signless(1))
    if ir.ShapedType(value.type).element_type == boolean.element_type:
        return False
    with ir.InsertionPoint(user):
        converted = create_op("tf.ToBool", [boolean], [value], location=user.location)
    user.operands[index] = converted.result
    return True
