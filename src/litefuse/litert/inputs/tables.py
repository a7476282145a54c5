"""The contents of a model's tables, and its constants, for another model that is to compute the same."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Tables"]


class Tables(NamedTuple):
    """The tables of a model.

    Attributes:
        keys: The keys of each hash table.
        shapes: The shapes of constants and variables.
        numbers: The numbers among its constants that are not weights.
        asks_for_nan: Whether it tells NaN or infinities from numbers.
    """

    keys: tuple[tuple[bytes | int, ...], ...] = ()
    shapes: frozenset[tuple[int, ...]] = frozenset()
    numbers: tuple[float, ...] = ()
    asks_for_nan: bool = False

    def more_keys(self, known: tuple[bytes | int, ...]) -> tuple[bytes | int, ...]:
        """Returns further keys of the tables that have some of the known keys; of all tables where none has."""
        own = set(known)
        alike = [each for each in self.keys if not own.isdisjoint(each)] or self.keys
        return tuple(dict.fromkeys(key for each in alike for key in each if key not in own))

    def more_rows(self, count: int, row: tuple[int, ...]) -> int:
        """Returns the row count of a table with more than ``count`` such rows; 0 if none has, or one has as many."""
        if (count, *row) in self.shapes:
            return 0
        return max((shape[0] for shape in self.shapes if shape[1:] == row and shape[0] > count), default=0)
