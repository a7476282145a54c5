"""Ranges other than those that calibration observes, as LiteRT's kernels want them."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import inf
from types import MappingProxyType
from typing import Any

import numpy as np

from litefuse.conversion.quantization.calibration import Ranges
from litefuse.conversion.quantization.integer_rules import MOVING
from litefuse.litert.runtime.schema_objects import op_names, tensor_name

_SELECTION = "SELECT_V2"
_CONCATENATION = "CONCATENATION"
_JOINING = frozenset({_CONCATENATION, "SELECT", _SELECTION})
# The operand and the result of these have one scale, which litert-quantizer takes from the operand.
_POOLS = frozenset({"AVERAGE_POOL_2D", "MAX_POOL_2D"})
# The result of these has the scale of the operand, as well.
_WHOLE = {kind for kind, moving in MOVING.items() if moving.handed_on == "all"}
# Who reads nothing of an operand beyond the range of the result: limits, and what takes parts and moves them.
_WITHIN = {"RELU", "RELU6", "RELU_0_TO_1", "RELU_N1_TO_1"}.union(
    kind for kind, moving in MOVING.items() if moving.handed_on != "others"
)
# An operand that is much smaller than the result keeps its range: in steps of the result's, little would be left of it
# for its other readers. It loses two bits at most.
_TIMES = 4.0
# What ranges are widened by at most to have 0 in the middle: a third of a bit.
_CENTERED_TIMES = 1.25


def share_ranges(
    model: Any,
    ranges: Ranges,
    sources: Mapping[str, str] = MappingProxyType({}),
    constants: Collection[str] = (),
    *,
    limits: bool = True,
) -> Ranges:
    """Returns ranges in which the operands of a concatenation have that of its result, and pools before it likewise.

    So have custom ops that hand numbers on. They are converted to its scale anyway. An operand that others read too, as
    in dense blocks, would need an op of its own for that. TFLiteConverter does the same, however small an operand is.
    What is made of constants alone, such as a class token that is repeated by the batch, has no other readers.

    So have the states of masked layers in all steps, which selections hand on.

    Where all that read a tensor are limits, such as MINIMUM, or move parts of it, it has the range of their results:
    integers end there, as the results do. What a concatenation or selection alone reads ends where its result does.

    Args:
        model: The model, as the schema's objects.
        ranges: The ranges of its tensors.
        sources: The results of custom ops that have the scale of an operand, with that operand.
        constants: The tensors that depend on constants alone, and that one operand reads.
        limits: Whether ranges become smaller for limits; a step of int16 is small enough without.
    """
    shared = dict(ranges)
    kinds = op_names(model)
    for graph in model.subgraphs:
        tensors: list[Any] = graph.tensors
        names: dict[int, str] = dict(enumerate(tensor_name(tensor) for tensor in tensors))
        read: Iterator[Any] = (index for op in graph.operators for index in op.inputs)
        readers = Counter(map(int, itertools.chain(read, graph.outputs)))
        wanted: dict[int, list[Any]] = defaultdict(list)
        op: Any
        for op in reversed(graph.operators):  # the last one first: results are operands of later ones
            kind = kinds[int(op.opcodeIndex)]
            for index in map(int, op.outputs):
                _limit(shared, names[index], wanted[index], readers[index])
            results = [shared[names[index]] for index in op.outputs if names[index] in shared]
            for index in map(int, op.inputs if limits and results else ()):
                if kind in _WITHIN:
                    wanted[index] += [_union(results)]
                elif kind in _JOINING and readers[index] == 1 and (own := shared.get(names[index])) is not None:
                    shared[names[index]] = {end: np.clip(at, *_union(results).values()) for end, at in own.items()}
            passes = kind in _WHOLE and any(names[output] in constants for output in op.outputs)
            inputs: list[int] = list(op.inputs) if kind == _CONCATENATION or kind in _POOLS or passes else []
            computed = [names[index] for index in inputs if model.buffers[tensors[index].buffer].data is None]
            for result in [names[output] for output in op.outputs]:
                of_result = shared.get(result)
                operands = [sources[result]] if result in sources else computed
                if of_result is not None:
                    known = {name: inf if name in constants else _TIMES for name in operands if name in shared}
                    within = [name for name, times in known.items() if covers(of_result, shared[name], times)]
                    shared |= dict.fromkeys(within, of_result)
        for index in map(int, graph.inputs):
            _limit(shared, names[index], wanted[index], readers[index])
        for states in _selected_states(model, graph, kinds):
            of_states = [shared[names[state]] for state in states if names[state] in shared]
            if len(of_states) == len(states):
                whole = _union(of_states)
                shared |= {names[state]: whole for state in states if covers(whole, shared[names[state]])}
    return shared


def center_factors(model: Any, ranges: Ranges) -> Ranges:
    """Returns ranges in which second operands of BATCH_MATMUL have 0 in the middle, if that widens them little.

    Of int8, XNNPACK takes no others, and LiteRT's own kernel takes several times as long. What they are moved from has
    the same range.
    """
    centered = dict(ranges)
    kinds = op_names(model)
    for graph in model.subgraphs:
        makers = {int(op.outputs[0]): op for op in graph.operators if len(op.outputs)}
        for op in makers.values():
            if kinds[int(op.opcodeIndex)] != "BATCH_MATMUL":
                continue
            moved = [int(op.inputs[1])]
            while (maker := makers.get(moved[-1])) is not None and kinds[int(maker.opcodeIndex)] in _WHOLE:
                moved.append(int(maker.inputs[0]))
            names = [tensor_name(graph.tensors[index]) for index in moved]
            if (own := ranges.get(names[-1])) is not None:
                largest = np.maximum(np.abs(own["min"]), np.abs(own["max"]))
                if (2 * largest <= _CENTERED_TIMES * (own["max"] - own["min"])).all():
                    middle = {"min": -largest * np.float32(128 / 127), "max": largest}  # in as many steps as int8 has
                    centered.update((name, middle) for name in names)
    return centered


def _limit(ranges: Ranges, name: str, wanted: Sequence[Any], readers: int) -> None:
    """Gives a tensor the range that its readers want, if all of them want one."""
    whole = _union(wanted) if len(wanted) == readers > 0 and name in ranges else None
    if whole is not None and np.isfinite([*whole.values()]).all():
        ranges[name] = whole


def _union(ranges: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the range of several ranges."""
    least, largest = (np.array([range_[end] for range_ in ranges]) for end in ("min", "max"))
    return {"min": least.min(axis=0), "max": largest.max(axis=0)}


