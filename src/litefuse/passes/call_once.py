"""Running the initialiser before anything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from litefuse.engine.mlir import ir
from litefuse.passes.call_graph import functions

__all__ = ["CallOnce"]


@dataclass(frozen=True)
class CallOnce:
    """Puts CALL_ONCE of the initialiser at the beginning of every exported function.

    The runtime runs it once for all of them, however often and in which order they are called.

    Attributes:
        initializer: The symbol of the function; nothing happens when the module has none.
        entry_points: The exported functions.
    """

    name: ClassVar[str] = "call-once"
    initializer: str
    entry_points: tuple[str, ...]

    def run(self, module: ir.Module) -> bool:
        by_symbol = functions(module)
        if self.initializer not in by_symbol:
            return False
        for symbol in self.entry_points:
            ir.Operation.create(
                "tfl.call_once",
                attributes={"session_init_function": ir.StringAttr.get(self.initializer)},
                ip=ir.InsertionPoint.at_block_begin(by_symbol[symbol].entry_block),
            )
        return True
