"""The pass that rewrites TensorFlow ops whose shapes are known."""

from __future__ import annotations

from typing import ClassVar

from litefuse.ir.call_graph import functions, separate_callers
from litefuse.ir.mlir import ir
from litefuse.ir.shapes.graph import ModuleGraph
from litefuse.ir.shapes.inference import Inference
from litefuse.passes.simplify.rewrite import rewrite

__all__ = ["Simplify"]


class Simplify:
    """Infers shapes, rewrites ops accordingly, and folds the arithmetic that computes shapes::

        %s = tf.Shape(%x : tensor<?x4x5xf32>)
        %n = tf.Prod(tf.StridedSlice(%s)[1:])           %c = tf.Const() [-1, 20]
        %d = tf.Pack(tf.StridedSlice(%s)[0], %n)   -->  %y = tf.Reshape(%x, %c) : tensor<?x20xf32>
        %y = tf.Reshape(%x, %d) : tensor<*xf32>

    Every op has a rule for the shapes of its results; together with the declared shapes, they determine the types of
    the results. A dynamic dimension is a symbol, and shapes are tracked as formulas of symbols: this shows that a
    reshape, a broadcast or a slice changes nothing, whatever the batch. The elements of small integer tensors are
    tracked in the same way; known ones become constants, and equal formulas are computed once. A loop variable keeps
    the facts that its body preserves; a branch's result keeps those that both sides agree on.

    Attributes:
        unsettled: Whether the pass made changes that may enable more, so that it may be run again.

    Raises:
        GraphError: The shapes of an op's operands, or inferred and declared shapes, contradict each other.
    """

    name: ClassVar[str] = "simplify"

    def __init__(self) -> None:
        self.unsettled = False

    def run(self, module: ir.Module) -> bool:
        # A composite's decomposition is shared by all its uses, and is specialized for no call.
        modified = separate_callers(functions(module), left_alone="tfl.custom")
        inference = Inference(ModuleGraph.of(module))
        inference.run()
        changes = rewrite(inference)
        self.unsettled = changes.unsettled
        return changes.modified or modified
