"""Reads attention around a softmax, in one op or spelled out, in terms of axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from litefuse.fusions.recognizers.attention.axes import Axes, Contraction, Word, contraction
from litefuse.fusions.recognizers.attention.scores import NotAttention, Scores, moved, scores_behind
from litefuse.ir.constants import integer_constant
from litefuse.ir.defining_ops import source
from litefuse.ir.mlir import ir, producer
from litefuse.ir.types import tensor_type_of

_DEPTH = 6
_SPREADING = frozenset({"tf.BroadcastTo", "tf.ExpandDims", "tf.Reshape"})


class Softmax(NamedTuple):
    """A softmax.

    Attributes:
        argument: What it is of.
        axis: The axis whose elements it makes 1 in sum, from 0.
    """

    argument: ir.Value
    axis: int


def softmax(op: ir.OpView) -> Softmax | None:
    """Reads a softmax that an op computes; None if it computes none."""
    if op.name == "tf.Softmax":
        rank = tensor_type_of(op.operands[0]).rank
        return Softmax(source(op.operands[0]), rank - 1) if rank else None
    if op.name != "tf.RealDiv":
        return None
    exponential = source(op.operands[0])
    total, computed = _reduced(op.operands[1], "tf.Sum"), producer(exponential, "tf.Exp")
    if total is None or computed is None or total[0] != exponential:
        return None
    argument = source(computed.operands[0])
    shifted = producer(argument, "tf.Sub")  # by the maximum, which changes nothing but the range of numbers
    if shifted is not None:
        largest = _reduced(shifted.operands[1], "tf.Max")
        if largest is not None and largest == (source(shifted.operands[0]), total[1]):
            argument = largest[0]
    return Softmax(argument, total[1])


def _reduced(value: ir.Value, name: str) -> tuple[ir.Value, int] | None:
    """Returns what is reduced along which one axis, behind ops that give the axis back."""
    value = source(value)
    while not isinstance(value.owner, ir.Block) and value.owner.name in _SPREADING:
        value = source(value.owner.operands[0])
    reduced = producer(value, name)
    if reduced is None:
        return None
    rank, axes = tensor_type_of(reduced.operands[0]).rank, integer_constant(source(reduced.operands[1]))
    axis = axes[0] if isinstance(axes, list) and len(axes) == 1 else axes
    return (source(reduced.operands[0]), axis % rank) if rank and isinstance(axis, int) else None


@dataclass
class Tensor:
    """A tensor, and what its axes are."""

    value: ir.Value
    words: list[Word]


@dataclass
class Reading:
    """Attention: ``softmax(scale * queries . keys + masks) . values``.

    Attributes:
        scores: The scores, as the softmax takes them.
        queries: The queries.
        keys: The keys.
        values: The values.
        result: The result.
        shared: The atoms of axes that queries, keys and values have: batches and heads, in the order of the scores.
        own: The atoms of axes that only the queries have, in the order of the scores.
        key: The atom of the axis of the keys that the softmax is over.
        head: The atoms that queries and keys are multiplied over.
        depth: The atoms that only the values have.
        zeroed: The place of the mask that makes weights zero after the softmax; None if none does.
    """

    scores: Scores
    queries: Tensor
    keys: Tensor
    values: Tensor
    result: Tensor
    shared: list[int]
    own: list[int]
    key: int
    head: Word
    depth: Word
    zeroed: int | None


@dataclass
class _Weights:
    """The weights of the values, at one point behind the softmax."""

    value: ir.Value
    words: list[Word]
    zeroed: int | None = None


def read_attention(found: Softmax, result: ir.Value) -> Reading:
    """Reads the attention whose softmax this is.

    Raises:
        NotAttention: It is not that of attention.
    """
    closest = NotAttention(1, "its operand is not a product of two tensors")
    if 0 in (tensor_type_of(result).shape or (0,)):
        raise NotAttention(1, "it is empty, or of unknown rank")
    for product, steps in scores_behind(found.argument):
        read = contraction(product)
        assert read is not None
        try:
            scores, operands = _products(read)
            for step in steps:
                scores.take(step)
            if scores.cap is not None:
                scores.scale *= scores.cap
            return _with_values(scores, operands, found.axis, result)
        except NotAttention as mismatch:
            closest = max(closest, mismatch, key=lambda reason: reason.matched)
    raise closest


def _products(read: Contraction) -> tuple[Scores, list[Tensor]]:
    axes = Axes()
    words = _words(axes, read, {})
    scores = Scores(axes, [words[label] for label in read.result])
    return scores, [
        Tensor(source(value), [words[label] for label in labels])
        for value, labels in zip(read.operands, read.axes, strict=True)
    ]


def _words(axes: Axes, read: Contraction, known: dict[str, Word]) -> dict[str, Word]:
    """Returns the axis of each label, with new atoms for those that are not known."""
    words = dict(known)
    for value, labels in zip(read.operands, read.axes, strict=True):
        shape = tensor_type_of(value).shape
        assert shape is not None
        for label, size in zip(labels, shape, strict=True):
            if label not in words and not (size == 1 and label not in read.summed):
                words[label] = (axes.atom(size),)
    return {label: words.get(label, ()) for labels in (*read.axes, read.result) for label in labels}


def _with_values(scores: Scores, operands: list[Tensor], axis: int, result: ir.Value) -> Reading:
    closest = NotAttention(3, "its result is not multiplied by values")
    for weights, product in _uses(scores, _Weights(result, list(scores.words)), _DEPTH):
        read = contraction(product)
        assert read is not None
        for position in (0, 1):
            if source(read.operands[position]) != weights.value:
                continue
            try:
                return _joined(scores, operands, axis, weights, read, position, product.results[0])
            except NotAttention as mismatch:
                closest = max(closest, mismatch, key=lambda reason: reason.matched)
    raise closest


def is_between_products(result: ir.Value) -> bool:
    """Whether the result of a softmax is a factor of a product of two tensors."""
    rank = tensor_type_of(result).rank or 0
    axes = Axes()
    shape = tensor_type_of(result).sizes if rank else ()
    scores = Scores(axes, [(axes.atom(size),) for size in shape])
    return any(True for _ in _uses(scores, _Weights(result, list(scores.words)), _DEPTH))


def _uses(scores: Scores, weights: _Weights, depth: int) -> Iterator[tuple[_Weights, ir.OpView]]:
    """Yields the products of two tensors that use the weights, and the weights as they do."""
    for use in weights.value.uses if depth else ():
        op = use.owner.opview if isinstance(use.owner, ir.Operation) else use.owner
        if not len(op.results):
            continue
        if contraction(op) is not None:
            yield weights, op
        after = op.results[0]
        if source(after) == weights.value:  # forwards it
            for behind, product in _uses(scores, _Weights(after, weights.words, weights.zeroed), depth - 1):
                yield _Weights(source(behind.value), behind.words, behind.zeroed), product
            continue
        zeroed = scores.zeroed_by(op, weights.value)
        if zeroed is not None:
            yield from _uses(scores, _Weights(after, weights.words, zeroed), depth - 1)
        elif use.operand_number == 0 and (words := moved(scores.axes, weights.words, op)) is not None:
            yield from _uses(scores, _Weights(after, words, weights.zeroed), depth - 1)


def _joined(
    scores: Scores,
    operands: Sequence[Tensor],
    axis: int,
    weights: _Weights,
    read: Contraction,
    position: int,
    result: ir.Value,
) -> Reading:
    """Puts the two products together."""
    axes = scores.axes
    known = dict(zip(read.axes[position], weights.words, strict=True))
    summed = [atom for label in read.summed for atom in axes.resolved(known[label])]
    softmaxed = axes.resolved(scores.words[axis])
    if not softmaxed:
        raise NotAttention(5, "there is only one key")
    if len(softmaxed) != 1 or summed != list(softmaxed):
        raise NotAttention(5, "the product with the values is not over the axis of the softmax")
    key = softmaxed[0]
    # An axis that only the values have gets a new atom, also where the weights are broadcast along it.
    other = read.axes[1 - position]
    words = _words(axes, read, {label: word for label, word in known.items() if word or label not in other})
    tensors = [Tensor(operand.value, _resolved(axes, operand.words)) for operand in operands]
    first, second = tensors
    keys, queries = (first, second) if key in _atoms(first) else (second, first)
    values = Tensor(source(read.operands[1 - position]), _resolved(axes, [words[label] for label in other]))
    atoms, of_keys, of_values = _atoms(queries), _atoms(keys), _atoms(values)
    order = [atom for word in _resolved(axes, scores.words) for atom in word]
    head = tuple(atom for atom in atoms if atom not in order)
    shared = [atom for atom in order if atom in atoms and atom in of_keys]
    own = [atom for atom in order if atom in atoms and atom not in of_keys]
    depth = tuple(atom for atom in of_values if atom not in order)
    if not head or set(of_keys) != {*shared, key, *head}:
        raise NotAttention(5, "only the keys have some axes, besides the one of the softmax")
    if set(of_values) != {*shared, key, *depth}:
        raise NotAttention(5, "the values have not the axes of the keys")
    if len(depth) > 1:
        raise NotAttention(5, "only the values have some axes, and more than one")
    made = Tensor(result, _resolved(axes, [words[label] for label in read.result]))
    if sorted(_atoms(made)) != sorted([*shared, *own, *depth]):
        raise NotAttention(5, "the result has other axes")
    for mask in scores.masks:
        mask.words = _resolved(axes, mask.words)
    return Reading(scores, queries, keys, values, made, shared, own, key, head, depth, weights.zeroed)


def _resolved(axes: Axes, words: Sequence[Word]) -> list[Word]:
    return [axes.resolved(word) for word in words]


def _atoms(tensor: Tensor) -> list[int]:
    return [atom for word in tensor.words for atom in word]