def _selected_states(model: Any, graph: Any, kinds: Sequence[str]) -> list[set[int]]:
    """Returns the tensors that selections take and give, where one takes what another one gave.

    Such are the states of a masked layer, whose steps are one after the other.
    """
    groups: list[set[int]] = []
    given: set[int] = set()
    handed_on: set[int] = set()
    op: Any
    for op in graph.operators:
        if kinds[int(op.opcodeIndex)] != _SELECTION:
            continue
        constants = {int(operand): model.buffers[graph.tensors[operand].buffer].data for operand in op.inputs[1:]}
        if any(data is not None and np.any(data) for data in constants.values()):
            continue  # the result has the range of the constant, too
        group = {int(op.outputs[0]), *(operand for operand, data in constants.items() if data is None)}
        handed_on |= group & given
        given.add(int(op.outputs[0]))
        for other in [known for known in groups if known & group]:
            groups.remove(other)
            group |= other
        groups.append(group)
    return [group for group in groups if group & handed_on]


def covers(one: Mapping[str, Any], other: Mapping[str, Any], times: float = _TIMES) -> bool:
    """Whether a range encloses another one, and is at most so many times as wide."""
    encloses = (one["min"] <= other["min"]).all() and (one["max"] >= other["max"]).all()
    return bool(encloses and (times == inf or (one["max"] - one["min"] <= times * (other["max"] - other["min"])).all()))


# How near the logarithm of a scale is to a whole number for LiteRT (tflite/kernels/kernel_util.cc, ``CheckedLog2``),
# and a little more.
_NEAR = 2e-3
_STEPS = 2**15 - 1
#: The largest number of int16 in the scale of the ops whose result has a fixed one.
LARGEST_INT16 = 1 - 2**-15
# What ranges are widened by, which costs a hundredth of a bit.
_WIDER = 1.01
#: What ranges of int16 are widened by: what is beyond them for other inputs costs more than the steps that this takes.
MARGIN_INT16 = 1.05


def avoid_powers_of_two(ranges: Ranges, margin: float = 1.0) -> Ranges:
    """Returns ranges that are wider by a margin, and a little more where the scale would be a power of two.

    LiteRT's kernels of ADD and SUB of int16 have a form of its own for scales that are powers of two, as of ranges that
    end at 1, or as good as that; they refuse most such sums, because an operand must then have the scale of the result.
    All tensors are widened, because the scale of a sum may be that of a later op, or of an earlier one. Only what has
    the fixed scale of an op's result, such as TANH, keeps it.
    """
    widened: Ranges = {}
    for name, range_ in ranges.items():
        largest = float(np.abs([*range_.values()]).max())
        times = margin * (_WIDER if _is_power(largest * margin) else 1.0) if largest != LARGEST_INT16 else 1.0
        widened[name] = {end: value * np.float32(times) for end, value in range_.items()}
    return widened


def _is_power(largest: float) -> bool:
    if not largest or not math.isfinite(largest):
        return False
    logarithm = math.log2(largest / _STEPS)
    return abs(logarithm - round(logarithm)) < _NEAR
