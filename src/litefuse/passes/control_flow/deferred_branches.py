"""Branches that LiteRT must not prepare before it takes them."""

from __future__ import annotations

from litefuse.ir.call_graph import called_by, functions
from litefuse.ir.litert_ops import packed, sizes_of
from litefuse.ir.mlir import func, ir
from litefuse.ir.op_creation import create_value
from litefuse.ir.ops.facts import Op
from litefuse.ir.ops.fitting import always_fits
from litefuse.ir.shapes.graph import Function, ModuleGraph
from litefuse.ir.shapes.inference import Inference

__all__ = ["DeferBranches", "MarkBranches"]

# The attribute of a function that is a branch whose shapes may not fit while it is not taken.
_DEFERRED = "litefuse.deferred"


class MarkBranches:
    """Marks the branches whose shapes may contradict each other when they are not taken::

        func @then(%x: tensor<?xf32>) {                     func @then(...) attributes {litefuse.deferred} {
          %y = tf.Reshape(%x, [2, 8])                 -->     ...

    The sizes are followed from the callers: where operands have the same unknown size, they fit. An ``If`` in a branch
    defers its own branches; loops are looked into.
    """

    name = "mark-branches"

    def run(self, module: ir.Module) -> bool:
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


class DeferBranches:
    """Begins each marked branch with an op whose result LiteRT allocates when it computes it::

        func @then(%x: tensor<?xf32>) {                     func @then(%x: tensor<?xf32>) {
          %y = tfl.reshape(%x, [2, 8])                -->     %z = tfl.reshape(%x, tfl.pack(...)) : tensor<?xf32>
                                                              %y = tfl.reshape(%z, [2, 8])

    LiteRT prepares both branches of an IF, one of which it will not take: what follows such an op is prepared when the
    branch runs (the fault ``branch-not-taken``).
    """

    name = "defer-branches"

    def run(self, module: ir.Module) -> bool:
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
