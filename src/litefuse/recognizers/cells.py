"""Recurrent cells: what one step of a recurrent layer computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from litefuse.engine.mlir import ir
from litefuse.recognizers.matching import Match
from litefuse.recognizers.pattern import Function, Pattern, Variable
from litefuse.recognizers.sources import constant_number, same

__all__ = ["Activations", "Cell", "Step", "matrix", "number", "read_step", "vector"]


@dataclass(frozen=True, eq=False)
class Activations:
    """A function in a cell that may be any.

    Attributes:
        function: Its place in the formula.
        names: The functions that LiteRT's op has: by the name in TensorFlow, the value of the composite's attribute.
            The first one is the default, for which there is no attribute.
    """

    function: Function
    names: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Cell:
    """One way in which a step of a recurrent layer is written.

    Attributes:
        kind: What it is, in a word: ``LSTM``.
        composite: The name of the composite that a layer of it becomes.
        op: LiteRT's op of it; None if there is none.
        x: The step's input.
        states: The states before the step; the first is the output of the step before.
        weights: What is the same in every step, in the order of the composite's arguments.
        results: The states after the step; the first is the step's output.
        attributes: The composite's attributes.
        numbers: Those attributes that are constants of the graph.
        activations: Those that are functions.
    """

    kind: str
    composite: str
    op: str | None
    x: Variable
    states: tuple[Variable, ...]
    weights: tuple[Variable, ...]
    results: tuple[Pattern, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    numbers: Mapping[str, Variable] = field(default_factory=dict[str, Variable])
    activations: Mapping[str, Activations] = field(default_factory=dict[str, Activations])

    def is_constant(self, variable: Variable) -> bool:
        """Whether a variable is the same in every step."""
        return variable in self.weights or variable in self.numbers.values()


class Step(NamedTuple):
    """One step of a layer in a model.

    Attributes:
        cell: The way in which it is written.
        x: The step's input.
        states: The states before the step.
        results: The states after it.
        weights: The weights.
        attributes: The composite's attributes.
        lacking: The activations that LiteRT's op does not have.
    """

    cell: Cell
    x: ir.Value
    states: tuple[ir.Value, ...]
    results: tuple[ir.Value, ...]
    weights: tuple[ir.Value, ...]
    attributes: Mapping[str, Any]
    lacking: tuple[str, ...]

    def is_like(self, other: Step) -> bool:
        """Whether another step has the same formula and the same weights."""
        return (
            self.cell is other.cell
            and self.attributes == other.attributes
            and all(same(mine, its) for mine, its in zip(self.weights, other.weights, strict=True))
        )


def matrix(name: str) -> Variable:
    """A weight that is a matrix."""
    return Variable(name, lambda value: _is_float32(value, 2))


def vector(name: str) -> Variable:
    """A weight that is a vector."""
    return Variable(name, lambda value: _is_float32(value, 1))


def number(name: str) -> Variable:
    """A constant number."""
    return Variable(name, lambda value: constant_number(value) is not None)


def _is_float32(value: ir.Value, rank: int) -> bool:
    kind = ir.ShapedType(value.type)
    return kind.has_rank and kind.rank == rank and kind.has_static_shape and str(kind.element_type) == "f32"


def read_step(cell: Cell, found: Match) -> Step:
    """The parts of a step where it was found."""
    attributes = dict(cell.attributes)
    for name, variable in cell.numbers.items():
        value = constant_number(found[variable])
        assert value is not None
        attributes[name] = value
    lacking: list[str] = []
    for name, activations in cell.activations.items():
        function = found.functions[activations.function]
        default = next(iter(activations.names))
        if function not in activations.names:
            lacking.append(function or "none")
        if function != default:
            attributes[name] = activations.names.get(function, function.lower() or "linear")
    return Step(
        cell,
        found[cell.x],
        tuple(found[state] for state in cell.states),
        tuple(found[result] for result in cell.results),
        tuple(found[weight] for weight in cell.weights),
        attributes,
        tuple(lacking),
    )
