"""Patterns: formulas over TensorFlow ops, written as Python functions, and where a model computes them.

A formula takes patterns and gives patterns::

    def gated(x, gate, weight):
        return sigmoid(matmul(gate, weight)) * tanh(x)

It is matched backwards from a value that may be its result. Sums and products match in any order, sums with any
brackets and whichever op adds (``AddV2``, ``Add``, ``BiasAdd``); ops that only hand a value on are not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from litefuse.engine.mlir import ir
from litefuse.passes.integer_constants import constant
from litefuse.passes.tensor_lists.webs import node

__all__ = ["Match", "Mismatch", "Pattern", "Variable", "match", "matmul", "parts", "sigmoid", "source", "tanh"]

_COPIES = frozenset({"tf.EnsureShape", "tf.Identity", "tf.PreventGradient", "tf.Snapshot", "tf.StopGradient"})
_ADDITIONS = frozenset({"tf.Add", "tf.AddV2", "tf.BiasAdd"})


class Pattern:
    """A part of a formula. The same object in several places stands for the same value."""

    def __add__(self, other: Pattern) -> Pattern:
        terms = [*(self.terms if isinstance(self, _Sum) else [self])]
        return _Sum((*terms, *(other.terms if isinstance(other, _Sum) else [other])))

    def __mul__(self, other: Pattern) -> Pattern:
        return _Op("tf.Mul", (self, other), commutative=True)


@dataclass(frozen=True, eq=False)
class Variable(Pattern):
    """A value that the formula computes from.

    Attributes:
        name: What it is, for messages: ``the kernel``.
        condition: Whether a value can be it.
    """

    name: str
    condition: Callable[[ir.Value], bool] = lambda _: True

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class _Op(Pattern):
    name: str
    operands: tuple[Pattern, ...]
    commutative: bool = False

    def __str__(self) -> str:
        return self.name.removeprefix("tf.")


@dataclass(frozen=True, eq=False)
class _Sum(Pattern):
    terms: tuple[Pattern, ...]

    def __str__(self) -> str:
        return f"a sum of {len(self.terms)}"


@dataclass(frozen=True, eq=False)
class _Part(Pattern):
    whole: Pattern
    index: int
    count: int

    def __str__(self) -> str:
        return f"part {self.index} of {self.count}"


def matmul(a: Pattern, b: Pattern) -> Pattern:
    """The product of two matrices."""
    return _Op("tf.MatMul", (a, b))


def sigmoid(a: Pattern) -> Pattern:
    """The logistic function of each element."""
    return _Op("tf.Sigmoid", (a,))


def tanh(a: Pattern) -> Pattern:
    """The hyperbolic tangent of each element."""
    return _Op("tf.Tanh", (a,))


def parts(whole: Pattern, count: int) -> list[Pattern]:
    """The equal parts of a value along its last dimension."""
    return [_Part(whole, index, count) for index in range(count)]


Match: TypeAlias = "Mapping[Pattern, ir.Value]"


@dataclass(frozen=True)
class Mismatch:
    """How far the best of all attempts to match a formula got.

    Attributes:
        matched: How many parts of the formula matched.
        found: The value that did not.
        expected: What it should have been, in words.
    """

    matched: int
    found: ir.Value
    expected: str

    def __str__(self) -> str:
        owner = self.found.owner
        block = isinstance(owner, ir.Block)
        found = f"argument {ir.BlockArgument(self.found).arg_number}" if block else node(owner)
        return f"{found} is not {self.expected}"


def match(formula: Sequence[Pattern], values: Sequence[ir.Value]) -> Match | Mismatch:
    """Matches the results of a formula with values.

    Args:
        formula: The results.
        values: As many values.

    Returns:
        The value of each part of the formula; or where the attempt that got furthest ended.
    """
    matcher = _Matcher()
    found = next(matcher.match_all(formula, values, {}), None)
    if found is not None:
        return found
    assert matcher.closest is not None
    return matcher.closest


def source(value: ir.Value) -> ir.Value:
    """The value behind ops that only hand it on, or multiply it by ones, as Keras 2 does for dropout."""
    while not isinstance(value.owner, ir.Block) and _hands_on(value.owner):
        value = value.owner.operands[0]
    return value


def _hands_on(op: ir.OpView) -> bool:
    """Whether the result is the first operand."""
    if op.name != "tf.Mul":
        return op.name in _COPIES
    value, factor = op.operands
    owner = factor.owner
    return not isinstance(owner, ir.Block) and owner.name == "tf.OnesLike" and owner.operands[0] == value


class _Matcher:
    """Tries all ways to match, and remembers which one got furthest."""

    def __init__(self) -> None:
        self.closest: Mismatch | None = None

    def match_all(self, patterns: Sequence[Pattern], values: Sequence[ir.Value], bound: Match) -> Iterator[Match]:
        """All matches of some patterns with as many values, in this order."""
        if not patterns:
            yield bound
            return
        for found in self._match(patterns[0], source(values[0]), bound):
            yield from self.match_all(patterns[1:], values[1:], found)

    def _match(self, pattern: Pattern, value: ir.Value, bound: Match) -> Iterator[Match]:
        if pattern in bound:
            if bound[pattern] == value:
                yield bound
            else:
                self._fail(bound, value, f"the same {pattern} as elsewhere")
            return
        including = {**bound, pattern: value}
        owner = value.owner
        op = None if isinstance(owner, ir.Block) else owner
        if isinstance(pattern, Variable) and pattern.condition(value):
            yield including
        elif isinstance(pattern, _Op) and op is not None and op.name == pattern.name and not _transposes(op):
            yield from self.match_all(pattern.operands, list(op.operands), including)
            if pattern.commutative:
                yield from self.match_all(pattern.operands, list(reversed(list(op.operands))), including)
        elif isinstance(pattern, _Sum) and len(terms := list(_terms(value))) == len(pattern.terms):
            yield from self._match_in_any_order(pattern.terms, terms, including)
        elif isinstance(pattern, _Part) and (whole := _whole(value, pattern.index, pattern.count)) is not None:
            yield from self._match(pattern.whole, source(whole), including)
        else:
            same = isinstance(pattern, _Op) and op is not None and op.name == pattern.name
            self._fail(bound, value, f"{pattern} without transposition" if same else str(pattern))

    def _match_in_any_order(
        self, patterns: Sequence[Pattern], values: Sequence[ir.Value], bound: Match
    ) -> Iterator[Match]:
        if not patterns:
            yield bound
            return
        for index, value in enumerate(values):
            for found in self._match(patterns[0], value, bound):
                yield from self._match_in_any_order(patterns[1:], [*values[:index], *values[index + 1 :]], found)

    def _fail(self, bound: Match, value: ir.Value, expected: str) -> None:
        if self.closest is None or len(bound) > self.closest.matched:
            self.closest = Mismatch(len(bound), value, expected)


def _transposes(op: ir.OpView) -> bool:
    return any(
        name in op.attributes and ir.BoolAttr(op.attributes[name]).value for name in ("transpose_a", "transpose_b")
    )


def _terms(value: ir.Value) -> Iterator[ir.Value]:
    """What a value is the sum of; itself if it is none."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name not in _ADDITIONS:
        yield value
        return
    for operand in owner.operands:
        yield from _terms(_without_squeeze(source(operand), value))


