"""Matches formulas with values of a model, and finds the values that others are slices of."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from litefuse.fusions.recognizers.pattern import (
    Applied,
    Concatenation,
    Function,
    Number,
    OneOf,
    Op,
    Part,
    Pattern,
    Place,
    PlacedPart,
    Product,
    Row,
    Sum,
    Transposition,
    Variable,
)
from litefuse.ir.attributes import attribute_value
from litefuse.ir.constants import integer_constant
from litefuse.ir.defining_ops import constant_number, is_constant, same, source
from litefuse.ir.mlir import ir
from litefuse.passes.tensor_lists.list_groups import node

__all__ = ["ADDITIONS", "PRODUCTS", "Match", "Mismatch", "match", "matches", "part_of", "row_of"]


def part_of(value: ir.Value, first: int, end: int, count: int) -> ir.Value | None:
    """Returns the whole of which this is the parts ``first`` to ``end``, of ``count`` equal ones of the last axis."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    if owner.name == "tf.Split":
        axis, whole = integer_constant(source(owner.operands[0])), owner.operands[1]
        kind = ir.ShapedType(whole.type)
        position = ir.OpResult(value).result_number
        last = kind.has_rank and isinstance(axis, int) and axis % kind.rank == kind.rank - 1
        return whole if last and (position, position + 1, len(owner.results)) == (first, end, count) else None
    if owner.name == "tf.StridedSlice":
        whole = owner.operands[0]
        kind = ir.ShapedType(whole.type)
        if not kind.has_rank or kind.rank == 0 or kind.is_dynamic_dim(kind.rank - 1):
            return None
        size = kind.shape[kind.rank - 1]
        step = size // count
        return whole if size % count == 0 and _last_slice(owner, kind) == (first * step, end * step) else None
    return None


def row_of(value: ir.Value, index: int, count: int) -> ir.Value | None:
    """Returns the matrix of ``count`` rows of which this is a row, as a vector or as a matrix of one row."""
    owner = value.owner
    if not isinstance(owner, ir.Block) and owner.name in {"tf.Reshape", "tf.Squeeze"}:
        before, after = (ir.ShapedType(tensor.type) for tensor in (owner.operands[0], value))
        if not before.has_static_shape or not after.has_static_shape or list(before.shape) != [1, *after.shape]:
            return None
        value = source(owner.operands[0])
        owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    position = ir.OpResult(value).result_number
    if owner.name == "tf.Split" and integer_constant(source(owner.operands[0])) == 0:
        return owner.operands[1] if (position, len(owner.results)) == (index, count) else None
    if owner.name == "tf.Unpack" and ir.IntegerAttr(owner.attributes["axis"]).value == 0:
        return owner.operands[0] if (position, len(owner.results)) == (index, count) else None
    if owner.name == "tf.StridedSlice":
        whole = owner.operands[0]
        kind = ir.ShapedType(whole.type)
        if not kind.has_static_shape or kind.rank != 2 or kind.shape[0] != count:
            return None
        begin = integer_constant(source(owner.operands[1]))
        one_row = begin == [index] and _mask(owner, "shrink_axis_mask") == 1 and not _mask(owner, "begin_mask")
        return whole if one_row else None
    return None


def _mask(op: ir.OpView, name: str) -> int:
    return ir.IntegerAttr(op.attributes[name]).value


def _last_slice(op: ir.OpView, kind: ir.ShapedType) -> tuple[int, int] | None:
    """Returns start and end of a strided slice along the last dimension, if it takes the others whole."""
    begin, end, strides = (integer_constant(source(operand)) for operand in list(op.operands)[1:])
    if not (isinstance(begin, list) and isinstance(end, list)) or strides != [1] * kind.rank:
        return None
    if _mask(op, "ellipsis_mask") or _mask(op, "new_axis_mask") or _mask(op, "shrink_axis_mask"):
        return None
    bounds: tuple[int, int] = (0, 0)
    for axis, (first, last) in enumerate(zip(begin, end, strict=True)):
        size = None if kind.is_dynamic_dim(axis) else kind.shape[axis]
        open_begin, open_end = (bool(_mask(op, name) >> axis & 1) for name in ("begin_mask", "end_mask"))
        if size is None:
            if not (open_begin or first == 0) or not open_end:
                return None
            continue
        bounds = slice(None if open_begin else first, None if open_end else last).indices(size)[:2]
        if axis < kind.rank - 1 and bounds != (0, size):
            return None
    return bounds


