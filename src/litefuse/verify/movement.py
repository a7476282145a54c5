"""Whether outputs move with the inputs: a comparison of what stands still says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from litefuse.inputs.movement import movement
from litefuse.verify.original import Arrays, Call

__all__ = ["Movement", "movements", "unmoved"]

_Output: TypeAlias = tuple[str, str]


class Movement(NamedTuple):
    """How an output moved from call to call.

    Attributes:
        moved: In how many calls it was another than in the call of the same shapes before.
        calls: How many calls had such a one before them, with other inputs.
    """

    moved: int
    calls: int


def movements(calls: Sequence[Call], outputs: Sequence[Arrays], tolerance: float) -> dict[_Output, Movement]:
    """How each output moved, by its signature and name.

    An output moved if its difference is greater than the error that is allowed: else one that never moves, whatever
    is wrong with it, would be right.

    Args:
        calls: The calls.
        outputs: What each of them gave.
        tolerance: The error that is allowed.
    """
    before: dict[object, tuple[Call, Arrays]] = {}
    found: dict[_Output, Movement] = {}
    for call, given in zip(calls, outputs, strict=True):
        shapes = call.signature, *((name, value.shape) for name, value in call.inputs.items())
        last = before.get(shapes)
        before[shapes] = call, given
        comparable = last is not None and (not call.inputs or _differ(last[0].inputs, call.inputs))
        for name, value in given.items():
            moved, count = found.get((call.signature, name), Movement(0, 0))
            if last is not None and comparable and name in last[1]:
                moves = not movement(value, last[1][name]) <= tolerance
                moved, count = moved + moves, count + 1
            found[call.signature, name] = Movement(moved, count)
    return found


def unmoved(found: dict[_Output, Movement], moving: dict[str, frozenset[str]]) -> list[_Output]:
    """The outputs that never moved, of those that follow from inputs."""
    return [
        (key, name) for (key, name), each in found.items() if not each.moved and name in moving.get(key, frozenset())
    ]


def _differ(one: Arrays, other: Arrays) -> bool:
    return any(not _equal(value, other[name]) for name, value in one.items())


def _equal(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    return one.shape == other.shape and np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
