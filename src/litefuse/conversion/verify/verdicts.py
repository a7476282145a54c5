"""The verdict on each output: whether it differs from the original's, and whether it moves with the inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from litefuse.conversion.verify.original import Arrays, Call
from litefuse.conversion.verify.verification import MARGIN, Coverage, OutputVerdict
from litefuse.litert.results.difference import Difference, difference, difference_of_elements, elements, movement

# How many steps of integers two implementations of an op may be apart.
_MOST_STEPS = 2
# What clipping may move an output by, and from what on it is told.
_MOST_CLIPPED, _TOLD_CLIPPED = 0.1, 0.01
_CLIPPED = (
    "numbers beyond the ranges that the samples had are clipped, which moves it by {:.2g}; quantize with more samples, "
    "or verify with some of their kind (--samples)"
)

_Output: TypeAlias = tuple[str, str]


class Movement(NamedTuple):
    """How an output moved between calls.

    Attributes:
        moved: In how many calls it differed from the previous call with the same shapes.
        calls: How many calls had such a previous one, with other inputs.
    """

    moved: int
    calls: int


def movements(calls: Sequence[Call], outputs: Sequence[Arrays], tolerance: float) -> dict[_Output, Movement]:
    """Returns how each output moved, by its signature and name.

    An output moved if its difference is greater than the allowed error: otherwise an output that never moves would be
    right, whatever is wrong with it.
    """
    before: dict[object, tuple[Call, Arrays]] = {}
    by_output: dict[_Output, Movement] = {}
    for call, given in zip(calls, outputs, strict=True):
        shapes = call.signature, *((name, value.shape) for name, value in call.inputs.items())
        last = before.get(shapes)
        before[shapes] = call, given
        comparable = last is not None and (not call.inputs or _differ(last[0].inputs, call.inputs))
        for name, value in given.items():
            moved, count = by_output.get((call.signature, name), Movement(0, 0))
            if last is not None and comparable and name in last[1]:
                before_it = last[1][name]
                # Beside a large number, the others stand still but for each by itself.
                moves = not movement(value, before_it) <= tolerance or (
                    call.kind is not None and elements(before_it, value).error > tolerance
                )
                moved, count = moved + moves, count + 1
            by_output[call.signature, name] = Movement(moved, count)
    return by_output


def unmoved(found: dict[_Output, Movement], moving: dict[str, frozenset[str]]) -> list[_Output]:
    """Returns the outputs that depend on inputs but never moved."""
    return [
        (key, name) for (key, name), move in found.items() if not move.moved and name in moving.get(key, frozenset())
    ]


def _differ(one: Arrays, other: Arrays) -> bool:
    return any(not _equal(value, other[name]) for name, value in one.items())


def _equal(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    return one.shape == other.shape and np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")


class Evidence(NamedTuple):
    """The evidence that a comparison rests on.

    Attributes:
        tolerance: The allowed error.
        moving: The outputs of each signature that depend on inputs.
        coverage: How many rows and words drawn inputs reached.
        drawn: Whether the inputs were drawn.
        refused: What the model refuses although the original takes it, by signature.
        explained: The errors that quantization explains, by signature and output; None if it does not count.
        clipped: The part of these that clipping makes.
        faults: What is wrong inside with what outputs are computed from, by signature and output.
        dtypes: The dtypes of the file's outputs, by signature and output.
        spreads: How far rounding moves the elements of outputs with some kinds of numbers, by the number of the call.
        steps: The steps of integers that outputs are computed from, by signature and output: real numbers may be two of
            them apart, as each implementation of integer ops approximates activations in its own way.
    """

    tolerance: float
    moving: Mapping[str, frozenset[str]]
    coverage: Sequence[Coverage]
    drawn: bool
    refused: Mapping[str, str]
    explained: Mapping[tuple[str, str], float] | None = None
    clipped: Mapping[tuple[str, str], float] = MappingProxyType({})
    faults: Mapping[tuple[str, str], str] = MappingProxyType({})
    dtypes: Mapping[tuple[str, str], str] = MappingProxyType({})
    spreads: Mapping[int, Arrays] = MappingProxyType({})
    steps: Mapping[tuple[str, str], float] = MappingProxyType({})


def verdicts(
    calls: Sequence[Call], found: Sequence[Arrays], expected: Sequence[Arrays], evidence: Evidence
) -> Iterator[OutputVerdict]:
    """Yields the verdict on each output that the model or the original has, in the model's order."""
    moves = movements(calls, expected, evidence.tolerance)

    def compared(number: int, name: str) -> Difference:
        one, other, kind = found[number][name], expected[number][name], calls[number].kind
        if kind is None:
            return _difference(one, other, evidence.steps.get((calls[number].signature, name), 0.0))
        spread = evidence.spreads.get(number, {}).get(name, 0.0)
        return difference_of_elements(one, other, kind, evidence.tolerance, spread)

    for key in dict.fromkeys(call.signature for call in calls):
        of_signature = [number for number, call in enumerate(calls) if call.signature == key]
        first = of_signature[0]
        for name in dict.fromkeys([*found[first], *expected[first]]):
            if name not in expected[first] or name not in found[first]:
                owner, lacking = ("model", "original") if name in found[first] else ("original", "model")
                array: npt.NDArray[Any] = (found if name in found[first] else expected)[first][name]
                problem = f"only the {owner} has it, not the {lacking}"
                yield OutputVerdict(key, name, _dtype(array), array.shape, float("inf"), 0, problem, "differs")
                continue
            differences = {number: compared(number, name) for number in of_signature}
            movement = moves[key, name]
            explained = None if evidence.explained is None else evidence.explained.get((key, name))
            allowed = max(evidence.tolerance, MARGIN * (explained or 0.0))
            worst = max(differences, key=lambda number: _rank(calls[number], differences[number], allowed))
            shown = next(number for number in (worst, *of_signature) if not calls[number].thin)
            if key in evidence.refused:
                verdict, problem = "differs", evidence.refused[key]
            elif (key, name) in evidence.faults:
                verdict, problem = "differs", evidence.faults[key, name]
            elif evidence.explained is not None and explained is None and not differences[worst].error <= allowed:
                verdict, problem = "inconclusive", "it is not known what quantization explains"
            elif not differences[worst].error <= allowed:
                verdict, problem = "differs", differences[worst].problem
            else:
                problem, verdict = _doubt(key, name, movement, evidence), "inconclusive"
                if not problem:
                    clipped, error = evidence.clipped.get((key, name), 0.0), differences[worst].error
                    beyond = 0.0 if error <= MARGIN * ((explained or 0.0) - clipped) else min(clipped, error)
                    verdict = "equal" if beyond <= _MOST_CLIPPED else "inconclusive" if evidence.drawn else "differs"
                    problem = _CLIPPED.format(beyond) if beyond > _TOLD_CLIPPED else differences[worst].problem
            yield OutputVerdict(
                key,
                name,
                evidence.dtypes.get((key, name)) or _dtype(found[shown][name]),
                found[shown][name].shape,
                differences[worst].error,
                worst + 1,
                problem,
                verdict,
                *movement,
                explained,
            )


