"""The report's entries for loops that a target does not support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from litefuse.fusions.recognizers.recognizer import HOISTED
from litefuse.support import report as reports

if TYPE_CHECKING:
    from litefuse.passes.control_flow.unroll_loops import LoopOutcome

__all__ = ["kept", "with_unrolled"]


def with_unrolled(
    loops: Sequence[reports.LoopReport], outcomes: Sequence[LoopOutcome]
) -> tuple[reports.LoopReport, ...]:
    """Adds to the entries of loops that they were unrolled, or why not.

    Args:
        loops: One entry for each loop that became no op.
        outcomes: What became of each loop when it was to be unrolled.

    Returns:
        The entries, followed by those of further loops, such as the ones in annotated functions.
    """
    texts = {outcome.layer: _text(outcome) for outcome in outcomes}
    known = {loop.layer for loop in loops}
    return (
        *(
            replace(loop, reason=f"{loop.reason.removesuffix(HOISTED)}; {texts[loop.layer]}")
            if loop.layer in texts
            else loop
            for loop in loops
        ),
        *(reports.LoopReport(outcome.caller, _text(outcome)) for outcome in outcomes if outcome.layer not in known),
    )


def kept(loops: Sequence[reports.LoopReport], outcomes: Sequence[LoopOutcome]) -> list[reports.LoopReport]:
    """Returns the entries of the loops that were not unrolled."""
    layers = {name for outcome in outcomes if outcome.steps is None for name in (outcome.layer, outcome.caller)}
    return [loop for loop in loops if loop.layer in layers]


def _text(outcome: LoopOutcome) -> str:
    return outcome.reason if outcome.steps is None else f"unrolled into {outcome.steps} steps"
