"""Deals values like cards: each of them once, in a random order, before any is repeated."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.litert.inputs.numbers import whole

__all__ = ["MOST_CARDS", "Deck", "shuffled"]

MOST_CARDS = 50_000
"""With more values than this, only the ends and a sample are dealt."""


class Deck:
    """Values to deal.

    Attributes:
        name: What the values belong to, such as a table.
        size: How many there are.
        dealt: How many of them have been dealt, or picked if only a sample is, in settled calls.
        sampled: Whether there are so many that only a sample is dealt.
    """

    def __init__(self, values: range | Sequence[Any], random: Random, name: str = "") -> None:
        self.name = name
        self.size = len(values)
        self.sampled = self.size > MOST_CARDS
        self.dealt = 0
        self._values = values
        self._random = random
        self._order = np.empty(0, np.int64)
        self._seen = np.zeros(0 if self.sampled else self.size, np.bool_)
        self._open: list[npt.NDArray[np.int64]] = []

    @property
    def left(self) -> int:
        """How many have not been dealt; 0 if only a sample is dealt."""
        return 0 if self.sampled else self.size - self.dealt

    def settle(self, *, ran: bool) -> None:
        """Counts the values dealt since the last call of this, if the model took them."""
        places, self._open = self._open, []
        if not ran or not places:
            return
        if self.sampled:
            self.dealt = min(self.dealt + sum(map(len, places)), self.size)
        else:
            self._seen[np.concatenate(places)] = True
            self.dealt = int(np.count_nonzero(self._seen))

    def deal(self, count: int) -> npt.NDArray[Any]:
        """Returns the next values."""
        if self.sampled:
            return self.pick(count)
        while len(self._order) < count:
            self._order = np.concatenate([self._order, shuffled(self.size, self._random)])
        places, self._order = self._order[:count], self._order[count:]
        self._open.append(places)
        return self._at(places)

    def pick(self, count: int) -> npt.NDArray[Any]:
        """Returns any of the values, which may repeat.

        They are not counted: with several in a call, two wrong ones may cancel out, as in a sum.
        """
        places = whole(0, self.size - 1, (count,), self._random)
        if self.sampled:
            self._open.append(places)
        return self._at(places)

    def _at(self, places: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        if isinstance(self._values, range):
            return places * self._values.step + self._values.start
        found = np.empty(len(places), object)
        found[:] = [self._values[place] for place in places.tolist()]
        return found


def shuffled(count: int, random: Random) -> npt.NDArray[np.int64]:
    """Returns the numbers below ``count`` in a random order. Python's own generator: numpy's takes 7 MB."""
    return np.argsort(np.frombuffer(random.randbytes(8 * count), np.uint64), kind="stable")
