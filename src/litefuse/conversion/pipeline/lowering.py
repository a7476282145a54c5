"""Lowers TensorFlow ops to a module that can be exported."""

from __future__ import annotations

from collections.abc import Callable

from litefuse.conversion.pipeline import deferred
from litefuse.conversion.pipeline.stages import (
    Lowering,
    after_engine,
    before_engine,
    dense_lists,
    initial_state,
)
from litefuse.conversion.pipeline.steps import INLINE, LOWER, REMOVE_UNUSED
from litefuse.ir.call_graph import functions
from litefuse.ir.engine.lowering import lower, run_mlir_passes, set_signature
from litefuse.ir.mlir import ir
from litefuse.ir.passes import run_passes
from litefuse.ir.shapes.forward_values import ForwardValues
from litefuse.passes.simplify.simplify import Simplify

__all__ = ["lower_module"]


def lower_module(module: ir.Module, lowering: Lowering, on_step: Callable[[str], None] = lambda _: None) -> None:
    """Lowers a module of TensorFlow ops whose composites are fused, in place, so that it can be exported.

    Args:
        module: The module; its exported functions are public.
        lowering: The options of the lowering.
        on_step: Called with the name of each step when it begins.

    Raises:
        LitefuseError: Whatever a pass or the engine raises.
    """
    run_passes(module, initial_state(lowering), on_step)
    unsettled = _inline_and_fold(module, on_step)
    # Replacements enable more, and lists become tensors, whose shapes are new.
    if run_passes(module, dense_lists(), on_step) or unsettled:
        on_step(ForwardValues.name)
        ForwardValues().run(module)
        run_passes(module, [Simplify()], on_step)
    if run_passes(module, lowering.naming, on_step):
        _inline(module, on_step)
    run_passes(module, before_engine(lowering), on_step)
    on_step(REMOVE_UNUSED)
    run_mlir_passes(module, "symbol-dce")
    by_symbol = functions(module)
    for entry in lowering.entry_points:
        set_signature(by_symbol[entry.symbol], entry.symbol, entry.inputs, entry.outputs)
    on_step(LOWER)
    lower(module)
    run_passes(module, after_engine(lowering), on_step)


def _inline_and_fold(module: ir.Module, on_step: Callable[[str], None]) -> bool:
    """Inlines calls and folds what constants determine: sizes, and taken branches, which are calls again.

    Returns:
        Whether another shape inference may find more.
    """
    while True:
        _inline(module, on_step)
        on_step(ForwardValues.name)
        ForwardValues().run(module)  # where shapes contradict each other, the module is invalid; inference reports why
        shapes = Simplify()
        run_passes(module, [shapes], on_step)
        if not run_passes(module, [deferred.FoldBranches()], on_step):
            return shapes.unsettled


def _inline(module: ir.Module, on_step: Callable[[str], None]) -> None:
    on_step(INLINE)
    # By default the inliner also runs the dialects' folding, whose mistakes keep-zero-operands prevents.
    run_mlir_passes(module, "inline{default-pipeline=}", "symbol-dce")
