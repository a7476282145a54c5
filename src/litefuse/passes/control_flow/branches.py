"""Branches: two ways in place of many, booleans as conditions, taken ones inlined, others prepared when they run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from litefuse.ir.call_graph import (
    call_operands,
    called_by,
    callees,
    create_call,
    functions,
    terminator_of,
    update_function_type,
)
from litefuse.ir.constants import int32_constant, stored
from litefuse.ir.litert_ops import copied, packed, sizes_of
from litefuse.ir.mlir import func, ir
from litefuse.ir.op_creation import create_op, create_value
from litefuse.ir.ops.facts import Op
from litefuse.ir.ops.fitting import always_fits
from litefuse.ir.passes import module_pass, visit_ops
from litefuse.ir.shapes.graph import Function, ModuleGraph
from litefuse.ir.shapes.inference import Inference

# The attribute of a function that is a branch whose shapes may not fit while it is not taken.
_DEFERRED = "litefuse.deferred"


@module_pass
def lower_case(module: ir.Module) -> bool:
    """Rewrites a many-way branch as a chain of two-way branches::

        tf.Case(%index, %x) {@b0, @b1, @b2}  -->  tf.If(%index == 0, %index, %x) {@case.0, @case.rest.1}
                                                  case.rest.1: tf.If(%index == 1, ...) {@case.1, @case.2}

    An index outside the branches runs the last one (https://www.tensorflow.org/api_docs/cc/class/tensorflow/ops/case).
    """

    def lowered(op: ir.OpView) -> list[ir.Value]:
        return _Chain(module, op).choose(0, op.operands[0], call_operands(op))

    return visit_ops(module, {"tf.Case": lowered}, nested=False)


class _Chain:
    def __init__(self, module: ir.Module, op: ir.OpView) -> None:
        self._module = module
        self._branches = callees(op)
        self._index_type = op.operands[0].type
        self._argument_types = [value.type for value in call_operands(op)]
        self._result_types = [result.type for result in op.results]
        self._stateless = op.attributes["is_stateless"]
        self._taken = set(functions(module))

    def choose(self, position: int, index: ir.Value, arguments: Sequence[ir.Value]) -> list[ir.Value]:
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
            func.ReturnOp(self.choose(position, index, arguments) if rest else self._call(position, arguments))
        return symbol


@module_pass
def lower_conditions(module: ir.Module) -> bool:
    """Makes the conditions of If and While scalars of type bool, as LiteRT demands.

    TensorFlow also takes a number, which is true if it is not zero, a string, which is true if it is not empty, and a
    tensor of rank 1 or more, which is true if it has elements (``tf.ToBool``).
    """
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


@module_pass
def fold_branches(module: ir.Module) -> bool:
    """Replaces ``tf.If`` on a constant by a call of the taken branch; inlining does the rest."""
    return visit_ops(module, {"tf.If": _taken}, nested=False)


def _taken(op: ir.OpView) -> Sequence[ir.Value] | None:
    condition = stored(op.operands[0])
    if condition is None or condition.type.rank != 0:
        return None
    then_branch, else_branch = callees(op)
    branch = then_branch if bool(np.array(condition)) else else_branch
    return create_call(branch, [result.type for result in op.results], call_operands(op)).results


@module_pass
def copy_branch_results(module: ir.Module) -> bool:
    """Copies values that a branch, or the body of a kept composite, returns more than once::

        %y = tfl.sin(%x)              %y = tfl.sin(%x)
        return %y, %y            -->  %z = tfl.maximum(%y, %y)
                                      return %y, %z

    Faults ``branch-result-twice`` and ``composite-result-twice``; for the latter, this pass comes before
    ``emit-composite-ops``.
    """
    by_symbol = functions(module)
    modified = False
    for symbol in called_by(by_symbol, "tf.If") | called_by(by_symbol, "tfl.custom"):
        terminator = terminator_of(by_symbol[symbol].entry_block)
        taken: set[ir.Value] = set()
        for position, value in enumerate(terminator.operands):
            if value in taken:
                with ir.InsertionPoint(terminator), terminator.location:
                    terminator.operands[position] = copied(value)
                modified = True
            taken.add(value)
    return modified


@module_pass
def mark_branches(module: ir.Module) -> bool:
    """Marks the branches whose shapes may contradict each other when they are not taken::

        func @then(%x: tensor<?xf32>) {                     func @then(...) attributes {litefuse.deferred} {
          %y = tf.Reshape(%x, [2, 8])                 -->     ...

    The sizes are followed from the callers: where operands have the same unknown size, they fit. An ``If`` in a branch
    defers its own branches; loops are looked into.
    """
    by_symbol = functions(module)
    branches = called_by(by_symbol, "tf.If")
    if not any(_has_dynamic_sizes(by_symbol[symbol]) for symbol in branches if symbol in by_symbol):
        return False
    inference = Inference(ModuleGraph.of(module))
    inference.run()
    marked = [
        inference.visited[symbol].op
        for symbol in sorted(branches & inference.visited.keys())
        if not _fits(inference, inference.visited[symbol])
    ]
    for function in marked:
        function.attributes[_DEFERRED] = ir.UnitAttr.get()
    return bool(marked)


@module_pass
def defer_branches(module: ir.Module) -> bool:
    """Begins each marked branch with an op whose result LiteRT allocates when it computes it::

        func @then(%x: tensor<?xf32>) {                     func @then(%x: tensor<?xf32>) {
          %y = tfl.reshape(%x, [2, 8])                -->     %z = tfl.reshape(%x, tfl.pack(...)) : tensor<?xf32>
                                                              %y = tfl.reshape(%z, [2, 8])

    LiteRT prepares both branches of an IF, one of which it will not take: what follows such an op is prepared when the
    branch runs (the fault ``branch-not-taken``).
    """
    modified = False
    for function in functions(module).values():
        if _DEFERRED in function.attributes:
            del function.attributes[_DEFERRED]
            _defer(function)
            modified = True
    return modified


def _has_dynamic_sizes(function: func.FuncOp) -> bool:
    kinds = [ir.ShapedType(argument.type) for argument in function.arguments]
    return any(not kind.has_static_shape for kind in kinds)


def _fits(inference: Inference, function: Function) -> bool:
    """Whether all ops fit; only ops that a branch has in common with what it calls run where it runs."""
    for node in function.nodes:
        if node.name == "If":
            continue
        if node.callees and node.name != "tfl.custom":
            called = [inference.visited.get(symbol) for symbol in node.callees]
            if any(function is None or not _fits(inference, function) for function in called):
                return False
            continue
        operands = [inference.tensor(value) for value in node.operands]
        results = [inference.tensor(value) for value in node.results]
        if operands and not always_fits(Op(node.name, operands, results, node.attributes)):
            return False
    return True


def _defer(function: func.FuncOp) -> None:
    """Passes one argument through an op whose result is allocated in the call."""
    for argument in function.arguments:
        kind = ir.ShapedType(argument.type)
        uses = list(argument.uses)
        if not uses or not kind.has_rank or not kind.rank:
            continue
        with ir.InsertionPoint.at_block_begin(function.entry_block), function.location:
            again = create_value("tfl.reshape", argument.type, [argument, packed(sizes_of(argument))])
        for use in uses:
            use.owner.operands[use.operand_number] = again
        return
