"""What the tables of a model hold, for another model that is to do the same."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Tables"]


class Tables(NamedTuple):
    """The tables of a model.

    Attributes:
        keys: What each hash table has.
        shapes: The shapes of constants and variables.
    """

    keys: tuple[tuple[bytes | int, ...], ...] = ()
    shapes: frozenset[tuple[int, ...]] = frozenset()

    def more_keys(self, known: tuple[bytes | int, ...]) -> tuple[bytes | int, ...]:
        """What the tables have that have some of the keys that are known; of all of them where none has."""
        own = set(known)
        alike = [each for each in self.keys if not own.isdisjoint(each)] or self.keys
        return tuple(dict.fromkeys(key for each in alike for key in each if key not in own))

    def more_rows(self, count: int, row: tuple[int, ...]) -> int:
        """How many rows a table has that has more than ``count`` of the same shape, if none has as many; else 0."""
        if (count, *row) in self.shapes:
            return 0
        return max((shape[0] for shape in self.shapes if shape[1:] == row and shape[0] > count), default=0)
