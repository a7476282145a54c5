"""Arguments on both sides of a step: where the result of a function jumps as its arguments move.

Such as at a threshold for scores or overlaps, wherever the numbers that are compared come from. The way from some
arguments to others is halved, towards the half in which the results differ more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from litefuse.litert.results.difference import movement
from litefuse.litert.runtime.model_reader import Model

__all__ = ["Arguments", "beside_a_step", "may_have_steps"]

Arguments: TypeAlias = dict[str, npt.NDArray[Any]]
"""The arguments of a function, or its results, by their names."""

_HALVINGS = 18
# Results that differ by less on the shortest way do not jump.
_JUMP = 1e-3
# How far from the step, as shares of the way.
_AWAY = (1e-4, 1e-3, 1e-2)
_WITH_STEPS = frozenset(
    {
        *("ARG_MAX", "ARG_MIN", "CAST", "CEIL", "EQUAL", "FLOOR", "FLOOR_DIV", "FLOOR_MOD", "GREATER", "GREATER_EQUAL"),
        *("LESS", "LESS_EQUAL", "NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5", "NOT_EQUAL", "ROUND", "SIGN"),
        *("TOPK_V2", "WHERE"),
    }
)


def may_have_steps(content: bytes) -> bool:
    """Whether a model has ops whose results jump."""
    return any(op.name in _WITH_STEPS for graph in Model(content).graphs for op in graph.ops)


def beside_a_step(run: Callable[[Arguments], Arguments], one: Arguments, other: Arguments) -> Iterator[Arguments]:
    """Yields arguments on both sides of a step on the way from some to others; none without a step.

    Args:
        run: The function.
        one: Its arguments at one end.
        other: Those at the other end, of the same shapes; only real numbers are moved.
    """

    def between(share: float) -> Arguments:
        return {
            name: (value + np.float32(share) * (other[name] - value)).astype(value.dtype)
            if value.dtype.kind == "f"
            else value
            for name, value in one.items()
        }

    low, high = 0.0, 1.0
    below, above = run(between(low)), run(between(high))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        here = run(between(middle))
        if _distance(below, here) > _distance(here, above):
            high, above = middle, here
        else:
            low, below = middle, here
    if _distance(below, above) > _JUMP:
        at = (low + high) / 2
        yield from (between(at + side * away) for away in _AWAY for side in (-1, 1))


def _distance(one: Arguments, other: Arguments) -> float:
    return max((movement(value, other[name]) for name, value in one.items()), default=0.0)
