"""Whether the samples suffice: the tensors whose ranges still grew at the last ones."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from litefuse.support.report.quantized import MovingRange

__all__ = ["RangeGrowth"]

# The part of the samples that counts as the last ones.
_LAST = 4
# The least growth that is told of: what is beyond a range is clipped to it.
_LEAST = 0.05


class RangeGrowth:
    """Compares the ranges of tensors after three quarters of a signature's samples with those after all of them."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[float, float]] = {}
        self._growth: dict[str, float] = {}

    def observe(self, ranges: Mapping[str, Mapping[str, Any]], number: int, count: int) -> None:
        """Takes notice of the ranges after a sample.

        Args:
            ranges: The ranges of all tensors until now; see ``calibration.Ranges``.
            number: The number of the sample among those of its signature, from 1.
            count: How many there are.
        """
        if number == count - max(1, count // _LAST):
            self._before = {name: _bounds(each) for name, each in ranges.items()}
        elif number == count > 1:
            for name, each in ranges.items():
                growth = _growth(self._before.get(name), _bounds(each))
                self._growth[name] = max(self._growth.get(name, 0.0), growth)

    def moving(self, apart: Collection[str] = ()) -> tuple[MovingRange, ...]:
        """Returns the tensors whose ranges grew, those that grew most first.

        Args:
            apart: The tensors that need no range.
        """
        found = [
            MovingRange(name, growth) for name, growth in self._growth.items() if growth >= _LEAST and name not in apart
        ]
        return tuple(sorted(found, key=lambda each: (-each.growth, each.tensor)))


def _bounds(found: Mapping[str, Any]) -> tuple[float, float]:
    """Returns the range as it is quantized: one with 0 in it."""
    return min(float(found["min"][0]), 0.0), max(float(found["max"][0]), 0.0)


def _growth(before: tuple[float, float] | None, after: tuple[float, float]) -> float:
    """Returns the part of a range that is new."""
    width = after[1] - after[0]
    if not math.isfinite(width) or width == 0:
        return 0.0
    return 1.0 if before is None else 1.0 - (before[1] - before[0]) / width
