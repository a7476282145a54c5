"""Calls a converted model with inputs drawn from its graph, until each output moves and each branch is taken."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

from litefuse.conversion.verify.converted import ConvertedModel
from litefuse.conversion.verify.layers.observed_copy import ObservedCopy, layer_graph
from litefuse.conversion.verify.original import Arrays, Call
from litefuse.conversion.verify.verdicts import movements, unmoved
from litefuse.conversion.verify.verification import Coverage
from litefuse.errors import LitefuseError
from litefuse.litert.inputs.drawer import Drawer
from litefuse.litert.inputs.kinds import Kind
from litefuse.litert.inputs.model_inputs import LEVELS, OTHER_NUMBERS, Manner, ModelInputs, Tables
from litefuse.litert.runtime.input_specs import no_input
from litefuse.support.files.temporary import make_temporary_folder


class Branches:
    """The conditions of the IF ops in the subgraphs of signatures, in the watched calls.

    IF ops nested in branches and loops are not covered. The calls run on a copy of the model whose conditions are
    outputs.

    Args:
        converted: The model.
        folder: Where the copy is written.
    """

    def __init__(self, converted: ConvertedModel, folder: Path) -> None:
        self._converted = converted
        self._conditions: dict[str, tuple[int, dict[int, str]]] = {}
        self._taken: dict[tuple[str, int], set[bool]] = {}
        self._model = converted.model
        for number, key in enumerate(converted.specs):
            graph = layer_graph(converted.model, key)
            conditions = {
                tensor.operands[0]: tensor.name for tensor in graph.tensors if tensor.op == "IF" and not tensor.position
            }
            if conditions:
                self._conditions[key] = graph.subgraph, conditions
                self._taken |= {(key, index): set() for index in conditions}
                copy = ObservedCopy(self._model, folder / f"observed_{number}.tflite", graph.subgraph)
                copy.set_outputs([*graph.outputs, *(index for index in conditions if index not in graph.outputs)])
                self._model = str(copy.path)

    @property
    def complete(self) -> bool:
        """Whether every condition was seen both true and false."""
        return all(len(taken) == 2 for taken in self._taken.values())

    @property
    def coverage(self) -> Sequence[Coverage]:
        """How many of the two branches of each IF op were taken."""
        return [
            Coverage(key, self._conditions[key][1][index], len(taken), 2, sampled=False, kind="branches")
            for (key, index), taken in self._taken.items()
        ]

    def new_round(self) -> Callable[[Call], None]:
        """Returns a function that watches calls, from the initial state of the model.

        The function raises what :meth:`ConvertedModel.call` raises.
        """
        interpreter: Any = self._converted.interpreter(self._model)
        run = self._converted.new_round(interpreter)

        def watch(call: Call) -> None:
            run(call)
            if call.signature in self._conditions:
                subgraph, conditions = self._conditions[call.signature]
                for index in conditions:
                    value = np.array(interpreter.get_tensor(index, subgraph))
                    self._taken[call.signature, index].add(bool(value.any()))

        return watch


# The batch sizes of inputs with a dynamic batch: models that are right only for size 1 are common.
_BATCHES = (1, 3)
# The sizes of other dynamic dimensions, in the order in which they are tried: few image models take the smallest.
_SIZES = (7, 32, 224, 1)
# How inputs are drawn where outputs do not move, one after the other.
_OTHERS = (Manner(), *OTHER_NUMBERS, Manner(constant=True, scale=100))
# With several dynamic dimensions, the larger sizes together may be too much.
_MOST_ELEMENTS = 1 << 24
# How often they are drawn where branches were not taken.
_TURNS = 3
# Limits of a call that is to reach rows: the elements of an input, the bytes of an output, and of all outputs together.
_ELEMENTS = 1 << 12
_BYTES = 1 << 26
_ALL_BYTES = 1 << 29
# Calls with other kinds of numbers take so many of these together; of a larger model, two calls are made.
_KINDS_NUMBERS = 1 << 25
# One with the largest sizes takes at most such a part of them.
_SHARES = 8


class DrawnRounds(NamedTuple):
    """The calls and their outputs.

    Attributes:
        rounds: The calls; each round begins with the initial state of the model.
        results: The model's outputs for each call.
        limit: The exclusive upper bound of integers, if the model takes nothing else; None if it takes what its graph
            says.
        coverage: How many rows of tables, words of vocabularies, and branches were reached.
        beyond: Calls that pick rows that only the original has, which may be fatal, and a description of each.
    """

    rounds: list[list[Call]]
    results: list[list[Arrays]]
    limit: int | None
    coverage: tuple[Coverage, ...]
    beyond: tuple[tuple[Call, str], ...]


class Plan(NamedTuple):
    """How the calls are drawn.

    Attributes:
        times: How often each signature is called in a round.
        seed: The seed of the inputs.
        shapes: Shapes of inputs by their names.
        tolerance: How far outputs have to move.
        seconds: How long the calls that are there to reach every row may take.
        level: The index of the first of ``LEVELS`` to try.
        tables: The contents of the original's tables.
        kinds: Further kinds of numbers; None: there are none.
    """

    times: int
    seed: int
    shapes: Mapping[str, tuple[int, ...]]
    tolerance: float
    seconds: float
    level: int = 0
    tables: Tables = Tables()
    kinds: Kinds | None = None


class Kinds(NamedTuple):
    """The kinds of numbers in the last round.

    Attributes:
        kinds: The kinds.
        work: How many numbers the model computes with, by how many dimensions of theirs are dynamic.
        keeps_state: Whether a call may say something of later ones.
    """

    kinds: Iterable[Kind]
    work: Mapping[int, int]
    keeps_state: bool

    def numbers(self, batch: int, size: int) -> int:
        """Returns how many numbers a call takes."""
        return sum(count * batch * size ** (dims - 1) if dims else count for dims, count in self.work.items())


def drawn_rounds(converted: ConvertedModel, inputs: ModelInputs, plan: Plan) -> DrawnRounds:
    """Calls the model for each batch size, with the first sizes and numbers that it takes, and adds calls where needed.

    Raises:
        InterpreterError: The model takes none of the inputs, or a shape does not fit or names an unknown input.
    """
    every = {spec.name: spec for specs in converted.specs.values() for spec in specs}
    if unknown := sorted(plan.shapes.keys() - every.keys()):
        raise no_input(unknown, list(every.values()))
    left = [spec for name, spec in every.items() if name not in plan.shapes]
    batches = _BATCHES if any(spec.shape and spec.shape[0] is None for spec in left) else _BATCHES[:1]
    sizes = _SIZES if any(None in spec.shape[1:] for spec in left) else _SIZES[:1]
    refused: LitefuseError | None = None
    for size, limit in product(sizes, LEVELS[plan.level :]):
        drawing = _Drawing(converted, inputs, plan, size, limit)
        if size > sizes[0] and refused is not None and drawing.elements() > _MOST_ELEMENTS:
            continue
        rounds = [drawing.round(batch) for batch in batches]
        try:
            results = [converted.call(calls) for calls in rounds]
        except LitefuseError as error:
            refused = refused or error
            continue
        drawing.settle()
        more, given = drawing.more(rounds, results, batches[-1])
        if more:
            rounds.append(more)
            results.append(given)
        coverage, beyond = drawing.coverage(), tuple(drawing.beyond(batches[-1]))
        if plan.kinds:
            if plan.kinds.keeps_state:
                rounds.append([])
                results.append([])
            for call, outputs in drawing.kinds(plan.kinds):  # a round of their own would load the original once more
                rounds[-1].append(call)
                results[-1].append(outputs)
        return DrawnRounds(rounds, results, limit, coverage, beyond)
    assert refused is not None
    raise refused


class _Drawing:
    """Draws inputs with one size and one limit."""

    def __init__(
        self, converted: ConvertedModel, inputs: ModelInputs, plan: Plan, size: int, limit: int | None
    ) -> None:
        self._converted = converted
        self._inputs = inputs
        self._plan = plan
        self._size = size
        self._limit = limit
        self._branches: Sequence[Coverage] = ()
        random = Random(plan.seed)
        self._drawers: dict[str, Drawer] = {key: inputs.drawer(key, random) for key in converted.specs}

    def elements(self) -> int:
        """Returns how many elements the inputs of one call of each signature have."""
        given = [self._inputs.shapes(key, batch=1, size=self._size, given=self._plan.shapes) for key in self._drawers]
        return sum(math.prod(shape) for shapes in given for shape in shapes.values())

    def _call(self, key: str, batch: int, manner: Manner, size: int | None = None) -> Call:
        shapes = self._inputs.shapes(key, batch=batch, size=size or self._size, given=self._plan.shapes)
        return Call(key, self._converted.real(key, self._drawers[key].draw(shapes, manner)))

    def round(self, batch: int, manner: Manner | None = None) -> list[Call]:
        """Returns calls of all signatures in turn, several times, with other inputs each time."""
        manner = manner or Manner(limit=self._limit)
        return [self._call(key, batch, manner) for _ in range(self._plan.times) for key in self._drawers]

    def settle(self) -> None:
        """Counts the dealt rows as picked: the model has taken them."""
        for drawer in self._drawers.values():
            drawer.settle(ran=True)

    def coverage(self) -> tuple[Coverage, ...]:
        rows = [
            Coverage(key, deck.name, deck.dealt, deck.size, sampled=deck.sampled)
            for key, drawer in self._drawers.items()
            for deck in drawer.decks
        ]
        return (*rows, *self._branches)

    def beyond(self, batch: int) -> Iterator[tuple[Call, str]]:
        """Yields calls that pick rows that only the original has: the first of them, and the last."""
        for key in self._drawers:
            for name, box, rows, count in self._inputs.beyond(key, self._plan.tables):
                call = self._call(key, batch, Manner(limit=self._limit))
                value = np.array(call.inputs[name])
                cuts = {axis: slice(start, stop) for axis, start, stop in box}
                part = value[(*(cuts.get(axis, slice(None)) for axis in range(value.ndim)), ...)]
                if rows.count and part.size:
                    part[...] = rows.first + rows.count
                    part[(-1,) * part.ndim] = rows.first + count - 1
                    table = rows.table or name
                    yield (
                        call._replace(inputs={**call.inputs, name: value}),
                        f"it refuses rows that the original takes: {table} has {rows.count:,} of {count:,}",
                    )

    def more(
        self, rounds: Sequence[Sequence[Call]], found: Sequence[Sequence[Arrays]], batch: int
    ) -> tuple[list[Call], list[Arrays]]:
        """Returns one more round, where outputs did not move or rows were not reached; it may be empty."""
        calls = [call for of_round in rounds for call in of_round]
        given = [outputs for of_round in found for outputs in of_round]
        first = len(calls)

        def add(made: Iterable[tuple[Call, Arrays]]) -> None:
            for call, outputs in made:
                calls.append(call)
                given.append(outputs)

        run = self._converted.new_round()
        for manner in _OTHERS:
            if not unmoved(movements(calls, given, self._plan.tolerance), self._inputs.moving):
                break
            add(self._others(manner, run, batch))
        with make_temporary_folder() as folder, suppress(LitefuseError, ValueError):  # what cannot be watched is not
            branches = Branches(self._converted, Path(folder))
            add(self._branching(branches, [*rounds, calls[first:]], run, batch))
        add(self._covering(calls[:first], given[:first], run, batch))
        return calls[first:], given[first:]

    def _others(self, manner: Manner, run: Callable[[Call], Arrays], batch: int) -> Iterator[tuple[Call, Arrays]]:
        """Makes two more calls of each signature; yields those that the model takes."""
        for key in self._drawers:
            for _ in range(2 if self._inputs.signatures[key] else 1):
                call = self._call(key, batch, manner._replace(limit=self._limit))
                try:
                    outputs = run(call)
                except LitefuseError:  # of such numbers
                    self._drawers[key].settle(ran=False)
                    continue
                self._drawers[key].settle(ran=True)
                yield call, outputs

    def kinds(self, plan: Kinds) -> Iterator[tuple[Call, Arrays]]:
        """Calls each signature with each kind of numbers; yields the calls that the model takes.

        All dynamic dimensions have the size of the kind, or the batch alone, where the model refuses that, or it would
        take too long.
        """
        run = self._converted.new_round()
        left = max(_KINDS_NUMBERS, 2 * len(self._drawers) * plan.numbers(_BATCHES[-1], self._size))
        called = set[tuple[str, int]]()
        for kind, key in product(plan.kinds, self._drawers):
            domains = self._inputs.signatures[key].values()
            for batch, size in ((kind.size, kind.size), (min(kind.size, _BATCHES[-1]), self._size)):
                numbers = plan.numbers(batch, size)
                if numbers > (left if size == self._size else min(left, _KINDS_NUMBERS // _SHARES)):
                    continue
                if (key, batch) in called and not any(domain.dtype.kind in "fcV" for domain in domains):
                    break  # integers are of one kind
                left -= numbers
                call = self._call(key, batch, kind.manner._replace(limit=self._limit), size)
                call = call._replace(thin=True, kind=kind._replace(size=batch))
                outputs = run(call)
                if outputs or not self._converted.outputs[key]:
                    called.add((key, batch))
                    yield call, outputs
                    break
                if plan.keeps_state:
                    return

    def _branching(
        self, branches: Branches, rounds: Sequence[Sequence[Call]], run: Callable[[Call], Arrays], batch: int
    ) -> Iterator[tuple[Call, Arrays]]:
        """Makes more calls while a branch was not taken."""
        if branches.complete:
            return  # there are none
        watch = branches.new_round()
        for number, calls in enumerate(rounds):
            watch = branches.new_round() if number else watch
            for call in calls:
                watch(call)
        for manner in _OTHERS * _TURNS:
            if branches.complete:
                break
            for call, outputs in self._others(manner, run, batch):
                watch(call)
                yield call, outputs
        self._branches = branches.coverage

    def _covering(
        self, calls: Sequence[Call], given: Sequence[Arrays], run: Callable[[Call], Arrays], batch: int
    ) -> Iterator[tuple[Call, Arrays]]:
        """Makes calls until each row and word was picked, or time or memory runs out."""
        end = time.monotonic() + self._plan.seconds
        size = 0
        for key, drawer in self._drawers.items():
            most = self._most(key, calls, given) if batch > 1 else 1
            while left := drawer.left:
                if time.monotonic() >= end or size > _ALL_BYTES:
                    return
                call = self._call(key, most, Manner(covering=True))._replace(thin=True)
                try:
                    outputs = run(call)
                except LitefuseError:
                    drawer.settle(ran=False)
                    if most <= batch:
                        break
                    most = batch
                    continue
                drawer.settle(ran=True)
                if left == drawer.left:
                    break  # no input has a place for what is left
                size += sum(value.nbytes for value in outputs.values())
                yield call, outputs

    def _most(self, key: str, calls: Sequence[Call], given: Sequence[Arrays]) -> int:
        """Returns the batch size of such calls, from the sizes of inputs and outputs of one call with batch size 1."""
        pairs = zip(calls, given, strict=True)
        call, outputs = next((call, outputs) for call, outputs in pairs if call.signature == key)
        values = max((value.size for value in call.inputs.values()), default=1)
        size = max((value.nbytes for value in outputs.values()), default=1)
        return max(1, min(_ELEMENTS // max(values, 1), _BYTES // max(size, 1)))
