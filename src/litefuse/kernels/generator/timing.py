"""Measures two ways to compute the same, in turn."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

__all__ = ["timed_in_turn"]

_ROUNDS = 9


def timed_in_turn(one: Callable[[], object], other: Callable[[], object], seconds: float) -> tuple[float, float]:
    """Calls both in turn, and returns how long a call of each takes: medians, which another process does not disturb.

    Args:
        one: The one, which has been called before.
        other: The other.
        seconds: How long each is called.

    Returns:
        The seconds of a call.
    """
    counts: list[int] = []
    for call in (one, other):
        started = time.perf_counter()
        call()
        counts.append(max(1, int(seconds / _ROUNDS / max(time.perf_counter() - started, 1e-6))))
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(_ROUNDS):
        for call, count, times in zip((one, other), counts, found, strict=True):
            started = time.perf_counter()
            for _ in range(count):
                call()
            times.append((time.perf_counter() - started) / count)
    return median(found[0]), median(found[1])
