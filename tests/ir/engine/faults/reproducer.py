"""The reproducers by the ids of the faults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np


class Reproducer(NamedTuple):
    """Finds out whether a fault is still there.

    Attributes:
        run: Says so; or its process ends.
        alone: Whether it needs a process of its own: the fault may do harm to it.
        kills: Whether the fault ends the process.
    """

    run: Callable[[], object]
    alone: bool
    kills: bool


REPRODUCERS: dict[str, Reproducer] = {}

_Function = TypeVar("_Function", bound=Callable[[], object])


def reproducer(function: Callable[[], bool]) -> Callable[[], bool]:
    """Registers a function that says whether the fault is still there whose id is its name, with hyphens."""
    return _registered(function, Reproducer(function, alone=False, kills=False))


def alone(function: Callable[[], bool]) -> Callable[[], bool]:
    """As ``reproducer``, of a fault that reads or writes memory that is not its own."""
    return _registered(function, Reproducer(function, alone=True, kills=False))


def kills(function: Callable[[], None]) -> Callable[[], None]:
    """Registers a function whose process ends as long as the fault is there whose id is its name, with hyphens."""
    return _registered(function, Reproducer(function, alone=True, kills=True))


def _registered(function: _Function, registered: Reproducer) -> _Function:
    fault = function.__name__.replace("_", "-")
    assert fault not in REPRODUCERS, fault
    REPRODUCERS[fault] = registered
    return function


def differ(found: Sequence[Any], *expected: Any, tolerance: float = 1e-4) -> bool:
    """Whether a result is of another shape than expected, or further from it than the tolerance allows."""
    pairs = [(np.asarray(each), np.asarray(wanted)) for each, wanted in zip(found, expected, strict=True)]
    return any(
        each.shape != wanted.shape or not np.allclose(each, wanted, tolerance, tolerance, equal_nan=True)
        for each, wanted in pairs
    )


def is_refused(reason: str, function: Callable[..., object], *arguments: Any) -> bool:
    """Whether a call is refused for a reason that contains a text; any other error is raised."""
    try:
        function(*arguments)
    except (RuntimeError, ValueError) as error:
        if reason not in str(error):
            raise
        return True
    return False
