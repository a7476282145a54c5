"""The pass after the engine, which rewrites the ops that it left because LiteRT lacks them."""

from __future__ import annotations

from collections.abc import Callable

from litefuse.ir.call_graph import functions
from litefuse.ir.mlir import ir
from litefuse.passes.legalize.decomposition import Decomposed
from litefuse.passes.legalize.lacking_ops import is_chosen, left_over

__all__ = ["DecomposeOps"]


class DecomposeOps:
    """Rewrites the TensorFlow ops that the engine left, if there is an exact rewriting.

    A rewriting is built and lowered in a module of its own, and used if it is lowered completely. Equal ops share it.
    If a kernel is faster, the op becomes a composite with its name and attributes, whose decomposition the rewriting
    is. On an op that stays, an attribute states why. An op that the user chose to be a custom op is not looked at.

    Args:
        decomposed: Filled with a record of each op that is rewritten.
        lower: Lowers a module of one function, the rewriting of an op, to builtin ops, in place.
        narrow: Whether int64 ops without an exact rewriting may be computed in int32.
    """

    name = "decompose-ops"

    def __init__(self, decomposed: list[Decomposed], lower: Callable[[ir.Module], None], narrow: bool = False) -> None:
        self._decomposed = decomposed
        self._lower = lower
        self._narrow = narrow

    def run(self, module: ir.Module) -> bool:
        ops = [op for function in functions(module).values() for op in left_over(function) if not is_chosen(op)]
        if not ops:
            return False
        # Imported late: most models have no ops left, and do not need the decompositions.
        from litefuse.passes.legalize.left_over import replace_left_over

        return replace_left_over(module, ops, self._decomposed, self._lower, narrow=self._narrow)
