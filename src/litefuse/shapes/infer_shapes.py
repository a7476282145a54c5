"""The pass."""

from __future__ import annotations

from typing import ClassVar

from litefuse.engine.mlir import func, ir
from litefuse.passes.call_graph import (
    called_by,
    callees,
    callees_first,
    copy_function,
    function_symbol,
    functions,
    operations,
    set_callees,
)
from litefuse.shapes.graph import ModuleGraph
from litefuse.shapes.inference import Inference
from litefuse.shapes.rewrite import rewrite

__all__ = ["InferShapes"]


class InferShapes:
    """Works out shapes, and computes what shapes are made of::

        %s = tf.Shape(%x : tensor<?x4x5xf32>)
        %n = tf.Prod(tf.StridedSlice(%s)[1:])           %c = tf.Const() [-1, 20]
        %d = tf.Pack(tf.StridedSlice(%s)[0], %n)   -->  %y = tf.Reshape(%x, %c) : tensor<?x20xf32>
        %y = tf.Reshape(%x, %d) : tensor<*xf32>

    Every op has a rule that says what the shapes of its results are; with what is declared, they say together how the
    result is typed. A size that is not known is a symbol, and shapes are followed as formulas of symbols: so is told
    that a reshape, a broadcast or a slice changes nothing, whatever the batch. The elements of small integer tensors
    are followed alike; those that are known become constants, and of others the same is computed once. A loop's
    variable keeps what its body keeps; a branch's result is what both sides agree on.

    Raises:
        GraphError: The shapes of an op's operands, or those that are found and declared, contradict each other.
    """

    name: ClassVar[str] = "infer-shapes"

    def run(self, module: ir.Module) -> bool:
        modified = _separate_callers(functions(module))
        inference = Inference(ModuleGraph.of(module))
        inference.run()
        return rewrite(inference) or modified


def _separate_callers(by_symbol: dict[str, func.FuncOp]) -> bool:
    """Copies functions until each of them has one caller: its shapes are those of that call."""
    waiting = list(reversed(callees_first(by_symbol)))
    # A composite's decomposition is the same for all that it stands for, and follows no call.
    taken = called_by(by_symbol, "tfl.custom")
    modified = False
    for symbol in waiting:  # grows: the copies come last
        for op in operations(by_symbol[symbol]):
            called = callees(op)
            if not called or op.name == "tfl.custom":
                continue
            own: list[str] = []
            for callee in called:
                if callee in taken:
                    copy = function_symbol(copy_function(by_symbol, callee))
                    waiting.append(copy)
                    own.append(copy)
                    modified = True
                else:
                    own.append(callee)
                taken.add(own[-1])
            if own != called:
                set_callees(op, own)
    return modified
