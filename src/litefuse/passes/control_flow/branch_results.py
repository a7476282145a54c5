"""Gives each result of a branch, or of a composite's body, memory of its own."""

from __future__ import annotations

from typing import ClassVar

from litefuse.ir.call_graph import called_by, functions, terminator_of
from litefuse.ir.litert_ops import copied
from litefuse.ir.mlir import ir

__all__ = ["CopyBranchResults"]


class CopyBranchResults:
    """Copies values that a branch, or the body of a kept composite, returns more than once::

        %y = tfl.sin(%x)              %y = tfl.sin(%x)
        return %y, %y            -->  %z = tfl.maximum(%y, %y)
                                      return %y, %z

    Faults ``branch-result-twice`` and ``composite-result-twice``; for the latter, this pass comes before
    ``emit-composite-ops``.
    """

    name: ClassVar[str] = "copy-branch-results"

    def run(self, module: ir.Module) -> bool:
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