#: The ops that add.
ADDITIONS = frozenset({"tf.Add", "tf.AddV2", "tf.BiasAdd"})
#: The ops that multiply.
PRODUCTS = frozenset({"tf.Mul"})

# The elementwise functions that make up activations; the other operands are constant numbers.
_ELEMENTWISE = frozenset(
    f"tf.{name}"
    for name in (
        *("Abs", "Add", "AddV2", "ClipByValue", "Elu", "Erf", "Exp", "LeakyRelu", "Maximum", "Minimum", "Mul", "Neg"),
        *("RealDiv", "Relu", "Relu6", "Selu", "Sigmoid", "Softplus", "Softsign", "Sub", "Tanh"),
    )
)
_LONGEST_ACTIVATION = 5

# Attributes of MatMul, and their names in BatchMatMulV2.
_ADJOINT = {"transpose_a": "adj_x", "transpose_b": "adj_y"}


def _anything(variable: Variable, value: ir.Value) -> bool:
    del variable, value
    return True


@dataclass(frozen=True)
class Match:
    """A formula's parts in a model.

    Attributes:
        values: The value of each part of the formula.
        functions: The ops of each of its functions by name, with their numbers; empty for the identity.
        places: The index of the part at each place.
    """

    values: Mapping[Pattern, ir.Value] = field(default_factory=dict[Pattern, ir.Value])
    functions: Mapping[Function, str] = field(default_factory=dict[Function, str])
    places: Mapping[Place, int] = field(default_factory=dict[Place, int])

    def __getitem__(self, pattern: Pattern) -> ir.Value:
        return self.values[pattern]

    def __len__(self) -> int:
        return len(self.values)

    def including(self, pattern: Pattern, value: ir.Value) -> Match:
        """Returns this match with the value of one more part."""
        return Match({**self.values, pattern: value}, self.functions, self.places)


@dataclass(frozen=True)
class Mismatch:
    """How far the best attempt to match a formula got.

    Attributes:
        matched: How many parts of the formula matched.
        value: The value that did not.
        expected: What was expected; its text describes it, and is made only if it is read: most attempts fail.
    """

    matched: int
    value: ir.Value
    expected: Pattern | str

    def __str__(self) -> str:
        owner = self.value.owner
        block = isinstance(owner, ir.Block)
        shown = f"argument {ir.BlockArgument(self.value).arg_number}" if block else node(owner)
        return f"{shown} is not {self.expected}"


def match(
    formula: Sequence[Pattern],
    values: Sequence[ir.Value],
    *,
    known: Mapping[Pattern, ir.Value] | None = None,
    can_be: Callable[[Variable, ir.Value], bool] = _anything,
    accept: Callable[[Match], bool] = lambda _: True,
) -> Match | Mismatch:
    """Matches the results of a formula with values.

    Args:
        formula: The results.
        values: As many values.
        known: The values of some parts of the formula.
        can_be: Whether a variable can be a value, in addition to its own condition.
        accept: Whether to accept a match; otherwise others are tried.

    Returns:
        The value of each part of the formula; or where the attempt that got furthest ended.
    """
    matcher = _Matcher(can_be)
    for matched in matcher.match_all(formula, values, Match(known or {})):
        if accept(matched):
            return matched
        matcher.closest = Mismatch(len(matched), values[0], "computed from parts that go together")
    assert matcher.closest is not None
    return matcher.closest


def matches(
    formula: Sequence[Pattern],
    values: Sequence[ir.Value],
    *,
    known: Mapping[Pattern, ir.Value] | None = None,
    can_be: Callable[[Variable, ir.Value], bool] = _anything,
) -> Iterator[Match]:
    """Yields all ways to match the results of a formula with values, like ``match``."""
    return _Matcher(can_be).match_all(formula, values, Match(known or {}))


