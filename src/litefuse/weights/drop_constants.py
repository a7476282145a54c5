"""Removes unused constants."""

from __future__ import annotations

from typing import ClassVar

from litefuse.ir.call_graph import functions, nested_operations
from litefuse.ir.mlir import ir

__all__ = ["DropConstants"]

_CONSTANTS = frozenset({"arith.constant", "tfl.external_const", "tfl.pseudo_const"})


class DropConstants:
    """Erases constants without uses: fault ``unused-constants``.

    Folded ops leave their operands behind, and rewritten ones those that only configured them.
    """

    name: ClassVar[str] = "drop-constants"

    def run(self, module: ir.Module) -> bool:
        unused = [
            op
            for function in functions(module).values()
            if not function.is_external
            for op in nested_operations(function.entry_block)
            if op.name in _CONSTANTS and not any(True for _ in op.results[0].uses)
        ]
        for op in unused:
            op.operation.erase()
        return bool(unused)
