"""The passes of each stage before composites are fused, in their order. Where it matters, the line says why.

``litefuse inspect`` takes these alone, and starts faster without the others.
"""

from __future__ import annotations

from collections.abc import Callable

from litefuse.engine.mlir import ir
from litefuse.passes.block_cells import ExpandBlockCells
from litefuse.passes.call_types import RefineCallTypes
from litefuse.passes.check_handles import CheckHandles
from litefuse.passes.conditions import LowerConditions
from litefuse.passes.inplace_ops import LowerInplaceOps
from litefuse.passes.limit_ops import LimitOps
from litefuse.passes.lower_case import LowerCase
from litefuse.passes.lower_for import LowerFor
from litefuse.passes.pipeline import Pass
from litefuse.passes.resource_ops import DecomposeResourceOps
from litefuse.passes.resources import LiftReads, SinkHandles
from litefuse.passes.variables import FreezeVariables, Verdict
from litefuse.passes.xla_call_module import LowerXlaCallModule
from litefuse.shapes import InferLoopTypes

__all__ = ["constant_variables", "explicit_state"]


def explicit_state() -> list[Pass]:
    """First of all: each variable's handle stands where it is used, and what is done with it is a read or a write."""
    return [
        LowerFor(),  # whose body is called otherwise than all else that is called
        LimitOps(),
        LowerXlaCallModule(),
        LimitOps(),  # with what programs of JAX call
        LowerCase(),
        LowerConditions(),
        LowerInplaceOps(),
        RefineCallTypes(),
        DecomposeResourceOps(),
        LiftReads(),
        SinkHandles(),
        CheckHandles(),
    ]


def constant_variables(values: Callable[[str], ir.Attribute], verdicts: list[Verdict]) -> list[Pass]:
    """Constants of the variables that are only read, and what recognisers look for in the form in which they do.

    Args:
        values: The elements attribute of a variable's value by its ``shared_name``.
        verdicts: Filled with one entry for each variable.
    """
    return [
        FreezeVariables(values, verdicts),
        InferLoopTypes(),  # which constants are needed for
        ExpandBlockCells(),
    ]