def _without_squeeze(term: ir.Value, total: ir.Value) -> ir.Value:
    """The operand of an op that takes leading dimensions of size 1 away, which the sum brings back by broadcasting."""
    owner = term.owner
    if isinstance(owner, ir.Block) or owner.name not in {"tf.Reshape", "tf.Squeeze"}:
        return term
    before, after, sum_ = (ir.ShapedType(value.type) for value in (owner.operands[0], term, total))
    if not (before.has_rank and after.has_rank and sum_.has_rank):
        return term
    if not (before.has_static_shape and after.has_static_shape) or before.rank > sum_.rank:
        return term
    added = before.rank - after.rank
    squeezed = added >= 0 and list(before.shape) == [*[1] * added, *after.shape]
    return source(owner.operands[0]) if squeezed else term


def _whole(value: ir.Value, index: int, count: int) -> ir.Value | None:
    """The value that this is a part of, if it is the ``index``-th of ``count`` equal parts along the last dimension."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    if owner.name == "tf.Split":
        axis, whole = constant(owner.operands[0]), owner.operands[1]
        kind = ir.ShapedType(whole.type)
        position = ir.OpResult(value).result_number
        last = kind.has_rank and isinstance(axis, int) and axis % kind.rank == kind.rank - 1
        return whole if last and (position, len(owner.results)) == (index, count) else None
    if owner.name == "tf.StridedSlice":
        whole = owner.operands[0]
        kind = ir.ShapedType(whole.type)
        if not kind.has_rank or kind.rank == 0 or not kind.has_static_shape:
            return None
        size = kind.shape[kind.rank - 1]
        step = size // count
        return whole if size % count == 0 and _slice(owner, kind) == (index * step, (index + 1) * step) else None
    return None


def _slice(op: ir.OpView, kind: ir.ShapedType) -> tuple[int, int] | None:
    """Where a strided slice begins and ends along the last dimension, if it takes all of the others."""
    begin, end, strides = (constant(operand) for operand in list(op.operands)[1:])
    if not (isinstance(begin, list) and isinstance(end, list)) or strides != [1] * kind.rank:
        return None

    def mask(name: str) -> int:
        return ir.IntegerAttr(op.attributes[name]).value

    if mask("ellipsis_mask") or mask("new_axis_mask") or mask("shrink_axis_mask"):
        return None
    bounds: list[tuple[int, int]] = []
    for axis, (size, first, last) in enumerate(zip(kind.shape, begin, end, strict=True)):
        chosen = slice(
            None if mask("begin_mask") >> axis & 1 else first, None if mask("end_mask") >> axis & 1 else last
        )
        bounds.append(chosen.indices(size)[:2])
    whole = bounds[:-1] == [(0, size) for size in kind.shape[:-1]]
    return bounds[-1] if whole else None
