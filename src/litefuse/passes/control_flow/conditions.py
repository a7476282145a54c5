"""Converts conditions of any type to booleans."""

from __future__ import annotations

from typing import ClassVar

from litefuse.ir.call_graph import callees, functions, terminator_of, update_function_type
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_op
from litefuse.ir.passes import visit_ops

__all__ = ["LowerConditions"]


class LowerConditions:
    """Makes the conditions of If and While scalars of type bool, as LiteRT demands.

    TensorFlow also takes a number, which is true if it is not zero, a string, which is true if it is not empty, and a
    tensor of rank 1 or more, which is true if it has elements (``tf.ToBool``).
    """

    name: ClassVar[str] = "lower-conditions"

    def run(self, module: ir.Module) -> bool:
        by_symbol = functions(module)

        def of_loop(op: ir.OpView) -> bool:
            condition = by_symbol[callees(op)[0]]
            modified = _make_bool(terminator_of(condition.entry_block))
            if modified:
                update_function_type(condition)
            return modified

        return visit_ops(module, {"tf.If": _make_bool, "tf.While": of_loop}, nested=False)


def _make_bool(user: ir.OpView) -> bool:
    value = user.operands[0]
    boolean = ir.RankedTensorType.get([], ir.IntegerType.get_signless(1))
    if ir.ShapedType(value.type).element_type == boolean.element_type:
        return False
    with ir.InsertionPoint(user):
        converted = create_op("tf.ToBool", [boolean], [value], location=user.location)
    user.operands[0] = converted.result
    return True