class _Matcher:
    """Tries all ways to match, and remembers which one got furthest."""

    def __init__(self, can_be: Callable[[Variable, ir.Value], bool]) -> None:
        self.closest: Mismatch | None = None
        self._can_be = can_be

    def match_all(self, patterns: Sequence[Pattern], values: Sequence[ir.Value], bound: Match) -> Iterator[Match]:
        """Yields all matches of some patterns with as many values, in this order."""
        if not patterns:
            yield bound
            return
        for matched in self._match(patterns[0], source(values[0]), bound):
            yield from self.match_all(patterns[1:], values[1:], matched)

    def _match(self, pattern: Pattern, value: ir.Value, bound: Match) -> Iterator[Match]:
        if pattern in bound.values:
            if same(bound[pattern], value):
                yield bound
            else:
                self._fail(bound, value, f"the same {pattern} as elsewhere")
            return
        including = bound.including(pattern, value)
        expected: Pattern | str = pattern
        op = None if isinstance(value.owner, ir.Block) else value.owner
        match pattern:
            case Variable() if pattern.condition(value) and self._can_be(pattern, value):
                yield including
                return
            case Number() if _is_number(value, pattern.value):
                yield including
                return
            case Op() if op is not None and _name(op) == pattern.name and len(op.operands) == len(pattern.operands):
                different = _different_attribute(op, pattern)
                if different is None:
                    yield from self.match_all(pattern.operands, list(op.operands), including)
                    return
                expected = f"{pattern} {different}"
            case Sum() | Product():
                names = ADDITIONS if isinstance(pattern, Sum) else PRODUCTS
                if op is not None and op.name in names:
                    for terms in _terms(value, len(pattern.terms), names):
                        yield from self._match_in_any_order(sorted(pattern.terms, key=_freedom), terms, including)
                        expected = ""
                    if not expected:
                        return
            case Part() if (whole := part_of(value, pattern.first, pattern.end, pattern.count)) is not None:
                yield from self._match(pattern.whole, source(whole), including)
                return
            case PlacedPart():
                is_placed = False
                known = bound.places.get(pattern.place)
                for index in range(pattern.count) if known is None else (known,):
                    whole = part_of(value, index, index + 1, pattern.count)
                    if whole is not None:
                        is_placed, places = True, {**bound.places, pattern.place: index}
                        yield from self._match(pattern.whole, source(whole), replace(including, places=places))
                if is_placed:
                    return
            case Row() if (whole := row_of(value, pattern.index, pattern.count)) is not None:
                yield from self._match(pattern.whole, source(whole), including)
                return
            case Concatenation() if op is not None and _joins_last(op, len(pattern.parts)):
                yield from self.match_all(pattern.parts, list(op.operands)[:-1], including)
                return
            case Transposition() if op is not None and _is_transposition(op):
                yield from self._match(pattern.matrix, source(op.operands[0]), including)
                return
            case OneOf():
                for alternative in pattern.alternatives:
                    yield from self._match(alternative, value, including)
                return
            case Applied():
                yield from self._match_applied(pattern, value, including)
                return
            case _:
                pass
        self._fail(bound, value, expected)

    def _match_in_any_order(
        self, patterns: Sequence[Pattern], values: Sequence[ir.Value], bound: Match
    ) -> Iterator[Match]:
        if not patterns:
            yield bound
            return
        for index, value in enumerate(values):
            for matched in self._match(patterns[0], value, bound):
                yield from self._match_in_any_order(patterns[1:], [*values[:index], *values[index + 1 :]], matched)

    def _match_applied(self, pattern: Applied, value: ir.Value, bound: Match) -> Iterator[Match]:
        known = bound.functions.get(pattern.function)
        for inner, text in _chains(value):
            if known is None or text == known:
                functions = {**bound.functions, pattern.function: text}
                yield from self._match(pattern.operand, inner, replace(bound, functions=functions))
        if known is not None and all(text != known for _, text in _chains(value)):
            self._fail(bound, value, f"{known or 'linear'}, as {pattern.function.name} is elsewhere")

    def _fail(self, bound: Match, value: ir.Value, expected: Pattern | str) -> None:
        # Of equal ones the last: it was made after the more specific parts had matched.
        if self.closest is None or len(bound) >= self.closest.matched:
            self.closest = Mismatch(len(bound), value, expected)


