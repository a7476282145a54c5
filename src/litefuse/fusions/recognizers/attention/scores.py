"""Steps between the products of queries and keys and the softmax: scaling, capping, masking, moving."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from litefuse.fusions.recognizers.attention.axes import Axes, Word, contraction
from litefuse.fusions.recognizers.matching import ADDITIONS
from litefuse.ir.constants import integer_constant
from litefuse.ir.defining_ops import constant_number, same, source
from litefuse.ir.mlir import ir
from litefuse.ir.types import tensor_type_of

#: The largest number in the place of a score that leaves nothing of its value: its exponential is 0 beside others.
NEGLIGIBLE = -1e4

_DEPTH = 24
_MOVES = frozenset({"tf.ExpandDims", "tf.Reshape", "tf.Squeeze", "tf.Transpose"})
_SELECTS = frozenset({"tf.Select", "tf.SelectV2"})
_FOLLOWED = _MOVES | {"tf.BroadcastTo", "tf.Mul", "tf.RealDiv", "tf.Tanh"}

#: The kind of a mask: ``add``: a number to add to each score; ``keep`` and ``drop``: whether a score stays, or not.
Kind: TypeAlias = Literal["add", "keep", "drop"]


class NotAttention(Exception):  # noqa: N818  not an error: the ops are left as they are
    """Why a softmax is not that of attention.

    Attributes:
        matched: How many parts of attention there are before this.
    """

    def __init__(self, matched: int, reason: str) -> None:
        super().__init__(reason)
        self.matched = matched


class Step(NamedTuple):
    """An op on the way from the products to the softmax, and which of its operands is on this way."""

    op: ir.OpView
    position: int


@dataclass
class Mask:
    """A mask of the scores.

    Attributes:
        kind: What it does.
        value: The mask.
        words: Its axes, those that are broadcast without atoms.
        number: The factor of ``add``; what takes the place of a score, of the others.
    """

    kind: Kind
    value: ir.Value
    words: list[Word]
    number: float = 1.0


def number(value: ir.Value) -> float | None:
    """Returns the number that all elements of a value are; None if it is not one constant number."""
    value = source(value)
    while not isinstance(value.owner, ir.Block):
        owner = value.owner
        if owner.name == "tf.Cast" and tensor_type_of(value).dtype not in {"float16", "bfloat16", "float32", "float64"}:
            return None
        if owner.name not in {"tf.BroadcastTo", "tf.Cast", "tf.ExpandDims", "tf.Fill", "tf.Reshape"}:
            break
        value = source(owner.operands[1 if owner.name == "tf.Fill" else 0])
    return constant_number(value)


def scores_behind(value: ir.Value, depth: int = _DEPTH) -> Iterator[tuple[ir.OpView, list[Step]]]:
    """Yields the products of two tensors that a value may be the scores of, and the steps between in their order."""
    owner = value.owner
    if isinstance(owner, ir.Block) or not depth:
        return
    if contraction(owner) is not None:
        yield owner, []
        return
    for position in _positions(owner):
        for product, steps in scores_behind(source(owner.operands[position]), depth - 1):
            yield product, [*steps, Step(owner, position)]


def _positions(op: ir.OpView) -> tuple[int, ...]:
    if op.name in ADDITIONS:
        return 0, 1
    if op.name == "tf.Sub" or op.name in _FOLLOWED - {"tf.Mul"}:
        return (0,)
    if op.name == "tf.Mul":
        return (1,) if number(op.operands[0]) is not None else (0,)
    if op.name in _SELECTS:
        return tuple(place for place in (1, 2) if (number(op.operands[3 - place]) or 0) <= NEGLIGIBLE)
    return ()


def obstacle(value: ir.Value, depth: int = _DEPTH) -> str | None:
    """Returns what keeps a value from being the scores of a product of two tensors; None without a product."""
    owner = value.owner
    if isinstance(owner, ir.Block) or not depth:
        return None
    positions = _positions(owner)
    for position in positions:
        reason = obstacle(source(owner.operands[position]), depth - 1)
        if reason is not None:
            return reason
    if positions or not _has_product(value, 4):
        return None
    if owner.name in _SELECTS:
        numbers = [fill for place in (1, 2) if (fill := number(owner.operands[place])) is not None]
        return f"masked scores are {numbers[0]:g}, which does not mask them" if numbers else "the scores are selected"
    return f"{owner.name.removeprefix('tf.')} is between the scores and the softmax"


def _has_product(value: ir.Value, depth: int) -> bool:
    owner = value.owner
    if isinstance(owner, ir.Block) or not depth:
        return False
    return contraction(owner) is not None or any(_has_product(source(operand), depth - 1) for operand in owner.operands)


def moved(axes: Axes, words: list[Word], op: ir.OpView) -> list[Word] | None:
    """Returns the axes of an op's result that moves, merges or splits those of its first operand, ``words``."""
    shape = tensor_type_of(op.results[0]).shape
    if shape is None:
        return None
    if op.name == "tf.Transpose":
        order = integer_constant(source(op.operands[1]))
        return [words[axis] for axis in order] if isinstance(order, list) else None
    if op.name == "tf.BroadcastTo":
        return words if shape == tensor_type_of(op.operands[0]).shape else None
    return axes.reshaped(words, shape) if op.name in _MOVES else None


