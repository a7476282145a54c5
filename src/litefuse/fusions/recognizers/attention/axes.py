"""Axes of tensors, followed through reshapes and transpositions, and products of two tensors, read as einsums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from litefuse.ir.attributes import attribute_value
from litefuse.ir.mlir import ir
from litefuse.ir.ops.dims import Shape
from litefuse.ir.types import tensor_type_of

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


@dataclass(frozen=True)
class Contraction:
    """A product of two tensors, summed over the axes that both have and the result has not; each axis has a label."""

    operands: tuple[ir.Value, ir.Value]
    axes: tuple[tuple[str, ...], tuple[str, ...]]
    result: tuple[str, ...]

    @property
    def summed(self) -> list[str]:
        """The labels that both operands have and the result has not."""
        return [label for label in self.axes[0] if label in self.axes[1] and label not in self.result]


def contraction(op: ir.OpView) -> Contraction | None:
    """Reads a product of two tensors; None if the op is none, or one of another kind."""
    if op.name == "tf.MatMul":
        turned = _flags(op, "transpose_a", "transpose_b")
    elif op.name in {"tf.BatchMatMul", "tf.BatchMatMulV2", "tf.BatchMatMulV3"}:
        turned = _flags(op, "adj_x", "adj_y")
    elif op.name == "tf.Einsum" and len(op.operands) == 2:
        return _einsum(op)
    else:
        return None
    return _product_of_matrices(op, turned)


def _flags(op: ir.OpView, *names: str) -> list[bool]:
    return [name in op.attributes and bool(attribute_value(op.attributes[name])) for name in names]


def _product_of_matrices(op: ir.OpView, turned: Sequence[bool]) -> Contraction | None:
    shapes = [tensor_type_of(value).shape for value in op.operands]
    first, second = shapes
    if first is None or second is None or min(len(first), len(second)) < 2:
        return None
    rank = max(len(first), len(second))
    result = [f"batch {axis}" for axis in range(rank - 2)]
    axes: list[tuple[str, ...]] = []
    for position, shape in enumerate((first, second)):
        own: list[str] = []
        other = (second, first)[position]
        for axis in range(-len(shape), -2):
            beside = other[axis] if -axis <= len(other) else None
            broadcast = shape[axis] == 1 and -axis <= len(other) and beside != 1
            own.append(f"broadcast {position} {axis}" if broadcast else result[axis + 2])
        last = ("row", "sum") if position == 0 else ("sum", "column")
        axes.append((*own, *(reversed(last) if turned[position] else last)))
    return Contraction((op.operands[0], op.operands[1]), (axes[0], axes[1]), (*result, "row", "column"))


def _einsum(op: ir.OpView) -> Contraction | None:
    equation = str(attribute_value(op.attributes["equation"])).replace(" ", "")
    inputs, arrow, result = equation.partition("->")
    shapes = [tensor_type_of(value).shape for value in op.operands]
    if not arrow or None in shapes:
        return None
    ranks = [len(shape or ()) for shape in shapes]
    terms = [*inputs.split(","), result]
    hidden = max(rank - len(term.replace("...", "")) for rank, term in zip(ranks, terms, strict=False))
    axes: list[tuple[str, ...]] = []
    for position, term in enumerate(terms):
        before, dots, after = term.partition("...")
        count = hidden if position == 2 else ranks[position] - len(before) - len(after)
        batch = [f"batch {axis}" for axis in range(hidden - count, hidden)] if dots else []
        axes.append((*before, *batch, *after))
        if len(set(axes[-1])) < len(axes[-1]) or (position < 2 and len(axes[-1]) != ranks[position]):
            return None
    one, other, left = axes
    alone = [label for label in (*one, *other) if label not in left and not (label in one and label in other)]
    if alone or any(label not in one and label not in other for label in left):
        return None
    if any(_differ(shapes[0], one, shapes[1], other, label) for label in one if label in other):
        return None
    return Contraction((op.operands[0], op.operands[1]), (one, other), left)


def _differ(
    first: Sequence[int | None] | None,
    one: Sequence[str],
    second: Sequence[int | None] | None,
    other: Sequence[str],
    label: str,
) -> bool:
    """Whether an axis is broadcast, which only an ellipsis allows."""
    assert first is not None
    assert second is not None
    sizes = {first[one.index(label)], second[other.index(label)]} - {None}
    return len(sizes) > 1
