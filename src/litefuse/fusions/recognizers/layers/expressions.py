"""Expressions in a canonical form: sums of products of powers, so that what is equal by algebra looks alike.

``(x - m) * r`` and ``x * r - r * m`` have one form, as have ``0.5 * x * (1 + erf(z))`` and ``x * erfc(-z) / 2``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from litefuse.fusions.recognizers.pattern import Number, Op, Pattern, Product, Sum
from litefuse.ir.mlir import ir

Monomial: TypeAlias = "tuple[tuple[int, float], ...]"
"""The factors of a product: atoms by their numbers, in order, with their exponents."""

Expression: TypeAlias = "dict[Monomial, float]"
"""A sum: its products, with their coefficients."""

_LONGEST = 24


class TooLong(Exception):  # noqa: N818  not an error: the expression is left as it is
    """An expression has too many terms to be one of a layer."""


@dataclass(frozen=True, eq=False)
class Atom:
    """Operand of an expression.

    Attributes:
        name: ``value``: a value of the model; ``power``: the base of a power; ``mean``; or a function, such as ``erf``.
        value: The value.
        axes: The axes of a mean.
        argument: The argument of a function, or what the mean is of.
    """

    name: str
    value: ir.Value | None = None
    axes: tuple[int, ...] = ()
    argument: Expression | None = None


class Expressions:
    """Makes expressions from each other; equal ones have equal forms.

    Args:
        tolerance: The relative difference between constants that are the same: those of float32 are rounded.
    """

    def __init__(self, tolerance: float = 1e-5) -> None:
        self.atoms: list[Atom] = []
        self._values: dict[ir.Value, int] = {}
        self._tolerance = tolerance

    # Making.

    def value(self, value: ir.Value) -> Expression:
        if value not in self._values:
            self._values[value] = len(self.atoms)
            self.atoms.append(Atom("value", value))
        return {((self._values[value], 1.0),): 1.0}

    def number(self, number: float) -> Expression:
        return {(): number} if number else {}

    def add(self, one: Expression, other: Expression, factor: float = 1.0) -> Expression:
        """Returns one plus the factor times the other."""
        made = dict(one)
        for monomial, coefficient in other.items():
            total = made.get(monomial, 0.0) + factor * coefficient
            vanishes = abs(total) <= self._tolerance * abs(coefficient * factor)
            if vanishes:
                made.pop(monomial, None)
            else:
                made[monomial] = total
        return _short(made)

    def multiply(self, one: Expression, other: Expression) -> Expression:
        made: Expression = {}
        for a, first in one.items():
            for b, second in other.items():
                made = self.add(made, {_product(a, b): first * second})
        return _short(made)

    def power(self, base: Expression, exponent: float) -> Expression:
        """Returns a power; a whole one of a product is the product of powers, any other has its base as an atom."""
        if exponent == 0 or base == {}:
            return self.number(1.0 if exponent == 0 else 0.0)
        if exponent == 1:
            return base
        if len(base) == 1:
            ((monomial, coefficient),) = base.items()
            if not monomial and coefficient > 0:
                return self.number(coefficient**exponent)
            if exponent == round(exponent):
                return {tuple((atom, power * exponent) for atom, power in monomial): coefficient ** int(exponent)}
        elif exponent in {2.0, 3.0}:
            made = base
            for _ in range(int(exponent) - 1):
                made = self.multiply(made, base)
            return made
        return {((self.atom(Atom("power", argument=base)), exponent),): 1.0}

    def function(self, name: str, argument: Expression) -> Expression:
        """Returns an odd function of an expression, with the sign before it."""
        first = min(argument, default=())
        negative = argument.get(first, 0.0) < 0
        inner = {monomial: -coefficient for monomial, coefficient in argument.items()} if negative else argument
        return {((self.atom(Atom(name, argument=inner)), 1.0),): -1.0 if negative else 1.0}

    def exp(self, argument: Expression) -> Expression:
        return {((self.atom(Atom("exp", argument=argument)), 1.0),): 1.0}

    def sigmoid(self, argument: Expression) -> Expression:
        negative = {monomial: -coefficient for monomial, coefficient in argument.items()}
        return self.power(self.add(self.number(1.0), self.exp(negative)), -1.0)

    def mean(self, argument: Expression, axes: tuple[int, ...]) -> Expression:
        """Returns the mean over some axes, kept with size 1: what does not vary along them is a factor of it."""
        made: Expression = {}
        for monomial, coefficient in argument.items():
            fixed = tuple(factor for factor in monomial if self._is_fixed(factor[0], axes))
            rest = tuple(factor for factor in monomial if factor not in fixed)
            if rest:
                inner = self.atom(Atom("mean", axes=axes, argument={rest: 1.0}))
                fixed = _product(fixed, ((inner, 1.0),))
            made = self.add(made, {fixed: coefficient})
        return made

    def atom(self, atom: Atom) -> int:
        """Returns the number of an atom, the same for equal ones."""
        for index, known in enumerate(self.atoms):
            if (known.name, known.axes, known.value) == (atom.name, atom.axes, atom.value) and (
                atom.argument is None or (known.argument is not None and self.equal(known.argument, atom.argument))
            ):
                return index
        self.atoms.append(atom)
        return len(self.atoms) - 1

    # Comparing.

    def equal(self, one: Expression, other: Expression) -> bool:
        """Whether two expressions are the same, but for the rounding of constants."""
        return one.keys() == other.keys() and all(
            math.isclose(coefficient, other[monomial], rel_tol=self._tolerance) for monomial, coefficient in one.items()
        )

    def factor_between(self, one: Expression, other: Expression) -> float | None:
        """Returns the number that one expression is of the other; None if they differ in more than that."""
        if not other or one.keys() != other.keys():
            return None
        factors = [coefficient / other[monomial] for monomial, coefficient in one.items()]
        return (
            factors[0] if all(math.isclose(factor, factors[0], rel_tol=self._tolerance) for factor in factors) else None
        )

    def atoms_of(self, expression: Mapping[Monomial, float]) -> Iterator[Atom]:
        """Yields the atoms of an expression, those inside of functions and means too."""
        for monomial in expression:
            for number, _ in monomial:
                atom = self.atoms[number]
                yield atom
                if atom.argument is not None:
                    yield from self.atoms_of(atom.argument)

    def numbers_of(self, expression: Mapping[Monomial, float]) -> set[int]:
        """Returns the numbers of the atoms of an expression, and of those inside of functions and means."""
        numbers: set[int] = set()
        for monomial in expression:
            for number, _ in monomial:
                argument = self.atoms[number].argument
                numbers |= {number} if argument is None else {number, *self.numbers_of(argument)}
        return numbers

    def _is_fixed(self, number: int, axes: Sequence[int]) -> bool:
        """Whether an atom has the same value all along some axes."""
        atom = self.atoms[number]
        if atom.name == "mean":
            return set(axes) <= set(atom.axes)
        if atom.name == "value" or atom.argument is None:
            return False
        return all(self._is_fixed(inner, axes) for monomial in atom.argument for inner, _ in monomial)


def _product(a: Monomial, b: Monomial) -> Monomial:
    if not a or not b:
        return a or b
    powers = dict(a)
    for atom, exponent in b:
        powers[atom] = powers.get(atom, 0.0) + exponent
    return tuple(sorted((atom, exponent) for atom, exponent in powers.items() if exponent))


def _short(expression: Expression) -> Expression:
    if len(expression) > _LONGEST:
        raise TooLong
    return expression


_POWERS = {"tf.Square": 2.0, "tf.Sqrt": 0.5, "tf.Rsqrt": -0.5}


def expression_of(formula: Pattern, known: Mapping[Pattern, Expression], forms: Expressions) -> Expression:
    """Returns a formula as an expression.

    Args:
        formula: The formula, made of numbers, sums, products, quotients, powers, and functions of each element.
        known: The expressions of its parameters.
        forms: The expressions.
    """
    if formula in known:
        return known[formula]
    match formula:
        case Number():
            return forms.number(formula.value)
        case Sum():
            made: Expression = {}
            for term in formula.terms:
                made = forms.add(made, expression_of(term, known, forms))
            return made
        case Product():
            made = forms.number(1.0)
            for factor in formula.terms:
                made = forms.multiply(made, expression_of(factor, known, forms))
            return made
        case Op():
            operands = [expression_of(operand, known, forms) for operand in formula.operands]
            return _applied(formula.name, operands, forms)
        case _:
            raise TypeError(formula)


def _applied(name: str, operands: list[Expression], forms: Expressions) -> Expression:
    first = operands[0]
    match name:
        case "tf.Sub":
            return forms.add(first, operands[1], -1.0)
        case "tf.RealDiv":
            return forms.multiply(first, forms.power(operands[1], -1.0))
        case "tf.Neg":
            return forms.add({}, first, -1.0)
        case "tf.Pow":
            return forms.power(first, operands[1].get((), 0.0))
        case "tf.Erf" | "tf.Tanh":
            return forms.function(name.removeprefix("tf.").lower(), first)
        case "tf.Exp":
            return forms.exp(first)
        case "tf.Sigmoid":
            return forms.sigmoid(first)
        case _ if name in _POWERS:
            return forms.power(first, _POWERS[name])
        case _:
            raise TypeError(name)
