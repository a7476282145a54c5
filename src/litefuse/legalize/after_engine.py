"""The pass after the engine: ops that it left because LiteRT lacks them, rewritten."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from litefuse.ir.call_graph import functions
from litefuse.ir.mlir import ir
from litefuse.legalize.decomposed import Decomposed
from litefuse.legalize.lacking_ops import left_over

__all__ = ["DecomposeOps"]


class DecomposeOps:
    """Rewrites the TensorFlow ops that the engine left, where there is an exact rewriting.

    A rewriting is built and lowered in a module of its own, and used if nothing of it is left there either; ops that
    are alike share it. Where a kernel is faster, the op becomes a composite of its name and attributes, and the
    rewriting the function that the runtime calls when no kernel claims it. On an op that stays, an attribute says why.

    Args:
        decomposed: Filled with what became of each op that is rewritten.
        lower: Lowers a module of one function, which computes what an op does, to builtin ops, in place.
        narrow: Where there is no exact rewriting of an op of int64, let it be computed in int32.
    """

    name: ClassVar[str] = "decompose-ops"

    def __init__(self, decomposed: list[Decomposed], lower: Callable[[ir.Module], None], narrow: bool = False) -> None:
        self._decomposed = decomposed
        self._lower = lower
        self._narrow = narrow

    def run(self, module: ir.Module) -> bool:
        ops = [op for function in functions(module).values() for op in left_over(function)]
        if not ops:
            return False
        # Of most models nothing is left, and they need none of the decompositions.
        from litefuse.legalize.left_over import replace_left_over

        return replace_left_over(module, ops, self._decomposed, self._lower, narrow=self._narrow)
