"""The passes of each stage before composites are fused, in order. Where the order matters, the line says why.

``litefuse inspect`` runs only these, and starts faster without the others.
"""

from __future__ import annotations

from collections.abc import Callable

from litefuse.conversion.pipeline import deferred
from litefuse.ir.mlir import ir
from litefuse.ir.passes import Pass
from litefuse.ir.shapes.call_types import RefineCallTypes
from litefuse.passes.control_flow.limit_ops import LimitOps
from litefuse.passes.variables.freeze_variables import FreezeVariables, Verdict
from litefuse.passes.variables.resource_handles import CheckHandles, LiftReads, SinkHandles


def explicit_state() -> list[Pass]:
    """Returns the first passes: they move variable handles to their uses, and make each use a read or a write."""
    return [
        deferred.LowerFor(),  # whose body is called unlike all others
        LimitOps(),  # before functions are copied for their callers
        deferred.LowerXlaCallModule(),
        LimitOps(),  # including the functions that programs of JAX call
        deferred.LowerCase(),
        deferred.LowerConditions(),
        deferred.LowerInplaceOps(),
        RefineCallTypes(),
        deferred.DecomposeResourceOps(),  # from here on, each use of a variable is a read or a write
        LiftReads(),  # before SinkHandles, which copies a function for each variable that it is called with
        SinkHandles(),
        CheckHandles(),  # handles stand beside their uses now
    ]


def constant_variables(values: Callable[[str], ir.Attribute], verdicts: list[Verdict]) -> list[Pass]:
    """Returns the passes that make constants of read-only variables, and prepare the forms that recognizers expect.

    Args:
        values: The elements attribute of a variable's value by its ``shared_name``.
        verdicts: Filled with one entry for each variable.
    """
    return [
        FreezeVariables(values, verdicts),
        deferred.InferLoopTypes(),  # needs the constants
        deferred.ExpandBlockCells(),
    ]
