"""Lowers tf.For to tf.While."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from litefuse.errors import GraphError
from litefuse.ir.call_graph import create_call, create_loop, free_symbol, function_symbol, functions, terminator_of
from litefuse.ir.constants import int32_constant, stored, without_copies
from litefuse.ir.locations import node_name
from litefuse.ir.mlir import func, ir
from litefuse.ir.op_creation import create_value
from litefuse.ir.passes import module_pass, visit_ops


@module_pass
def lower_for(module: ir.Module) -> bool:
    """Rewrites a loop over a range as one with a condition::

        tf.For(%start, %limit, %delta, %x) {@body}  -->  tf.While(%start, %limit, %delta, %x) {@for.cond, @for.body}
                                                         for.cond: %i < %limit
                                                         for.body: %i + %delta, %limit, %delta, @body(%i, %x)

    With a negative step the condition is ``%i > %limit``. If the sign is unknown, the sign of the remaining distance
    decides: TensorFlow takes no range that leads away from its limit.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/For.

    Raises:
        GraphError: The body takes or returns another number of values than the loop carries.
    """
    return visit_ops(module, {"tf.For": lambda op: _lowered(module, op)}, nested=False)


def _lowered(module: ir.Module, op: ir.OpView) -> Sequence[ir.Value]:
    body = ir.FlatSymbolRefAttr(op.attributes["body"]).value
    called = functions(module)[body].type
    if len(called.inputs) != len(op.operands) - 2 or len(called.results) != len(op.results):
        raise GraphError(
            f"the loop passes {len(op.results)} values; its body {body!r} takes {len(called.inputs)} and gives "
            f"{len(called.results)}",
            where=f"node {node_name(op.location)}",
        )
    # A carried value has the type of the body's argument, or an unknown one: it may grow.
    index, *handed_on = called.inputs
    counters = [index] * 3
    condition = _function(module, f"{body}.for.cond", [*counters, *handed_on])
    with ir.InsertionPoint(condition.entry_block):
        func.ReturnOp([_goes_on(*list(condition.entry_block.arguments)[:3], step=_known_step(op.operands[2]))])
    step = _function(module, f"{body}.for.body", [*counters, *handed_on])
    with ir.InsertionPoint(step.entry_block):
        number, limit, delta, *values = step.entry_block.arguments
        results = create_call(body, called.results, [number, *values]).results
        following = create_value("tf.AddV2", index, [number, delta])
        func.ReturnOp([following, limit, delta, *results])
    for function in (condition, step):
        returned = terminator_of(function.entry_block).operands
        kind = ir.FunctionType.get([*counters, *handed_on], [value.type for value in returned])
        function.attributes["function_type"] = ir.TypeAttr.get(kind)
    kinds = [*(value.type for value in list(op.operands)[:3]), *(result.type for result in op.results)]
    return list(create_loop(function_symbol(condition), function_symbol(step), kinds, [*op.operands]).results)[3:]


def _known_step(value: ir.Value) -> int:
    """Returns the step if it is constant, else 0."""
    elements = stored(without_copies(value))
    return 0 if elements is None else int(np.array(elements).item())


def _goes_on(number: ir.Value, limit: ir.Value, delta: ir.Value, *, step: int) -> ir.Value:
    """Emits whether the loop goes on; ``step`` is 0 if it is unknown."""
    boolean = ir.RankedTensorType.get([], ir.IntegerType.get_signless(1))
    if step:
        return create_value("tf.Less" if step > 0 else "tf.Greater", boolean, [number, limit])
    left = create_value("tf.Sub", number.type, [limit, number])
    sign = create_value("tf.Sign", number.type, [delta])
    ahead = create_value("tf.Mul", number.type, [left, sign])
    return create_value("tf.Greater", boolean, [ahead, int32_constant(0)])


def _function(module: ir.Module, name: str, kinds: list[ir.Type]) -> func.FuncOp:
    """Adds a private function with these arguments and an unused symbol."""
    with ir.InsertionPoint(module.body):
        function = func.FuncOp(free_symbol(module, name), ir.FunctionType.get(kinds, []), visibility="private")
    function.add_entry_block()
    return function
