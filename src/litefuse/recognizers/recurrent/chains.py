"""Finds unrolled layers: the same cell several times, each with the states of the previous one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from litefuse.ir.defining_ops import has_shared_weights, is_constant, same, source
from litefuse.ir.mlir import func, ir
from litefuse.recognizers.matching import matches
from litefuse.recognizers.pattern import Variable
from litefuse.recognizers.recurrent.cells import Cell, Step, read_step

__all__ = ["Chain", "find_chains"]


class Chain(NamedTuple):
    """A recurrent layer without a loop.

    Attributes:
        steps: Its steps, the first one first; two or more.
    """

    steps: tuple[Step, ...]

    @property
    def units(self) -> int | None:
        """How many outputs each step has; None if that is dynamic."""
        kind = ir.ShapedType(self.steps[0].results[0].type)
        return None if kind.is_dynamic_dim(1) else kind.shape[1]


def find_chains(function: func.FuncOp, cells: Sequence[Cell]) -> list[Chain]:
    """Finds the unrolled layers of a function, from its end to its beginning, each as long as possible.

    Args:
        function: The function.
        cells: The cells to try.
    """
    if not has_shared_weights(function):
        return []
    ops = list(function.entry_block.operations)
    found: list[Chain] = []
    outputs: set[ir.Value] = set()  # of chains that were found
    for value in [result for op in reversed(ops) for result in op.results if _is_matrix(result)]:
        if value in outputs or source(value) != value:
            continue
        chain = max((_chain(value, cell) for cell in cells), key=len)
        if len(chain) > 1:
            outputs.update(step.results[0] for step in chain)
            found.append(Chain(tuple(chain)))
    return found


def _is_matrix(value: ir.Value) -> bool:
    if not isinstance(value.type, ir.RankedTensorType):
        return False
    kind = ir.RankedTensorType(value.type)
    return kind.rank == 2 and str(kind.element_type) == "f32"


def _chain(value: ir.Value, cell: Cell) -> list[Step]:
    """Returns the longest chain of cells that ends with an output."""
    longest: list[Step] = []
    for last in _steps(cell, [value]):
        chain = [last]
        while (previous := _step_before(chain[-1])) is not None:
            chain.append(previous)
        if len(chain) > len(longest):
            longest = chain
    return longest[::-1]


def _step_before(step: Step) -> Step | None:
    known = dict(zip(step.variables, step.weights, strict=True))
    return next((each for each in _steps(step.cell, step.states, known) if each.is_like(step)), None)


def _steps(cell: Cell, results: Sequence[ir.Value], known: Mapping[Variable, ir.Value] | None = None) -> Iterator[Step]:
    """Yields all steps of a cell whose first results are these values, with known weights if there are any."""

    def can_be(variable: Variable, value: ir.Value) -> bool:
        if known is not None and variable in cell.weights:
            return variable in known and same(known[variable], value)
        if cell.is_constant(variable):
            return is_constant(value) or isinstance(value.owner, ir.Block)
        return _is_matrix(value)

    for found in matches(cell.results[: len(results)], results, can_be=can_be):
        step = read_step(cell, found)
        if step is not None:
            yield step
