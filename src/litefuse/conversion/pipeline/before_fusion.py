"""The passes of each stage before composites are fused, in order. Where the order matters, the line says why.

``litefuse inspect`` runs only these, and starts faster without the others.
"""

from __future__ import annotations

from collections.abc import Callable

from litefuse.conversion.pipeline import deferred
from litefuse.ir.mlir import ir
from litefuse.ir.passes import Pass
from litefuse.ir.shapes.call_types import refine_call_types
from litefuse.passes.control_flow.limit_ops import limit_ops
from litefuse.passes.variables.freeze_variables import FreezeVariables, Verdict
from litefuse.passes.variables.resource_handles import check_handles, lift_reads, sink_handles


def explicit_state() -> list[Pass]:
    """Returns the first passes: they move variable handles to their uses, and make each use a read or a write."""
    return [
        deferred.LowerFor(),  # whose body is called unlike all others
        limit_ops,  # before functions are copied for their callers
        deferred.LowerXlaCallModule(),
        limit_ops,  # including the functions that programs of JAX call
        deferred.LowerCase(),
        deferred.LowerConditions(),
        deferred.LowerInplaceOps(),
        refine_call_types,
        deferred.DecomposeResourceOps(),  # from here on, each use of a variable is a read or a write
        lift_reads,  # before sink_handles, which copies a function for each variable that it is called with
        sink_handles,
        check_handles,  # handles stand beside their uses now
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
