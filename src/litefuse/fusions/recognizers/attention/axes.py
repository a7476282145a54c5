"""Axes of tensors, followed through reshapes and transpositions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from litefuse.ir.ops.dims import Shape

__all__ = ["Axes", "Word"]

Word: TypeAlias = tuple[int, ...]
"""One axis of a tensor: the atoms that are merged in it, the outermost first; none for an axis of size 1."""


@dataclass
class Axes:
    """The atoms of some tensors' axes: each axis is one or several of them, merged.

    An atom that a reshape splits is replaced by its parts wherever it occurs (``resolved``).

    Attributes:
        sizes: The size of each atom; None if it is dynamic.
        parts: The two parts of each atom that was split.
    """

    sizes: list[int | None] = field(default_factory=list[int | None])
    parts: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])

    def atom(self, size: int | None) -> int:
        """Returns a new atom."""
        self.sizes.append(size)
        return len(self.sizes) - 1

    def resolved(self, word: Word) -> Word:
        """Returns the atoms of an axis, with the parts of those that were split."""
        atoms: list[int] = []
        for atom in word:
            atoms += self.resolved(self.parts[atom]) if atom in self.parts else [atom]
        return tuple(atoms)

    def reshaped(self, words: Sequence[Word], shape: Shape) -> list[Word] | None:
        """Returns the axes after a reshape; None if they cannot be told.

        Several dynamic dimensions are taken to stay in order: the products before and behind hold them to their sizes.

        Args:
            words: The axes before.
            shape: The shape after, with None for dynamic dimensions.
        """
        atoms = [atom for word in words for atom in self.resolved(word)]
        after: list[Word] = [()] * len(shape)
        left, right = 0, len(shape) - 1
        while right >= left and self._takes_last(shape, left, right):
            taken = self._take(atoms, shape[right], last=True)
            if taken is None:
                return None
            after[right] = taken
            right -= 1
        while left < right:
            taken = self._take(atoms, shape[left], last=False)
            if taken is None:
                return None
            after[left] = taken
            left += 1
        if left == right:  # the only dynamic dimension that is left takes all the others
            after[left], atoms = tuple(atoms), []
        return None if any(self.sizes[atom] != 1 for atom in atoms) else after

    def _takes_last(self, shape: Shape, left: int, right: int) -> bool:
        return shape[right] is not None or None in shape[left:right]

    def _take(self, atoms: list[int], size: int | None, *, last: bool) -> Word | None:
        """Takes the atoms of one dimension from the end or the beginning of those that are left."""
        at = -1 if last else 0
        if size is None:
            return (atoms.pop(at),) if atoms and self.sizes[atoms[at]] is None else None
        taken: list[int] = []
        while size > 1:
            if not atoms:
                return None
            there = self.sizes[atoms[at]]
            if there is not None and there > 0 and size % there == 0:
                taken.append(atoms.pop(at))
                size //= there
                continue
            # What is left of a dynamic size is whole only if nothing else is left.
            if there % size if there is not None else len(atoms) > 1:
                return None
            rest = None if there is None else there // size
            parts = [self.atom(part) for part in ((rest, size) if last else (size, rest))]
            self.parts[atoms[at]] = parts[0], parts[1]
            atoms[at] = parts[0] if last else parts[1]
            taken.append(parts[1] if last else parts[0])
            size = 1
        return tuple(reversed(taken)) if last else tuple(taken)
