"""Ops whose results nothing uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from litefuse.ir.mlir import ir
from litefuse.ir.purity import is_erasable

__all__ = ["erase_unused", "operand_owners"]


def operand_owners(op: ir.OpView | ir.Operation) -> list[ir.OpView | ir.Operation]:
    """Returns the ops that compute an op's operands, each once."""
    owners = (value.owner for value in op.operands)
    return list(dict.fromkeys(owner for owner in owners if not isinstance(owner, ir.Block)))


def erase_unused(ops: Iterable[ir.OpView | ir.Operation], erasable: Callable[[str], bool] = is_erasable) -> None:
    """Erases those of some ops whose results nothing uses, then what only they used, and so on.

    Args:
        ops: The ops, each once.
        erasable: Whether ops of a name may be erased; those with regions stay in any case.
    """

    def is_unused(op: ir.OpView | ir.Operation) -> bool:
        return erasable(op.name) and not op.regions and not any(True for result in op.results for _ in result.uses)

    unused = [op for op in ops if is_unused(op)]
    for op in unused:
        owners = operand_owners(op)
        op.operation.erase()
        unused += [owner for owner in owners if is_unused(owner)]
