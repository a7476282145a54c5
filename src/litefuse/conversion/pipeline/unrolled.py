"""The report's entries for loops that a target does not support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from litefuse.fusions.recognizers.recognize import HOISTED
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
    texts = {each.layer: _text(each) for each in outcomes}
    known = {each.layer for each in loops}
    return (
        *(
            replace(each, reason=f"{each.reason.removesuffix(HOISTED)}; {texts[each.layer]}")
            if each.layer in texts
            else each
            for each in loops
        ),
        *(reports.LoopReport(each.caller, _text(each)) for each in outcomes if each.layer not in known),
    )


def kept(loops: Sequence[reports.LoopReport], outcomes: Sequence[LoopOutcome]) -> list[reports.LoopReport]:
    """Returns the entries of the loops that were not unrolled."""
    layers = {name for each in outcomes if each.steps is None for name in (each.layer, each.caller)}
    return [each for each in loops if each.layer in layers]


def _text(outcome: LoopOutcome) -> str:
    return outcome.reason if outcome.steps is None else f"unrolled into {outcome.steps} steps"
