"""The pass that works out shapes."""

from __future__ import annotations

from typing import ClassVar

from litefuse.engine.mlir import func, ir
from litefuse.passes.call_graph import functions, operations, separate_callers
from litefuse.shapes.graph import ModuleGraph
from litefuse.shapes.inference import Inference
from litefuse.shapes.rewrite import rewrite, set_types

__all__ = ["InferLoopTypes", "InferShapes"]


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

    Attributes:
        unsettled: Whether the pass has changed what makes way for more, and may be run again.

    Raises:
        GraphError: The shapes of an op's operands, or those that are found and declared, contradict each other.
    """

    name: ClassVar[str] = "infer-shapes"

    def __init__(self) -> None:
        self.unsettled = False

    def run(self, module: ir.Module) -> bool:
        # A composite's decomposition is the same for all that it stands for, and follows no call.
        modified = separate_callers(functions(module), left_alone="tfl.custom")
        inference = Inference(ModuleGraph.of(module))
        inference.run()
        changes = rewrite(inference)
        self.unsettled = changes.unsettled
        return changes.modified or modified


class InferLoopTypes:
    """Gives values their types where a function has a loop and a value of unknown rank, and changes no op.

    A SavedModel notes the shapes of most nodes, a frozen graph none; without them, no loop is recognised as a layer.

    Raises:
        GraphError: As ``InferShapes``.
    """

    name: ClassVar[str] = "infer-loop-types"

    def run(self, module: ir.Module) -> bool:
        if not any(map(_has_loop_without_shapes, functions(module).values())):
            return False
        modified = separate_callers(functions(module), left_alone="tfl.custom")
        inference = Inference(ModuleGraph.of(module))
        inference.run()
        return set_types(inference) or modified


def _has_loop_without_shapes(function: func.FuncOp) -> bool:
    ops = list(operations(function))
    return any(op.name == "tf.While" for op in ops) and any(_is_unranked(result) for op in ops for result in op.results)


def _is_unranked(value: ir.Value) -> bool:
    """Whether a value is a tensor of numbers, of unknown rank."""
    text = str(value.type)
    return text.startswith("tensor<*x") and "!tf_type" not in text
