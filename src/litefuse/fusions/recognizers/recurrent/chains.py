"""Finds unrolled layers: the same cell several times, each with the states of the previous one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from litefuse.fusions.recognizers.matching import matches
from litefuse.fusions.recognizers.pattern import Variable
from litefuse.fusions.recognizers.recurrent.cells import Cell, Step, read_step
from litefuse.ir.defining_ops import is_constant, products_of_shared_weights, same, source
from litefuse.ir.mlir import func, ir

# How many steps are looked for in vain before some are left out.
_ATTEMPTS = 8
# The ops between a product and the output of its step, with those that only forward a value.
_LONGEST_CELL = 24
_ENDS = frozenset({"func.return", "tf.BatchMatMulV2", "tf.MatMul"})


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


@dataclass
class _Search:
    """How far the search for the steps of products that share a weight is.

    It counts the steps in a row that were looked for in vain, and the next products that are left out. Outputs of a
    step are before ``end``: a product of the next step takes them.
    """

    failures: int = 0
    left_out: int = 0
    end: float = math.inf

    def fail(self) -> None:
        """Counts a failure, after some of which more and more products are left out."""
        self.failures += 1
        self.left_out = 2 ** max(self.failures - _ATTEMPTS, 0) - 1


def find_chains(function: func.FuncOp, cells: Sequence[Cell]) -> list[Chain]:
    """Finds the unrolled layers of a function, from its end to its beginning, each as long as possible.

    The steps of a layer have products with the same weights, and the last of these is in its last step. So steps are
    looked for where such products lead to. Where that fails again and again, as for a cell that nobody knows, more and
    more of the products are left out: the time grows with the number of ops, not with that of the ways to match a cell.
    """
    searches: dict[ir.Value, _Search] = {}
    for products in products_of_shared_weights(function):
        searches |= dict.fromkeys(products, _Search())  # one for all of them
    if not searches:
        return []
    places: dict[ir.Value, int] = {
        result: index for index, op in enumerate(function.entry_block.operations) for result in op.results
    }
    tried: set[ir.Value] = set()
    chains: list[Chain] = []
    for product in sorted(searches, key=places.__getitem__, reverse=True):
        search = searches[product]
        values: set[ir.Value] = set()
        if product not in tried and not search.left_out:
            values = {value for value in _led_to(product) - tried if places[value] < search.end}
        if search.failures >= _ATTEMPTS:
            search.end = places[product]
        if not values:
            search.left_out = max(search.left_out - 1, 0)
            continue
        search.fail()
        for value in sorted(values, key=places.__getitem__, reverse=True):
            tried.add(value)
            steps = max((_chain(value, cell) for cell in cells), key=len)
            if len(steps) > 1:
                chains.append(Chain(tuple(steps)))
                tried.update(value for step in steps for value in step.computed)
                search.failures = search.left_out = 0
                break
    return chains


def _led_to(product: ir.Value) -> set[ir.Value]:
    """Returns the matrices that are computed from a product without another one, and may be a step's output."""
    values = {product}
    newest = values
    for _ in range(_LONGEST_CELL):
        users = [use.owner for value in newest for use in value.uses]
        newest = {result for op in users if op.name not in _ENDS for result in op.results} - values
        values |= newest
    return {value for value in values if _is_matrix(value) and source(value) == value}


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
    return next((before for before in _steps(step.cell, step.states, known) if before.is_like(step)), None)


def _steps(cell: Cell, results: Sequence[ir.Value], known: Mapping[Variable, ir.Value] | None = None) -> Iterator[Step]:
    """Yields all steps of a cell whose first results are these values, with known weights if there are any."""

    def can_be(variable: Variable, value: ir.Value) -> bool:
        if known is not None and variable in cell.weights:
            return variable in known and same(known[variable], value)
        if cell.is_constant(variable):
            return is_constant(value) or isinstance(value.owner, ir.Block)
        return _is_matrix(value)

    for matched in matches(cell.results[: len(results)], results, can_be=can_be):
        step = read_step(cell, matched)
        if step is not None:
            yield step