def _difference(found: npt.NDArray[Any], expected: npt.NDArray[Any], step: float) -> Difference:
    """Returns the difference; what is within some steps of integers is none."""
    told = difference(found, expected)
    if step and told.error and found.shape == expected.shape:
        steps = float(np.abs(found.astype(np.float64) - expected.astype(np.float64)).max(initial=0.0)) / step
        if steps <= _MOST_STEPS + 0.01:
            return Difference(
                0.0, f"{round(steps)} steps of its integers apart" if round(steps) != 1 else "a step apart"
            )
    return told


def _rank(call: Call, found: Difference, allowed: float) -> tuple[bool, float]:
    """Ranks a call by its difference: other kinds of numbers count where usual ones do not differ."""
    return call.kind is None and not found.error <= allowed, found.error


def _doubt(key: str, name: str, movement: Movement, evidence: Evidence) -> str:
    """Returns why an output that does not differ may be wrong all the same; empty without a reason to think so."""
    if name not in evidence.moving.get(key, frozenset()):
        return ""  # a constant
    if not movement.moved and (movement.calls or evidence.drawn):
        return "it did not move with the inputs"
    short = [count for count in evidence.coverage if count.signature == key and not count.complete]
    return f"{short[0].name}: {short[0].kind} covered {short[0]}" if short else ""


def _dtype(array: npt.NDArray[Any]) -> str:
    return "string" if array.dtype.kind in "OSU" else str(array.dtype)
