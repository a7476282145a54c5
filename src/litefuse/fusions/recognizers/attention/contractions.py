"""Products of two tensors, read as einsums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from litefuse.ir.attributes import attribute_value
from litefuse.ir.mlir import ir
from litefuse.ir.types import tensor_type_of

__all__ = ["Contraction", "contraction"]


@dataclass(frozen=True)
class Contraction:
    """A product of two tensors, summed over the axes that both have and the result has not.

    Attributes:
        operands: The tensors.
        axes: The label of each of their axes.
        result: The label of each axis of the result.
    """

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