@dataclass
class Scores:
    """The scores at one point between the products and the softmax.

    Attributes:
        axes: The atoms of all axes.
        words: The axes.
        scale: The factor of the products.
        cap: The number that the scores are bounded by: ``cap * tanh(scale * products / cap)``; None if they are not.
        masks: The masks.
    """

    axes: Axes
    words: list[Word]
    scale: float = 1.0
    cap: float | None = None
    masks: list[Mask] = field(default_factory=list[Mask])

    def take(self, step: Step) -> None:
        """Takes one step.

        Raises:
            NotAttention: It is not a step of attention.
        """
        op, name = step.op, step.op.name
        if name in ADDITIONS or name == "tf.Sub":
            self._mask("add", op.operands[1 - step.position], -1.0 if name == "tf.Sub" else 1.0, op)
        elif name in _SELECTS:
            kind: Kind = "keep" if step.position == 1 else "drop"
            self._mask(kind, op.operands[0], number(op.operands[3 - step.position]) or 0.0, op)
        elif name in {"tf.Mul", "tf.RealDiv"}:
            factor = number(op.operands[1 - step.position])
            self._align(op)
            if factor is None or not factor:
                raise NotAttention(3, "the scores are multiplied by more than one number")
            self._scale(factor if name == "tf.Mul" else 1 / factor)
        elif name == "tf.Tanh":
            if self.masks or self.cap is not None:
                raise NotAttention(3, "the scores are bounded after they were masked, or twice")
            self.cap = 1.0
        else:
            words = moved(self.axes, self.words, op)
            if words is None:
                raise NotAttention(3, f"it is not known how {op.name.removeprefix('tf.')} moves the axes of the scores")
            self.words = words

    def _scale(self, factor: float) -> None:
        if self.cap is None:
            self.scale *= factor
        else:
            self.cap *= factor
        for mask in self.masks:
            mask.number *= factor
            if mask.kind != "add" and mask.number > NEGLIGIBLE:
                raise NotAttention(3, f"masked scores are {mask.number:g}, which does not mask them")

    def _mask(self, kind: Kind, value: ir.Value, amount: float, op: ir.OpView) -> None:
        self._align(op)
        words = self.broadcast(source(value))
        if words is None:
            raise NotAttention(3, "a mask has other axes than the scores")
        self.masks.append(Mask(kind, source(value), words, amount))

    def broadcast(self, value: ir.Value) -> list[Word] | None:
        """Returns the axes of a value that is broadcast to the scores."""
        shape = tensor_type_of(value).shape
        if shape is None or len(shape) > len(self.words):
            return None
        beside = self.words[len(self.words) - len(shape) :]
        return [() if size == 1 else word for size, word in zip(shape, beside, strict=True)]

    def _align(self, op: ir.OpView) -> None:
        """Takes over the leading dimensions of size 1 of an elementwise op, which must not broadcast the scores."""
        shape = tensor_type_of(op.results[0]).shape or ()
        words: list[Word] = [*[()] * (len(shape) - len(self.words)), *self.words]
        if len(words) > len(shape) or any(not word and size != 1 for size, word in zip(shape, words, strict=True)):
            raise NotAttention(3, f"{op.name.removeprefix('tf.')} broadcasts the scores")
        self.words = words

    def zeroed_by(self, op: ir.OpView, value: ir.Value) -> int | None:
        """Returns which mask keeps the weights that ``op`` makes zero where their scores were masked; None if none."""
        if op.name not in _SELECTS or source(op.operands[1]) != value or number(op.operands[2]) != 0:
            return None
        condition = source(op.operands[0])
        places = [place for place, mask in enumerate(self.masks) if mask.kind == "keep" and same(mask.value, condition)]
        return places[0] if places else None
