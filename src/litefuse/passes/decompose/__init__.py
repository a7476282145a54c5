"""TensorFlow ops that the engine lacks, or would get wrong, rewritten into others by ``litefuse.decompositions``."""

from litefuse.passes.decompose.after_lowering import DecomposeOps
from litefuse.passes.decompose.before_lowering import RewriteBeforeLowering
from litefuse.passes.decompose.decomposed import Decomposed

__all__ = ["DecomposeOps", "Decomposed", "RewriteBeforeLowering"]
