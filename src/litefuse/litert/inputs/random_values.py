"""Random numbers, and values that are dealt like cards.

They are from Python's own generator: numpy's takes 7 MB and as long to load as the runtime.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

_CHUNK = 1 << 14
# More numbers than this repeat after it: a prime, so that no two rows of an array begin alike.
_DISTINCT = (1 << 18) - 5
MOST_CARDS = 50_000
"""With more values than this, only the ends and a sample are dealt."""


def distinct(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Returns the different numbers of an array, sorted."""
    # Without the counts, numpy would load its masked arrays, which takes as long as the rest of it.
    numbers, _ = np.unique(values.astype(np.float64), return_counts=True)
    return numbers


def normal(shape: Sequence[int], random: Random) -> npt.NDArray[np.float32]:
    """Draws numbers of the standard normal distribution.

    Source: Box and Muller, A Note on the Generation of Random Normal Deviates, 1958.
    """
    count = math.prod(shape)
    values = np.empty(min(count, _DISTINCT), np.float32)
    for start in range(0, values.size, _CHUNK):
        part = values[start : start + _CHUNK]
        pairs = (len(part) + 1) // 2
        words = np.frombuffer(random.randbytes(8 * pairs), np.uint32).reshape(2, pairs).astype(np.float32)
        first, second = (words + np.float32(0.5)) * np.float32(2**-32)
        radius, angle = np.sqrt(np.float32(-2) * np.log(first)), np.float32(2 * np.pi) * second
        part[:pairs] = radius * np.cos(angle)
        part[pairs:] = (radius * np.sin(angle))[: len(part) - pairs]
    return (values if count == values.size else np.resize(values, count)).reshape(shape)


def uniform(shape: Sequence[int], random: Random) -> npt.NDArray[np.float64]:
    """Draws numbers from 0 to less than 1."""
    words = np.frombuffer(random.randbytes(4 * math.prod(shape)), np.uint32)
    return (words.astype(np.float64) * 2.0**-32).reshape(shape)


def whole(low: int, high: int, shape: Sequence[int], random: Random) -> npt.NDArray[np.int64]:
    """Draws integers from ``low`` to ``high``, inclusive."""
    words: npt.NDArray[Any] = np.frombuffer(random.randbytes(8 * math.prod(shape)), np.uint64)
    return (words % np.uint64(high - low + 1)).astype(np.int64).reshape(shape) + low


class Deck:
    """Values to deal like cards: each of them once, in a random order, before any is repeated.

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
        """Counts the values dealt since the last call of this, if the model took them; else, they are dealt again."""
        places, self._open = self._open, []
        if not places:
            return
        if self.sampled:
            self.dealt = min(self.dealt + ran * sum(map(len, places)), self.size)
        elif not ran:
            self._order = np.concatenate([*places, self._order])
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
        dealt = np.empty(len(places), object)
        dealt[:] = [self._values[place] for place in places.tolist()]
        return dealt


def shuffled(count: int, random: Random) -> npt.NDArray[np.int64]:
    """Returns the numbers below ``count`` in a random order. Python's own generator: numpy's takes 7 MB."""
    return np.argsort(np.frombuffer(random.randbytes(8 * count), np.uint64), kind="stable")
