"""Recognizes recurrent layers in loops."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from typing import NamedTuple

from litefuse.fusions.recognizers.matching import Match, Mismatch, match
from litefuse.fusions.recognizers.pattern import Pattern, Variable
from litefuse.fusions.recognizers.recurrent.cells import Cell, Step, read_step
from litefuse.fusions.recognizers.recurrent.loops import StepLoop
from litefuse.fusions.recognizers.regions import NotRecognized
from litefuse.ir.mlir import ir

__all__ = ["LoopLayer", "described", "recognize_loop"]


class LoopLayer(NamedTuple):
    """A loop that is a recurrent layer.

    Attributes:
        loop: The loop.
        step: The step that its body computes.
        states: The positions of the cell's states among the loop variables; the first is the output.
    """

    loop: StepLoop
    step: Step
    states: tuple[int, ...]

    @property
    def units(self) -> int | None:
        """How many outputs each step has; None if that is dynamic."""
        kind = ir.ShapedType(self.step.results[0].type)
        return kind.shape[1] if kind.has_rank and not kind.is_dynamic_dim(1) else None

    @property
    def steps(self) -> int | None:
        """The number of steps; None if it is dynamic."""
        return self._size(self.loop.time_axis)

    @property
    def batch(self) -> int | None:
        """The batch size; None if it is dynamic."""
        return self._size(1 - self.loop.time_axis)

    def _size(self, axis: int) -> int | None:
        inputs = ir.ShapedType(self.loop.inputs.type)
        known = inputs.has_rank and inputs.rank > axis and not inputs.is_dynamic_dim(axis)
        return inputs.shape[axis] if known else None


def described(cell: Cell, *, masked: bool = False, unrolled: bool = False) -> str:
    """Describes a cell: ``an LSTM``."""
    if masked or unrolled:
        return f"{'a masked' if masked else 'an unrolled'} {cell.kind}"
    return f"{'an' if cell.kind == 'LSTM' else 'a'} {cell.kind}"


def recognize_loop(loop: StepLoop, cells: Iterable[Cell]) -> LoopLayer:
    """Recognizes a loop as a recurrent layer.

    Raises:
        NotRecognized: It is not one; the text tells the nearest miss.
    """
    first = [p for p, value in loop.states.items() if loop.output is None or value == loop.output]
    if not first:
        raise NotRecognized("its output is not one of its states")
    if not all(ir.ShapedType(loop.op.operands[position].type).has_rank for position in loop.states):
        raise NotRecognized("the rank of its states is not known")
    best: tuple[Mismatch, Cell] | None = None
    for cell in cells:
        for h in first:
            others = loop.states.keys() - {h}
            for rest in permutations(sorted(others), len(cell.states) - 1):
                positions = (h, *rest)
                if len(positions) != len(loop.states):
                    continue
                outcome = _match(loop, cell, positions)
                if isinstance(outcome, LoopLayer):
                    return outcome
                if best is None or outcome.matched > best[0].matched:
                    best = outcome, cell
    if best is None:
        raise NotRecognized(f"no recurrent layer that is known has {len(loop.states)} states")
    raise NotRecognized(str(best[0]), described(best[1], masked=loop.masked))


def _match(loop: StepLoop, cell: Cell, positions: tuple[int, ...]) -> LoopLayer | Mismatch:
    def can_be(variable: Variable, value: ir.Value) -> bool:
        if variable is cell.x:
            return loop.is_input(value)
        return not cell.is_constant(variable) or loop.stays(value)

    known: dict[Pattern, ir.Value] = {
        state: loop.argument(position) for state, position in zip(cell.states, positions, strict=True)
    }

    def accept(found: Match) -> bool:
        step = read_step(cell, found)
        return step is not None and len({*step.weights}) == len(step.weights)

    results = [loop.states[position] for position in positions]
    matched = match(cell.results, results, known=known, can_be=can_be, accept=accept)
    if isinstance(matched, Mismatch):
        return matched
    step = read_step(cell, matched)
    assert step is not None
    return LoopLayer(loop, step, positions)
