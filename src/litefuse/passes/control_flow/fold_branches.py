"""Folds branches with constant conditions."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from litefuse.ir.call_graph import call_operands, callees, create_call, functions, operations
from litefuse.ir.constants import stored
from litefuse.ir.mlir import ir

__all__ = ["FoldBranches"]


class FoldBranches:
    """Replaces ``tf.If`` on a constant by a call of the taken branch; inlining does the rest."""

    name: ClassVar[str] = "fold-branches"

    def run(self, module: ir.Module) -> bool:
        modified = False
        for function in functions(module).values():
            for op in operations(function):
                if op.name == "tf.If":
                    taken = _taken(op)
                    if taken is not None:
                        _call(op, taken)
                        modified = True
        return modified


def _taken(op: ir.OpView) -> str | None:
    condition = stored(op.operands[0])
    if condition is None or condition.type.rank != 0:
        return None
    then_branch, else_branch = callees(op)
    return then_branch if bool(np.array(condition)) else else_branch


def _call(op: ir.OpView, symbol: str) -> None:
    with ir.InsertionPoint(op), op.location:
        call = create_call(symbol, [result.type for result in op.results], call_operands(op))
    for old, new in zip(op.results, call.results, strict=True):
        old.replace_all_uses_with(new)
    op.operation.erase()
