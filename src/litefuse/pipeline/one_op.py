"""The stages of a rewriting of one op that the engine left, and its lowering by them."""

from __future__ import annotations

from litefuse.engine.lowering import lower
from litefuse.finishing.prepared_shapes import PrepareShapes
from litefuse.ir.mlir import ir
from litefuse.ir.passes import Pass, run_passes
from litefuse.legalize.before_engine import RewriteBeforeLowering
from litefuse.legalize.decomposed import Decomposed
from litefuse.shapes.result_types import TypeResults

__all__ = ["before_engine_of_one_op", "lower_one_op"]


def before_engine_of_one_op(decomposed: list[Decomposed]) -> list[Pass]:
    """What the engine must find in the rewriting of an op, which has no weights, and loops only where it iterates."""
    return [RewriteBeforeLowering(decomposed)]


def _after_engine() -> list[Pass]:
    """What the engine leaves undone in it; the rest is done where it is put in the op's place."""
    return [TypeResults(), PrepareShapes()]


def lower_one_op(module: ir.Module) -> None:
    """Lowers a module of one function, which computes what an op computes that the engine left.

    Raises:
        LoweringError: The engine refused it.
    """
    run_passes(module, before_engine_of_one_op([]))
    lower(module)
    run_passes(module, _after_engine())
