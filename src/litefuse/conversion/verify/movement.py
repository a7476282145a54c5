"""Whether outputs move with the inputs: a comparison of an output that does not move says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from litefuse.conversion.verify.original import Arrays, Call
from litefuse.litert.results.difference import elements, movement

__all__ = ["Movement", "movements", "unmoved"]

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

    Args:
        calls: The calls.
        outputs: The outputs of each call.
        tolerance: The allowed error.
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
                before_it = last[1][name]
                # Beside a large number, the others stand still but for each by itself.
                moves = not movement(value, before_it) <= tolerance or (
                    call.kind is not None and elements(before_it, value).error > tolerance
                )
                moved, count = moved + moves, count + 1
            found[call.signature, name] = Movement(moved, count)
    return found


def unmoved(found: dict[_Output, Movement], moving: dict[str, frozenset[str]]) -> list[_Output]:
    """Returns the outputs that depend on inputs but never moved."""
    return [
        (key, name) for (key, name), each in found.items() if not each.moved and name in moving.get(key, frozenset())
    ]


def _differ(one: Arrays, other: Arrays) -> bool:
    return any(not _equal(value, other[name]) for name, value in one.items())


def _equal(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    return one.shape == other.shape and np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")
