"""Matches formulas with values of a model, and finds the values that others are slices of."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from litefuse.fusions.recognizers.pattern import (
    Applied,
    Concatenation,
    Function,
    Interleaving,
    Number,
    OneOf,
    Op,
    Part,
    Pattern,
    Place,
    PlacedPart,
    Product,
    Row,
    Slice,
    Sum,
    Transposition,
    Variable,
    terms_of,
)
from litefuse.fusions.recognizers.slices import LastSlice, joined, last_slice, part_of, plain, row_of
from litefuse.ir.attributes import attribute_value
from litefuse.ir.constants import integer_constant
from litefuse.ir.defining_ops import constant_number, is_constant, same, source
from litefuse.ir.mlir import ir
from litefuse.passes.tensor_lists.list_groups import node

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
        numbers: The number of each variable that bounds a slice.
    """

    values: Mapping[Pattern, ir.Value] = field(default_factory=dict[Pattern, ir.Value])
    functions: Mapping[Function, str] = field(default_factory=dict[Function, str])
    places: Mapping[Place, int] = field(default_factory=dict[Place, int])
    numbers: Mapping[Variable, int] = field(default_factory=dict[Variable, int])

    def __getitem__(self, pattern: Pattern) -> ir.Value:
        return self.values[pattern]

    def __len__(self) -> int:
        return len(self.values)

    def including(self, pattern: Pattern, value: ir.Value) -> Match:
        """Returns this match with the value of one more part."""
        return replace(self, values={**self.values, pattern: value})


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
            case Variable() if pattern in bound.numbers and not _is_number(value, bound.numbers[pattern]):
                expected = f"{pattern}, which is {bound.numbers[pattern]} elsewhere"
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
                    for patterns in _alternatives(pattern.terms, type(pattern)):
                        for terms in _terms(value, len(patterns), names):
                            yield from self._match_in_any_order(patterns, terms, including)
                            expected = ""
                    if not expected:
                        return
            case Part() if (whole := _part(value, pattern)) is not None:
                yield from self._match(pattern.whole, source(whole), including)
                return
            case Slice() if (piece := last_slice(value)) is not None:
                for numbers in _bounds(pattern, piece, bound):
                    yield from self._match(pattern.whole, source(piece.whole), replace(including, numbers=numbers))
                    expected = ""
                if not expected:
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
            case Concatenation() | Interleaving() if len(pattern.parts) == 2 and (both := _stacked(pattern, value)):
                yield from self.match_all(pattern.parts, both, including)
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


def _alternatives(terms: Sequence[Pattern], kind: type[Sum | Product]) -> Iterator[list[Pattern]]:
    """Yields the terms of a sum, or factors of a product, for each choice among those that may be such themselves."""
    for place, term in enumerate(terms):
        if isinstance(term, OneOf) and any(isinstance(alternative, kind) for alternative in term.alternatives):
            for alternative in term.alternatives:
                yield from _alternatives([*terms[:place], *terms_of(alternative, kind), *terms[place + 1 :]], kind)
            return
    yield sorted(terms, key=_freedom)


def _part(value: ir.Value, pattern: Part) -> ir.Value | None:
    place = pattern.first, pattern.end, pattern.count
    whole = part_of(value, *place)
    if whole is not None or (piece := last_slice(value)) is None:
        return whole
    return piece.whole if piece.is_part(*place) else None


def _bounds(pattern: Slice, piece: LastSlice, bound: Match) -> Iterator[Mapping[Variable, int]]:
    """Yields the numbers of variables with which a pattern takes the positions of a slice."""
    bounds = (pattern.start, pattern.stop, pattern.step)
    variables = [end for end in bounds if isinstance(end, Variable)]
    tried: list[Sequence[int]] = []
    for variable in variables:
        constant = constant_number(bound[variable]) if variable in bound.values else None
        known = bound.numbers.get(variable, constant)
        positions = piece.positions
        tried.append((positions.start, positions.stop, positions.step) if known is None else (int(known),))
    for numbers in itertools.product(*tried):
        chosen = dict(zip(variables, numbers, strict=True))
        ends = [chosen[end] if isinstance(end, Variable) else end for end in bounds]
        if ends[2] != 0 and range(piece.size)[slice(*ends)] == piece.positions:
            yield {**bound.numbers, **chosen}


def _stacked(pattern: Concatenation | Interleaving, value: ir.Value) -> Sequence[ir.Value]:
    """Returns the two values that are stacked and reshaped to be concatenated, or interleaved; none if they are not."""
    op = value.owner
    if isinstance(op, ir.Block) or op.name != "tf.Reshape":
        return ()
    both = joined(plain(op.operands[0]).owner)
    pairs = "neighbors" if isinstance(pattern, Interleaving) else "halves"
    return both[0] if both is not None and both[1:] == (pairs, value) else ()


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
