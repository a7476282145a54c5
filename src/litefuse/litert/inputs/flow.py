"""Follows values from the inputs of a LiteRT model through its ops, to find what they mean there."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy.typing as npt

from litefuse.litert.inputs.uses import Box, Domain, Meaning, Use
from litefuse.litert.runtime.model_reader import Graph, Model, Op, Tensor

# More paths than this from an input to one tensor are not distinguished.
_MOST_TRACES = 64
_MOST_TURNS = 8


class Trace(NamedTuple):
    """A tensor holds values of an input, or an affine function of each: ``scale * value + offset``.

    Attributes:
        input: The input's name.
        scale: The factor of the value.
        offset: The number that is added then.
        box: The part of the input that it is.
        axes: For each axis of the tensor that of the input; None where there is none. None for all if they are unknown.
        limited: Whether an op limits the numbers, so that none is illegal.
        delimiter: The delimiter at which strings were split; None if they were not.
    """

    input: str
    scale: float = 1.0
    offset: float = 0.0
    box: Box = ()
    axes: tuple[int | None, ...] | None = None
    limited: bool = False
    delimiter: bytes | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the numbers are the values themselves."""
        return self.scale == 1 and not self.offset

    def axis(self, axis: int, rank: int) -> int | None:
        """Returns the input's axis that corresponds to an axis of the tensor; None if there is none."""
        if self.axes is None or len(self.axes) != rank or not -rank <= axis < rank:
            return None
        return self.axes[axis]

    def cut(self, axis: int | None, start: int, stop: int) -> Trace:
        """Returns the trace of a part along one of the input's axes."""
        if axis is None:
            return self
        base = next((cut[1] for cut in self.box if cut[0] == axis), 0)
        others = tuple(cut for cut in self.box if cut[0] != axis)
        return self._replace(box=tuple(sorted((*others, (axis, base + start, base + stop)))))

    def without(self, rank: int, gone: set[int]) -> tuple[int | None, ...] | None:
        """Returns the axes of a result of which some axes of the tensor are gone; None if they are unknown."""
        if self.axes is None or len(self.axes) != rank:
            return None
        return tuple(kept for axis, kept in enumerate(self.axes) if axis not in gone)


class Value(NamedTuple):
    """The facts known about a tensor.

    Attributes:
        traces: The inputs whose values it holds.
        roots: The inputs and variables that its values depend on.
        table: The number of the runtime's table that it is a handle of; None if it is not a table.
    """

    traces: tuple[Trace, ...] = ()
    roots: frozenset[str] = frozenset()
    table: int | None = None


_NOTHING = Value()

Results: TypeAlias = "Sequence[Trace] | Mapping[int, Sequence[Trace]]"
Rule: TypeAlias = "Callable[[Place], Results]"
"""Returns the traces of all results of an op, or of those with these indices."""


@dataclass
class Place:
    """An op and the values that flow into it, for a rule.

    Attributes:
        flow: Records the uses of inputs.
        graph: The op's subgraph.
        op: The op.
        values: What is known of its operands.
    """

    flow: Flow
    graph: Graph
    op: Op
    values: Sequence[Value]

    def traces(self, operand: int = 0) -> tuple[Trace, ...]:
        """Returns the traces of an operand; none if it is omitted."""
        return self.values[operand].traces if operand < len(self.values) else ()

    def traces_without_axes(self, operand: int = 0) -> list[Trace]:
        """Returns the traces of an operand whose axes are not those of a result."""
        return [trace._replace(axes=None) for trace in self.traces(operand)]

    def constant(self, operand: int) -> npt.NDArray[Any] | None:
        """Returns the value of a constant operand; None if it is not a constant."""
        return self.graph.constant(self.op.inputs[operand]) if operand < len(self.op.inputs) else None

    def kind(self, operand: int) -> Tensor:
        """Returns the type of an operand that is present."""
        return self.graph.tensor(self.op.inputs[operand])

    def result(self, index: int = 0) -> Tensor:
        return self.graph.tensor(self.op.outputs[index])

    def use(self, operand: int, use: Use) -> None:
        """Notes a use of the inputs whose values an operand holds."""
        for trace in self.traces(operand):
            self.flow.note(trace, use)

    def restrict(self, operand: int, use: Use) -> None:
        """Notes a use, which restricts the legal values, of the inputs that an operand holds or depends on."""
        self.use(operand, use)
        self.restrict_roots(operand)

    def restrict_roots(self, operand: int) -> None:
        """Restricts the inputs that an operand depends on, but whose values it does not hold."""
        traced = {trace.input for trace in self.traces(operand)}
        for name in self.values[operand].roots - traced if operand < len(self.values) else ():
            self.flow.note_root(name, Meaning.SMALL)


