"""Arguments on both sides of a step: where the result of a function jumps as its arguments move.

Such as at a threshold for scores or overlaps, wherever the numbers that are compared come from. The way from some
arguments to others is halved, towards the half in which the results differ more. Where a part of the arguments moves
alone, other steps show: that of overlaps where boxes move and scores stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from litefuse.litert.results.difference import movement
from litefuse.litert.runtime.model_reader import Model

Arguments: TypeAlias = dict[str, npt.NDArray[Any]]
"""The arguments of a function, or its results, by their names."""

_HALVINGS = 14
# Results that differ by less on the shortest way do not jump.
_JUMP = 1e-3
# How far from what is left of the way, as shares of it.
_AWAY = (1e-3, 0.0)
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
        yield from (between(at) for away in _AWAY for at in (low - away, high + away))


def moved_in_part(one: Arguments, other: Arguments, number: int) -> Arguments:
    """Returns some arguments, of which a part is that of others.

    Args:
        one: The arguments.
        other: The others, of the same shapes.
        number: Which part: in turn, one of the arguments of real numbers, half of the columns of all of them, and all.
    """
    if number % 3 == 2:
        return other
    real = [name for name, value in one.items() if value.dtype.kind == "f" and value.shape]
    if number % 3 == 0:
        return {**one, **{name: other[name] for name in real[number // 3 % max(len(real), 1) :][:1]}}
    random = Random(number)
    columns = {name: [random.random() < 1 / 2 for _ in range(one[name].shape[-1])] for name in real}
    return {**one, **{name: np.where(chosen, other[name], one[name]) for name, chosen in columns.items()}}


def _distance(one: Arguments, other: Arguments) -> float:
    return max((movement(value, other[name]) for name, value in one.items()), default=0.0)