def _freedom(pattern: Pattern) -> int:
    """Returns a sort key that puts the least specific patterns last, so that the closest attempt is a near miss."""
    return 2 if isinstance(pattern, Number) else 1 if isinstance(pattern, Variable) else 0


def _name(op: ir.OpView) -> str:
    """Returns an op's name; a product of two matrices has the same name whichever op computes it."""
    if op.name != "tf.BatchMatMulV2":
        return op.name
    ranks = [kind.rank if kind.has_rank else None for kind in (ir.ShapedType(operand.type) for operand in op.operands)]
    return "tf.MatMul" if ranks == [2, 2] else op.name


def _is_transposition(op: ir.OpView) -> bool:
    return op.name == "tf.Transpose" and integer_constant(source(op.operands[1])) in (
        [1, 0],
        [-1, -2],
        [1, -2],
        [-1, 0],
    )


def _is_number(value: ir.Value, number: float) -> bool:
    constant = constant_number(value)
    return constant is not None and math.isclose(constant, number, rel_tol=1e-6)


def _different_attribute(op: ir.OpView, pattern: Op) -> str | None:
    """Describes an attribute that differs from the pattern; a product transposes nothing unless the pattern says so."""
    wanted = dict(pattern.attributes)
    if pattern.name == "tf.MatMul":
        wanted = {"transpose_a": False, "transpose_b": False} | wanted
    for name, value in wanted.items():
        own = _ADJOINT[name] if op.name == "tf.BatchMatMulV2" and name in _ADJOINT else name
        actual = attribute_value(op.attributes[own]) if own in op.attributes else False
        if actual != value:
            return "without transposition" if name.startswith("transpose") and not value else f"with {name}={value!r}"
    return None


def _terms(value: ir.Value, count: int, names: frozenset[str]) -> Iterator[list[ir.Value]]:
    """Yields all ways to split a value into so many terms of a sum or factors of a product."""
    if count == 1:
        yield [value]
        return
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name not in names:
        return
    first, second = (_without_squeeze(source(operand), value) for operand in owner.operands)
    for left in range(1, count):
        for some in _terms(first, left, names):
            for others in _terms(second, count - left, names):
                yield [*some, *others]


def _without_squeeze(term: ir.Value, total: ir.Value) -> ir.Value:
    """Skips an op that removes leading dimensions of size 1, which the sum restores by broadcasting."""
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


def _joins_last(op: ir.OpView, count: int) -> bool:
    if op.name != "tf.ConcatV2" or len(op.operands) != count + 1:
        return False
    axis = constant_number(op.operands[count])
    kind = ir.ShapedType(op.operands[0].type)
    return axis is not None and kind.has_rank and axis % kind.rank == kind.rank - 1


def _chains(value: ir.Value) -> Iterator[tuple[ir.Value, str]]:
    """Yields a value as an elementwise function of others: of itself, of what an op computes it from, and so on."""
    texts: list[str] = []
    for _ in range(_LONGEST_ACTIVATION):
        yield value, ", ".join(reversed(texts))
        owner = value.owner
        if isinstance(owner, ir.Block) or owner.name not in _ELEMENTWISE:
            return
        operands = [source(operand) for operand in owner.operands]
        open_ones = [operand for operand in operands if not is_constant(operand)]
        numbers = [constant_number(operand) for operand in operands if is_constant(operand)]
        if len(open_ones) != 1 or None in numbers:
            return
        value = open_ones[0]
        name = owner.name.removeprefix("tf.")
        first = "1 - x" if name == "Sub" and value == operands[1] else name
        texts.append(f"{first}({', '.join(f'{number:g}' for number in numbers)})" if numbers else first)
