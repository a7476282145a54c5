"""States that integers cannot hold: sums over all calls, in which the rounding of each call would stay."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from litefuse.conversion.quantization.integer_rules import MOVING
from litefuse.conversion.quantization.states.variables import Variable, variables_of
from litefuse.litert.export.editor import GraphEditor

# What is left of a state after a call: with more than this, the errors of some hundred calls add up in it.
_KEPT = 0.99
_REASON = "this state sums up what calls add to it, and so would int8 sum up its rounding"
_SUMS = frozenset({"ADD", "SUB"})
_TINY = np.finfo(np.float32).tiny


def summing_states(model: Any) -> dict[str, str]:
    """Returns why states and the ops that add to them stay in floating point, by the names of what these compute.

    Args:
        model: The model in floating point, as the schema's objects.
    """
    names: set[str] = set()
    for variable in variables_of(model):
        for write in variable.writes if not variable.reason else ():
            path = _summed(write.graph, variable, write.value)
            if path:
                names |= path | {access.name for access in variable.accesses}
    return dict.fromkeys(sorted(names), _REASON)


def _summed(graph: GraphEditor, variable: Variable, written: int) -> set[str]:
    """Returns what is computed on the way from a variable to a sum of that and other numbers; nothing if it is none."""
    gains = {access.value: 1.0 for access in variable.reads if access.graph.graph is graph.graph}
    makers: dict[int, Any] = {}
    is_rounded = False
    for op in graph.ops or ():
        operands = [index for index in _indices(op.inputs) if index in gains]
        if operands:
            makers |= dict.fromkeys(_indices(op.outputs), op)
            gains |= dict.fromkeys(_indices(op.outputs), _gain(graph, op, operands, gains))
    if not gains.get(written, 0.0) >= _KEPT:
        return set()
    path, pending = set[str](), [written]
    while pending:
        index = pending.pop()
        if (op := makers.get(index)) is not None and graph.name(index) not in path:
            is_rounded = is_rounded or graph.kind(op) not in MOVING
            path.add(graph.name(index))
            pending += [operand for operand in _indices(op.inputs) if operand in gains]
    return path if is_rounded else set()


def _gain(graph: GraphEditor, op: Any, operands: list[int], gains: dict[int, float]) -> float:
    """Returns by how much a change of a state changes the result of an op; NaN if that is not known."""
    kind, known = graph.kind(op), [gains[operand] for operand in operands]
    if kind in MOVING:
        return math.nan if any(map(math.isnan, known)) else max(known)
    if kind in _SUMS:
        return math.fsum(known)
    others = [index for index in _indices(op.inputs) if index not in gains]
    factor = graph.constant(others[0]) if kind in {"DIV", "MUL"} and len(others) == len(operands) == 1 else None
    if factor is None or (kind == "DIV" and int(op.inputs[0]) not in gains):
        return math.nan
    size = np.abs(factor)
    return known[0] * float(size.max(initial=0) if kind == "MUL" else 1 / max(size.min(initial=math.inf), _TINY))


def _indices(indices: Any) -> list[int]:
    return [int(index) for index in (() if indices is None else indices) if index >= 0]
