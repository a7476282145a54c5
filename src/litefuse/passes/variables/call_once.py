"""Functions that run before anything else: how they are defined, and the pass that calls them."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from litefuse.ir.call_graph import functions
from litefuse.ir.mlir import func, ir
from litefuse.ir.op_creation import create_op

__all__ = ["CallOnce", "initializer"]


@contextmanager
def initializer(module: ir.Module, symbol: str, initializers: list[str]) -> Generator[None]:
    """Defines a public function of what is emitted in the context, and adds its symbol to the initializers."""
    taken = functions(module)
    while symbol in taken:
        symbol += "_"
    initializers.append(symbol)
    with ir.InsertionPoint(module.body):
        function = func.FuncOp(symbol, ir.FunctionType.get([], []), visibility="public")
    with ir.InsertionPoint(function.add_entry_block()):
        yield
        func.ReturnOp([])


class CallOnce(NamedTuple):
    """Inserts CALL_ONCE for each initializer at the beginning of every exported function.

    The runtime runs it once for all of them, however often and in which order they are called.

    Attributes:
        initializers: The symbols of the functions that it runs.
        entry_points: The exported functions.
    """

    name = "call-once"
    initializers: Sequence[str]
    entry_points: tuple[str, ...]

    def run(self, module: ir.Module) -> bool:
        by_symbol = functions(module)
        for initializer in self.initializers:
            for symbol in self.entry_points:
                with ir.InsertionPoint.at_block_begin(by_symbol[symbol].entry_block):
                    create_op("tfl.call_once", [], [], {"session_init_function": initializer})
        return bool(self.initializers)
