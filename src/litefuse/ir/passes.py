"""The interface of passes, and their runner."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar, Protocol

from litefuse.errors import GraphError
from litefuse.ir.mlir import ir

__all__ = ["Pass", "run_passes"]


class Pass(Protocol):
    """A pass: a frozen dataclass whose fields are its options."""

    name: ClassVar[str]

    def run(self, module: ir.Module) -> bool:
        """Changes the module in place; returns whether it did."""
        ...


def run_passes(module: ir.Module, passes: Iterable[Pass], on_pass: Callable[[str], None] = lambda _: None) -> bool:
    """Runs passes in order and verifies the module after each one that changed it; returns whether any did.

    Args:
        module: The module.
        passes: The passes.
        on_pass: Called with each pass's name before it runs.

    Raises:
        GraphError: A pass left an invalid module; the message names the pass and those before it.
        LitefuseError: A pass raised it.
    """
    before: list[str] = []
    modified = False
    for one in passes:
        on_pass(one.name)
        if one.run(module):
            modified = True
            try:
                module.operation.verify()
            except ir.MLIRError as error:
                raise GraphError(
                    f"the module is not valid: {error}", where=f"after the pass {one.name} (before it: {before})"
                ) from error
        before.append(one.name)
    return modified
