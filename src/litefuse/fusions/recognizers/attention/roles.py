"""Roles of the axes of an attention, and its tensors before they were moved and scaled."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from litefuse.fusions.recognizers.attention.axes import Axes, Word
from litefuse.fusions.recognizers.attention.reading import Reading, Tensor
from litefuse.fusions.recognizers.attention.scores import moved, number
from litefuse.ir.constants import integer_constant
from litefuse.ir.defining_ops import source
from litefuse.ir.mlir import ir
from litefuse.ir.types import tensor_type_of

_MOVES = frozenset({"tf.ExpandDims", "tf.Reshape", "tf.Squeeze"})
_STEPS = 8


@dataclass(frozen=True)
class Roles:
    """The atoms of each axis of ``odml.scaled_dot_product_attention``; an axis without atoms has the size 1.

    Attributes:
        batch: The batch.
        heads: The heads of the keys and values.
        groups: The heads of the queries for each of these.
        query: The queries.
        key: The keys.
        head: What queries and keys are multiplied over.
        depth: What only the values have.
    """

    batch: Word
    heads: Word
    groups: Word
    query: Word
    key: Word
    head: Word
    depth: Word

    @property
    def all_heads(self) -> Word:
        return (*self.heads, *self.groups)


def roles_of(reading: Reading) -> Roles:
    """Returns what each axis is.

    Any axis that queries, keys and values have may be batch or heads, and any that only the queries have groups or
    queries: it is the last one before those of the keys that counts, in the order of the scores.
    """
    sizes = reading.scores.axes.sizes
    batch, heads = tuple(reading.shared[:-1]), tuple(reading.shared[-1:])
    if not batch and heads and sizes[heads[0]] is None:
        batch, heads = heads, ()  # one head
    return Roles(
        batch, heads, tuple(reading.own[:-1]), tuple(reading.own[-1:]), (reading.key,), reading.head, reading.depth
    )


def outermost(reading: Reading, roles: Roles, others: Collection[ir.Value] = ()) -> Reading:
    """Returns the attention with its tensors before they were moved and scaled, and its result behind such ops."""
    axes = reading.scores.axes
    whole = {roles.all_heads, roles.head, roles.batch}
    queries, factor = _before(axes, reading.queries, whole, others, scaled=True)
    keys, other = _before(axes, reading.keys, whole, others, scaled=True)
    values, _ = _before(axes, reading.values, whole, others, scaled=False)
    scores = replace(reading.scores, scale=reading.scores.scale * factor * other)
    result = _behind(axes, reading.result, whole)
    return replace(reading, scores=scores, queries=queries, keys=keys, values=values, result=result)


def _before(
    axes: Axes, tensor: Tensor, whole: set[Word], others: Collection[ir.Value], *, scaled: bool
) -> tuple[Tensor, float]:
    best, factor, best_factor = tensor, 1.0, 1.0
    words = list(tensor.words)
    value = tensor.value
    for _ in range(_STEPS):
        op = value.owner
        if isinstance(op, ir.Block) or value in others:
            break
        position = 0
        if op.name == "tf.Transpose":
            order = integer_constant(source(op.operands[1]))
            if not isinstance(order, list):
                break
            words = [words[order.index(axis)] for axis in range(len(order))]
        elif op.name in _MOVES:
            shape = tensor_type_of(op.operands[0]).shape
            merged = None if shape is None else _without_splits(axes, words, shape)
            if merged is None:
                break
            words = merged
        elif scaled and op.name in {"tf.Mul", "tf.RealDiv"}:
            position = 1 if op.name == "tf.Mul" and number(op.operands[0]) is not None else 0
            scale = number(op.operands[1 - position])
            if not scale or tensor_type_of(op.operands[position]).rank != len(words):
                break
            factor *= scale if op.name == "tf.Mul" else 1 / scale
        else:
            break
        value = source(op.operands[position])
        if _are_whole(words, whole):
            best, best_factor = Tensor(value, list(words)), factor
    return best, best_factor


def _behind(axes: Axes, tensor: Tensor, whole: set[Word]) -> Tensor:
    best, value, words = tensor, tensor.value, list(tensor.words)
    for _ in range(_STEPS):
        uses = list(value.uses)
        if len(uses) != 1 or uses[0].operand_number != 0:
            break
        op = uses[0].owner.opview if isinstance(uses[0].owner, ir.Operation) else uses[0].owner
        if op.name not in _MOVES | {"tf.Transpose"}:
            break
        count, parts = len(axes.sizes), dict(axes.parts)
        after = moved(axes, words, op)
        if after is None or len(axes.sizes) > count:
            _undo(axes, count, parts)
            break
        value, words = op.results[0], after
        if _are_whole(words, whole):
            best = Tensor(value, list(words))
    return best


def _without_splits(axes: Axes, words: Sequence[Word], shape: tuple[int | None, ...]) -> list[Word] | None:
    count, parts = len(axes.sizes), dict(axes.parts)
    splits = axes.reshaped(words, shape)
    if len(axes.sizes) > count:
        _undo(axes, count, parts)
        return None
    return splits


def _undo(axes: Axes, count: int, parts: dict[int, tuple[int, int]]) -> None:
    del axes.sizes[count:]
    axes.parts.clear()
    axes.parts.update(parts)


def _are_whole(words: Sequence[Word], whole: set[Word]) -> bool:
    """Whether no two kinds of axes are merged."""
    return all(len(word) <= 1 or word in whole for word in words)
