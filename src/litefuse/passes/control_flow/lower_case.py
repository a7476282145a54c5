"""Lowers tf.Case to nested tf.If."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from litefuse.ir.call_graph import call_operands, callees, create_call, functions
from litefuse.ir.constants import int32_constant
from litefuse.ir.mlir import func, ir
from litefuse.ir.op_creation import create_value
from litefuse.ir.passes import visit_ops

__all__ = ["LowerCase"]


class LowerCase:
    """Rewrites a many-way branch as a chain of two-way branches::

        tf.Case(%index, %x) {@b0, @b1, @b2}  -->  tf.If(%index == 0, %index, %x) {@case.0, @case.rest.1}
                                                  case.rest.1: tf.If(%index == 1, ...) {@case.1, @case.2}

    An index outside the branches runs the last one (https://www.tensorflow.org/api_docs/cc/class/tensorflow/ops/case).
    """

    name: ClassVar[str] = "lower-case"

    def run(self, module: ir.Module) -> bool:
        return visit_ops(module, {"tf.Case": lambda op: _Chain(module, op).lowered()}, nested=False)


class _Chain:
    def __init__(self, module: ir.Module, op: ir.OpView) -> None:
        self._module = module
        self._branches = callees(op)
        self._index_type = op.operands[0].type
        self._argument_types = [value.type for value in call_operands(op)]
        self._result_types = [result.type for result in op.results]
        self._stateless = op.attributes["is_stateless"]
        self._taken = set(functions(module))
        self._operands = (op.operands[0], call_operands(op))

    def lowered(self) -> list[ir.Value]:
        return self._choose(0, *self._operands)

    def _choose(self, position: int, index: ir.Value, arguments: Sequence[ir.Value]) -> list[ir.Value]:
        """Emits the choice among the branches from ``position`` on."""
        if position == len(self._branches) - 1:
            return self._call(position, arguments)
        boolean = ir.RankedTensorType.get([], ir.IntegerType.get_signless(1))
        chosen = create_value(
            "tf.Equal", boolean, [index, int32_constant(position)], {"incompatible_shape_error": True}
        )
        attributes = {
            "then_branch": ir.FlatSymbolRefAttr.get(self._outline("branch", position, rest=False)),
            "else_branch": ir.FlatSymbolRefAttr.get(self._outline("rest", position + 1, rest=True)),
            "is_stateless": self._stateless,
        }
        operands = [chosen, index, *arguments]
        op = ir.Operation.create("tf.If", results=self._result_types, operands=operands, attributes=attributes)
        return list(op.results)

    def _call(self, position: int, arguments: Sequence[ir.Value]) -> list[ir.Value]:
        return list(create_call(self._branches[position], self._result_types, arguments).results)

    def _outline(self, part: str, position: int, *, rest: bool) -> str:
        """Adds a function of (index, arguments...): the branch at ``position``, or the choice from there on."""
        symbol = base = f"{self._branches[0]}.{part}.{position}"
        while symbol in self._taken:
            symbol = f"{base}.{len(self._taken)}"
        self._taken.add(symbol)
        types = [self._index_type, *self._argument_types]
        with ir.InsertionPoint(self._module.body):
            function = func.FuncOp(symbol, ir.FunctionType.get(types, self._result_types), visibility="private")
        block = function.add_entry_block()
        with ir.InsertionPoint(block):
            index, *arguments = block.arguments
            func.ReturnOp(self._choose(position, index, arguments) if rest else self._call(position, arguments))
        return symbol
