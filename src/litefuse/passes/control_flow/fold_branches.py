"""Folds branches with constant conditions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from litefuse.ir.call_graph import call_operands, callees, create_call
from litefuse.ir.constants import stored
from litefuse.ir.mlir import ir
from litefuse.ir.passes import visit_ops

__all__ = ["FoldBranches"]


class FoldBranches:
    """Replaces ``tf.If`` on a constant by a call of the taken branch; inlining does the rest."""

    name: ClassVar[str] = "fold-branches"

    def run(self, module: ir.Module) -> bool:
        return visit_ops(module, {"tf.If": _taken}, nested=False)


def _taken(op: ir.OpView) -> Sequence[ir.Value] | None:
    condition = stored(op.operands[0])
    if condition is None or condition.type.rank != 0:
        return None
    then_branch, else_branch = callees(op)
    branch = then_branch if bool(np.array(condition)) else else_branch
    return create_call(branch, [result.type for result in op.results], call_operands(op)).results
