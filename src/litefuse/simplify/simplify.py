"""The pass that rewrites TensorFlow ops whose shapes are known."""

from __future__ import annotations

from typing import ClassVar

from litefuse.ir.call_graph import functions, separate_callers
from litefuse.ir.mlir import ir
from litefuse.shapes.graph import ModuleGraph
from litefuse.shapes.inference import Inference
from litefuse.simplify.rewrite import rewrite

__all__ = ["Simplify"]


class Simplify:
    """Infers shapes, and rewrites ops by what they say; what shapes are made of is computed::

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

    name: ClassVar[str] = "simplify"

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
