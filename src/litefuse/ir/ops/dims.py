"""Sizes of dimensions: numbers, unknown, and formulas of sizes that only the running model knows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import count
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakValueDictionary

from litefuse.frontends.saved_model.dtypes import Shape

__all__ = [
    "Dim",
    "Formula",
    "Operation",
    "Shape",
    "Symbol",
    "as_size",
    "broadcast_all",
    "broadcast_dims",
    "broadcast_members",
    "is_size",
    "is_stretched",
    "maximum",
    "minimum",
    "product",
    "symbol_in",
    "unknown",
]


class Symbol:
    """A number that is not known; two with the same name, and both sizes or both not, are the same object.

    Attributes:
        name: What the number is: an element or a dimension of a value, or an :class:`Operation` on formulas.
        is_size: Whether it cannot be negative.
        serial: The order in which symbols were made, for one spelling of each formula.
    """

    __slots__ = ("__weakref__", "is_size", "name", "serial")

    def __init__(self, name: Hashable, is_size: bool) -> None:
        self.name = name
        self.is_size = is_size
        self.serial = next(_serials)


_serials = count()
_symbols: WeakValueDictionary[Hashable, Symbol] = WeakValueDictionary()

_Monomial: TypeAlias = "tuple[Symbol, ...]"


class Formula:
    """A polynomial of symbols with integer coefficients that is not just a number.

    Two formulas are equal when they are the same polynomial: equal formulas have equal values, but formulas of equal
    values need not be equal. An operation that is not a polynomial, such as a quotient with a remainder, is a symbol.
    """

    __slots__ = ("_hash", "_is_size", "_terms")

    def __init__(self, terms: tuple[tuple[_Monomial, int], ...], *, is_size: bool = False) -> None:
        self._terms = terms
        self._hash = hash(terms)
        self._is_size = is_size or all(
            factor > 0 and all(symbol.is_size for symbol in monomial) for monomial, factor in terms
        )

    @property
    def is_size(self) -> bool:
        """Whether the number cannot be negative, as far as is known."""
        return self._is_size

    @property
    def terms(self) -> tuple[tuple[_Monomial, int], ...]:
        """Pairs of a product of symbols (empty for the constant term) and its coefficient, in a fixed order."""
        return self._terms

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and (self is other or self._terms == other._terms)

    def __hash__(self) -> int:
        return self._hash

    def __add__(self, other: Dim) -> Dim:
        if isinstance(other, int) and not other:
            return self
        return _formula(_sum(dict(self._terms), _terms(other), 1))

    def __radd__(self, other: int) -> Dim:
        return self + other

    def __sub__(self, other: Dim) -> Dim:
        return _formula(_sum(dict(self._terms), _terms(other), -1))

    def __rsub__(self, other: int) -> Dim:
        return _formula(_sum(dict(_terms(other)), self._terms, -1))

    def __neg__(self) -> Dim:
        return 0 - self

    def __mul__(self, other: Dim) -> Dim:
        if isinstance(other, int):
            return _formula({monomial: factor * other for monomial, factor in self._terms}) if other != 1 else self
        if not _is_short_product(self, other):
            return _operation("product", *sorted((self, other), key=_order))
        total: dict[_Monomial, int] = {}
        for monomial, factor in self._terms:
            for other_monomial, other_factor in other.terms:
                joined = tuple(sorted(monomial + other_monomial, key=lambda symbol: symbol.serial))
                total[joined] = total.get(joined, 0) + factor * other_factor
        return _formula(total)

    def __rmul__(self, other: int) -> Dim:
        return self * other

    def __floordiv__(self, other: Dim) -> Dim:
        exact = _exact_quotient(self, other)
        return _operation("floordiv", self, other) if exact is None else exact

    def __rfloordiv__(self, other: int) -> Dim:
        return 0 if other == 0 else _operation("floordiv", other, self)

    def __mod__(self, other: Dim) -> Dim:
        return _operation("mod", self, other) if _exact_quotient(self, other) is None else 0

    def __rmod__(self, other: int) -> Dim:
        return 0 if other == 0 else _operation("mod", other, self)

    def __repr__(self) -> str:
        texts: list[str] = []
        for monomial, factor in self._terms:
            factors = [str(factor)] if factor != 1 or not monomial else []
            texts.append("*".join([*factors, *(f"s{symbol.serial}" for symbol in monomial)]))
        return "+".join(texts)


Dim: TypeAlias = "int | Formula"
"""A size or another integer: a number where it is known."""


class Operation(NamedTuple):
    """An operation on formulas that is not a polynomial, as the name of a symbol.

    Attributes:
        operator: ``broadcast``, ``floordiv``, ``maximum``, ``minimum``, ``mod`` or ``product``.
        operands: What it is computed of, in a fixed order where any gives the same; for ``broadcast`` the different
            sizes that the result is the common one of.
    """

    operator: str
    operands: tuple[Dim, ...]


def unknown(key: Hashable, *, is_size: bool) -> Formula:
    """The number that ``key`` names; the same key always gives an equal formula.

    Args:
        key: What the number is.
        is_size: Whether it cannot be negative.
    """
    symbol = _symbols.get((key, is_size))
    if symbol is None:
        symbol = _symbols[key, is_size] = Symbol(key, is_size)
    return Formula((((symbol,), 1),))


def symbol_in(dim: Dim) -> Symbol | None:
    """The symbol that a formula consists of; None for a number, and for any other formula."""
    ((monomial, factor), *others) = _terms(dim)
    return monomial[0] if factor == 1 and len(monomial) == 1 and not others else None


def is_size(dim: Dim) -> bool:
    """Whether a number cannot be negative, as far as can be told."""
    return dim >= 0 if isinstance(dim, int) else dim.is_size


def as_size(dim: Dim) -> Dim:
    """The same number where it is the size of a dimension, and so not negative."""
    return dim if isinstance(dim, int) or dim.is_size else Formula(dim.terms, is_size=True)


def maximum(a: Dim, b: Dim) -> Dim:
    """The larger one."""
    return _chosen("maximum", a, b, larger=True)


def minimum(a: Dim, b: Dim) -> Dim:
    """The smaller one."""
    return _chosen("minimum", a, b, larger=False)


def broadcast_dims(a: Dim, b: Dim) -> Dim | None:
    """The size of two dimensions that are broadcast to each other; None when they do not fit."""
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if isinstance(a, int):
        return None if isinstance(b, int) else a
    if isinstance(b, int):
        return b
    members = sorted({*broadcast_members(a), *broadcast_members(b)}, key=_order)
    return unknown(Operation("broadcast", tuple(members)), is_size=True)


def broadcast_members(dim: Dim) -> tuple[Dim, ...]:
    """The different sizes that a size is the common one of; itself, if it is not that of several."""
    symbol = symbol_in(dim)
    if symbol is not None and isinstance(symbol.name, Operation) and symbol.name.operator == "broadcast":
        return symbol.name.operands
    return (dim,)


def is_stretched(shape: Sequence[Dim], other: Sequence[Dim]) -> bool:
    """Whether each size is the other shape's, or what that and further sizes are broadcast to.

    Shapes of which this is true are the same if they have equally many elements: no size is smaller than the other
    shape's. (Unless there are none, and a size of 1 was broadcast to 0: then both are empty.)
    """
    return len(shape) == len(other) and all(
        {*broadcast_members(size)} >= {*broadcast_members(own)} for size, own in zip(shape, other, strict=True)
    )


def broadcast_all(first: Dim, *others: Dim) -> Dim:
    """The size of dimensions that are broadcast to each other; of sizes that do not fit, which none have, the first."""
    for other in others:
        common = broadcast_dims(first, other)
        first = first if common is None else common
    return first


def product(dims: Iterable[Dim]) -> Dim:
    """The product of sizes; 1 of none."""
    one: Dim = 1
    return reduce(lambda total, dim: total * dim, dims, one)


def _chosen(name: str, a: Dim, b: Dim, *, larger: bool) -> Dim:
    difference = a - b
    if isinstance(difference, int):
        return a if (difference >= 0) == larger else b
    if is_size(difference):
        return a if larger else b
    if is_size(-difference):
        return b if larger else a
    for one, other in ((a, b), (b, a)):
        if _is_bounded(one, other, "minimum" if larger else "maximum"):
            return one
    sizes = [is_size(a), is_size(b)]
    return _operation(name, *sorted((a, b), key=_order), is_size=any(sizes) if larger else all(sizes))


def _is_bounded(dim: Dim, chosen: Dim, operator: str) -> bool:
    """Whether ``chosen`` is the minimum (or maximum) of a number and another: it is not larger (or smaller) then."""
    symbol = symbol_in(chosen)
    name = None if symbol is None else symbol.name
    return isinstance(name, Operation) and name.operator == operator and dim in name.operands


def _order(dim: Dim) -> tuple[Any, ...]:
    if isinstance(dim, int):
        return ((-1, dim),)
    return tuple((len(monomial), *(symbol.serial for symbol in monomial), factor) for monomial, factor in dim.terms)


def _operation(name: str, a: Dim, b: Dim, *, is_size: bool | None = None) -> Formula:
    """Returns the result of an operation that is not a polynomial, as a symbol."""
    return unknown(Operation(name, (a, b)), is_size=_are_sizes(a, b) if is_size is None else is_size)


def _are_sizes(a: Dim, b: Dim) -> bool:
    return is_size(a) and is_size(b)


def _terms(dim: Dim) -> tuple[tuple[_Monomial, int], ...]:
    return dim.terms if isinstance(dim, Formula) else (((), dim),)


def _sum(total: dict[_Monomial, int], terms: Iterable[tuple[_Monomial, int]], sign: int) -> dict[_Monomial, int]:
    for monomial, factor in terms:
        total[monomial] = total.get(monomial, 0) + sign * factor
    return total


# A product that is multiplied with itself again and again has as many terms, or digits, as anyone likes.
_MOST_TERMS, _HIGHEST_DEGREE, _MOST_BITS = 1 << 10, 1 << 6, 1 << 8


def _is_short_product(a: Formula, b: Formula) -> bool:
    """Whether a product is written out; one that is not is a symbol of its own."""
    if len(a.terms) * len(b.terms) > _MOST_TERMS:
        return False
    degree = sum(max(len(monomial) for monomial, _ in formula.terms) for formula in (a, b))
    bits = sum(max(factor.bit_length() for _, factor in formula.terms) for formula in (a, b))
    return degree <= _HIGHEST_DEGREE and bits <= _MOST_BITS


def _formula(terms: Mapping[_Monomial, int]) -> Dim:
    left = {monomial: factor for monomial, factor in terms.items() if factor}
    if not left:
        return 0
    if len(left) == 1 and () in left:
        return left[()]
    if len(left) == 1:
        return Formula(tuple(left.items()))
    return Formula(tuple(sorted(left.items(), key=lambda term: [symbol.serial for symbol in term[0]])))


def _exact_quotient(a: Formula, b: Dim) -> Dim | None:
    """The quotient of a division by a product without a remainder, whatever the symbols are."""
    if a == b:
        return 1
    divisors = _terms(b)
    if len(divisors) != 1:
        return None
    ((divisor, number),) = divisors
    if not number:
        return None
    quotient: dict[_Monomial, int] = {}
    for monomial, factor in a.terms:
        left = list(monomial)
        for symbol in divisor:
            if symbol not in left:
                return None
            left.remove(symbol)
        if factor % number:
            return None
        quotient[tuple(left)] = factor // number
    return _formula(quotient)
