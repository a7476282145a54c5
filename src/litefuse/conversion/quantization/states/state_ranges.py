"""One range for each state, and for all that hands its numbers on, so that no call rounds them again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from litefuse.conversion.quantization.calibration import Ranges
from litefuse.conversion.quantization.integer_rules import MOVING
from litefuse.conversion.quantization.states.variables import Variable, variables_of
from litefuse.conversion.quantization.tied_ranges import TiedRanges
from litefuse.litert.export.editor import GraphEditor

# From this size on, an initial value stands for infinity.
_MASK = 1e30


class _Move(NamedTuple):
    """An op that hands numbers on."""

    operands: Sequence[str]
    results: Sequence[str]


def tie_states(
    model: Any,
    ranges: Ranges,
    sources: Mapping[str, str],
    bits: int,
    real: Collection[str] = (),
    apart: Collection[str] = (),
) -> Ranges:
    """Returns ranges in which what reads and writes a variable has one range, which includes the initial value.

    So have all tensors on the way from a read to a write, if ops between only move numbers, such as the frames of a
    ring buffer: a state in another scale would be rounded in each call. So have the other operands of these ops, and
    what is made of the state likewise, unless they would lose much.

    Args:
        model: The model in floating point, as the schema's objects.
        ranges: The ranges of its tensors.
        sources: The results of custom ops that have the scale of an operand, with that operand.
        bits: The bits of activations.
        real: The names of tensors whose ops stay in floating point.
        apart: The names of tensors whose variables stay so, too.
    """
    variables = [
        variable
        for variable in variables_of(model)
        if not variable.reason and not any(access.name in apart for access in variable.accesses)
    ]
    if not variables:
        return ranges
    ties = TiedRanges(ranges)
    for variable in variables:
        _tie(ties, variable)
    for number in sorted({int(signature.subgraphIndex) for signature in model.signatureDefs or ()}):
        graph = GraphEditor(model, number)
        _tie_moved(ties, graph, variables, _moves(graph, sources, real))
        for op in graph.ops or ():
            for result in _real(graph, op.outputs):
                ties.fix(result, graph.kind(op), bits)
    return ties.ranges()


def _tie(ties: TiedRanges, variable: Variable) -> None:
    """Gives all that reads and writes a variable one range."""
    constants = [access.graph.constant(access.value) for access in variable.accesses]
    names = [access.name for access, value in zip(variable.accesses, constants, strict=True) if value is None]
    for name in names:
        ties.join(names[0], name)
        ties.widen(name, *(value for value in constants if value is not None and np.all(np.abs(value) < _MASK)))


def _moves(graph: GraphEditor, sources: Mapping[str, str], real: Collection[str]) -> list[_Move]:
    """Returns the ops of a subgraph that hand real numbers on, in their order."""
    moves: list[_Move] = []
    for op in graph.ops or ():
        results = _real(graph, op.outputs)
        if any(result in real for result in results):
            continue
        moves += [_Move([sources[result]], [result]) for result in results if result in sources]
        if (moving := MOVING.get(graph.kind(op))) is not None:
            moves.append(_Move(_real(graph, op.inputs[moving.operands]), results))
    return moves


def _real(graph: GraphEditor, indices: Any) -> list[str]:
    """Returns the names of the tensors that are float32 and no constants."""
    known = [int(index) for index in (() if indices is None else indices) if index >= 0]
    return [graph.name(index) for index in known if graph.is_type(index, "float32") and graph.constant(index) is None]


def _tie_moved(ties: TiedRanges, graph: GraphEditor, variables: Sequence[Variable], moves: Sequence[_Move]) -> None:
    """Gives what is moved from or to a variable in a subgraph its range."""
    accesses = [access for variable in variables for access in variable.accesses if access.graph.graph is graph.graph]
    reached, needed = ({access.name for access in accesses if access.reads is reads} for reads in (True, False))
    tied = reached | needed
    for operands, results in moves:
        if reached.intersection(operands):
            reached.update(results)
    for operands, results in reversed(moves):
        if needed.intersection(results):
            needed.update(operands)
    on_the_way = reached & needed
    for operand, result in _pairs(moves):
        if {operand, result} <= on_the_way:
            ties.join(operand, result)
    tied |= on_the_way
    for operand, result in _pairs(moves):
        if operand in tied and ties.join_similar(operand, result):
            tied.add(result)
    readers = Counter(name for op in graph.ops or () for name in _real(graph, op.inputs))
    for operand, result in reversed(_pairs(moves)):
        if result not in tied:
            continue
        if readers[operand] == 1 and ties.encloses(result, operand):
            ties.join(operand, result)
            tied.add(operand)
        elif ties.join_similar(operand, result):
            tied.add(operand)


def _pairs(moves: Sequence[_Move]) -> list[tuple[str, str]]:
    return [(operand, result) for operands, results in moves for operand in operands for result in results]