@dataclass
class Flow:
    """Follows the inputs of one signature.

    Attributes:
        model: The model.
        domains: What is found about each input, by the input's name among the roots.
        rule_of: Returns the rule of an op, if any, and whether the values of its results depend on its operands'.
        state: The roots of each variable's values, by name.
    """

    model: Model
    domains: Mapping[str, Domain]
    rule_of: Callable[[Op], tuple[Rule | None, bool]]
    state: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    @cached_property
    def keys(self) -> dict[int, tuple[bytes | int, ...]]:
        """The keys of each table of the runtime, by its number."""
        keys_of: dict[int, tuple[bytes | int, ...]] = {}
        for graph in self.model.graphs:
            tables: dict[int, int] = {}
            for op in graph.ops:
                if op.name == "HASHTABLE":
                    tables[op.outputs[0]] = op.option(0)
                elif op.name == "HASHTABLE_IMPORT" and op.inputs[0] in tables:
                    keys = graph.constant(op.inputs[1])
                    if keys is not None:
                        keys_of[tables[op.inputs[0]]] = tuple(keys.reshape(-1).tolist())
        return keys_of

    def note(self, trace: Trace, use: Use) -> None:
        if trace.input in self.domains:
            self.domains[trace.input].uses[trace.box, use] = None

    def note_root(self, name: str, use: Use) -> None:
        """Notes a use of an input on which something depends in an unknown way."""
        if name in self.domains:
            self.domains[name].uses[(), use] = None

    def run(self, graph: Graph, arguments: Sequence[Value]) -> list[Value]:
        """Returns what is known of a subgraph's results."""
        known = dict(zip(graph.inputs, arguments, strict=False))
        for op in graph.ops:
            values = [known.get(index, _NOTHING) for index in op.inputs]
            known.update(zip(op.outputs, self._op(graph, op, values), strict=False))
        return [known.get(index, _NOTHING) for index in graph.outputs]

    def _op(self, graph: Graph, op: Op, values: Sequence[Value]) -> Sequence[Value]:
        graphs = self.model.graphs
        place = Place(self, graph, op, values)
        roots = frozenset[str]().union(*(value.roots for value in values))
        if op.name == "WHILE":
            return self._loop(op, values)
        if op.name == "IF":
            branches = [self.run(graphs[callee], values[1:]) for callee in op.callees]
            return [
                Value(_merged(one.traces, other.traces), one.roots | other.roots | values[0].roots)
                for one, other in zip(*branches, strict=False)
            ]
        if op.callees and op.callees[0] < len(graphs):
            return self.run(graphs[op.callees[0]], values)
        if op.name == "VAR_HANDLE":
            return [Value(roots=frozenset({_variable(op)}))]
        if op.name == "HASHTABLE":
            return [Value(table=op.option(0))]
        if op.name == "ASSIGN_VARIABLE":
            for name in values[0].roots:
                self.state[name] = self.state.get(name, frozenset()) | values[1].roots
            return []
        if op.name == "READ_VARIABLE":
            return [Value(roots=roots.union(*(self.state.get(name, frozenset()) for name in roots)))]
        rule, follows = self.rule_of(op)
        traces = _followed(rule, place) if rule is not None and any(value.roots for value in values) else ()
        given = roots if follows else frozenset[str]()
        if isinstance(traces, Mapping):  # by the result
            return [Value(_limited(traces.get(index, ())), given) for index in range(len(op.outputs))]
        return [Value(_limited(traces), given) for _ in op.outputs]

    def _loop(self, op: Op, values: Sequence[Value]) -> list[Value]:
        condition, body = (self.model.graphs[callee] for callee in op.callees)
        carried = list(values)
        for _ in range(_MOST_TURNS):
            turns = self.run(condition, carried)
            self._note_turns(turns)
            after = self.run(body, carried)
            # Traces are those of the first iteration: the values have the same uses in later ones.
            grown = [
                Value(before.traces, before.roots | new.roots | turns[0].roots)
                for before, new in zip(carried, after, strict=False)
            ]
            if grown == carried:
                return [
                    Value(before.traces if new.traces == before.traces else (), before.roots)
                    for before, new in zip(carried, after, strict=False)
                ]
            carried = grown
        return [Value((), value.roots) for value in carried]

    def _note_turns(self, turns: Sequence[Value]) -> None:
        for value in turns:
            for name in value.roots:
                self.note_root(name, Meaning.SMALL)


def _followed(rule: Rule, place: Place) -> Results:
    """Applies a rule; returns nothing where the op is malformed, which the runtime will report."""
    try:
        return rule(place)
    except (ArithmeticError, LookupError, TypeError, ValueError, struct.error):
        return ()


def _variable(op: Op) -> str:
    """Returns the name of a variable among the roots: no input has such a name."""
    return f"\0{op.text_option(0)}/{op.text_option(1)}"


def _merged(one: tuple[Trace, ...], other: tuple[Trace, ...]) -> tuple[Trace, ...]:
    return tuple(dict.fromkeys([*one, *other]))


def _limited(traces: Sequence[Trace]) -> tuple[Trace, ...]:
    return tuple(dict.fromkeys(traces))[:_MOST_TRACES]
