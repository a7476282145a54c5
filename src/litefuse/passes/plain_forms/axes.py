"""Axes of tensors that can be treated as one."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence

__all__ = ["around", "headed", "merged", "runs"]


def runs(kinds: Sequence[Hashable | None]) -> list[list[int]]:
    """Returns the runs of axes of one kind, from the kind of each axis; those of the kind None join their neighbors."""
    found: list[list[int]] = []
    last: Hashable | None = None
    for axis, kind in enumerate(kinds):
        if found and (kind is None or last is None or kind == last):
            found[-1].append(axis)
        else:
            found.append([axis])
        last = last if kind is None else kind
    return found


def headed(heads: Sequence[bool]) -> list[list[int]]:
    """Returns groups of axes: one for the first axis and for each that is a head, with the others that follow it."""
    found: list[list[int]] = []
    for axis, head in enumerate(heads):
        if head or not found:
            found.append([axis])
        else:
            found[-1].append(axis)
    return found


def merged(shape: Sequence[int], groups: Iterable[Sequence[int]]) -> list[int]:
    """Returns the shape in which each group of axes is one."""
    return [math.prod(shape[axis] for axis in group) for group in groups]


def around(shape: Sequence[int], axis: int) -> tuple[int, int]:
    """Returns how many elements the axes before and behind an axis have."""
    return math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
