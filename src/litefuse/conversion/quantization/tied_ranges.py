"""Groups of tensors that have one range each, since integers of one scale pass from one to the other."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from litefuse.conversion.quantization.adjusted_ranges import LARGEST_INT16, covers
from litefuse.conversion.quantization.calibration import Ranges

# Of the ops whose result has a fixed scale, in steps of int8: the least and the largest, and how many are 1.
_FIXED = {"LOGISTIC": (0, 255, 256), "SOFTMAX": (0, 255, 256), "TANH": (-128, 127, 128)}


class TiedRanges:
    """Groups of tensors with one range.

    Args:
        ranges: The ranges of a model's tensors.
    """

    def __init__(self, ranges: Ranges) -> None:
        self._ranges = ranges
        self._groups: dict[str, set[str]] = {}
        self._fixed: dict[str, tuple[float, float, float]] = {}
        self._values: dict[str, list[float]] = {}

    def join(self, one: str, other: str) -> None:
        """Gives the groups of two tensors one range."""
        group = self._group(one) | self._group(other)
        self._groups.update(dict.fromkeys(group, group))

    def join_similar(self, one: str, other: str) -> bool:
        """Does so unless one of them would lose much; returns whether it did."""
        ends = [self._ends(self._group(name)) for name in (one, other)]
        both = _as_range(*self._ends(self._group(one) | self._group(other)))
        if not all(low <= high and covers(both, _as_range(low, high)) for low, high in ends):
            return False
        self.join(one, other)
        return True

    def encloses(self, one: str, other: str) -> bool:
        """Whether the range of the group of one tensor encloses that of another's."""
        (low, high), (least, most) = (self._ends(self._group(name)) for name in (one, other))
        return low <= least <= most <= high

    def widen(self, name: str, *values: Any) -> None:
        """Includes values in the range of a tensor."""
        self._group(name)
        self._values.setdefault(name, []).extend(
            float(end) for value in values if np.size(value) for end in (np.min(value), np.max(value))
        )

    def fix(self, name: str, kind: str, bits: int) -> None:
        """Notes that a tensor is the result of an op of this kind, which may have one scale only."""
        if kind in _FIXED:
            low, high, one = _FIXED[kind]
            self._fixed[name] = (
                (low / one, high / one, 1 / one) if bits == 8 else (-LARGEST_INT16, LARGEST_INT16, 2**-15)
            )

    def ranges(self) -> Ranges:
        """Returns the ranges of all tensors; where it holds the values of a group, a fixed one is taken."""
        made = dict(self._ranges)
        for name, group in self._groups.items():
            low, high = self._ends(group)
            for least, most, step in (self._fixed[member] for member in sorted(group) if member in self._fixed):
                if least <= low and high <= most + step:
                    low, high = least, most
            if low <= high:
                made[name] = _as_range(low, high)
        return made

    def _group(self, name: str) -> set[str]:
        return self._groups.setdefault(name, {name})

    def _ends(self, group: Iterable[str]) -> tuple[float, float]:
        values = [float(end[0]) for name in group for end in self._ranges.get(name, {}).values()]
        values += [value for name in group for value in self._values.get(name, ())]
        return min(values, default=math.inf), max(values, default=-math.inf)


def _as_range(low: float, high: float) -> dict[str, Any]:
    return {"min": np.full(1, low, np.float32), "max": np.full(1, high, np.float32)}
