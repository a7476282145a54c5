"""Lowers the rewriting of one op that the engine leaves."""

from __future__ import annotations

from litefuse.ir.engine.lowering import lower
from litefuse.ir.mlir import ir
from litefuse.ir.passes import Pass, run_passes
from litefuse.ir.shapes.result_types import TypeResults
from litefuse.passes.finishing.prepared_shapes import PrepareShapes
from litefuse.passes.legalize.before_engine import RewriteBeforeLowering
from litefuse.passes.legalize.decomposed import Decomposed

__all__ = ["before_engine_of_one_op", "lower_one_op"]


def before_engine_of_one_op(decomposed: list[Decomposed]) -> list[Pass]:
    """Returns the passes that prepare an op's rewriting for the engine.

    It has no weights, and has loops only if it iterates.
    """
    return [RewriteBeforeLowering(decomposed)]


def _after_engine() -> list[Pass]:
    """Returns the passes after the engine; all others run once the rewriting is inserted in the op's place."""
    return [TypeResults(), PrepareShapes()]


def lower_one_op(module: ir.Module) -> None:
    """Lowers a module of one function, which computes an op that the engine leaves.

    Raises:
        LoweringError: The engine refused it.
    """
    run_passes(module, before_engine_of_one_op([]))
    lower(module)
    run_passes(module, _after_engine())
