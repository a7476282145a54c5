"""Patterns: formulas over TensorFlow ops, written as Python functions.

A formula takes patterns and returns patterns::

    def gated(x, gate, weight):
        return sigmoid(matmul(gate, weight)) * tanh(x)

It is matched backwards from a value that may be its result (``match``). Sums and products match in any order and with
any brackets, sums with any op that adds (``AddV2``, ``Add``, ``BiasAdd``); ops that only forward a value are ignored.
Numbers in a formula are constants of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import EllipsisType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from litefuse.ir.mlir import ir


class Pattern:
    """A part of a formula. The same object in several places is the same value."""

    __array_ufunc__ = None  # numbers and functions of numpy are not for patterns

    def __add__(self, other: Operand) -> Pattern:
        return Sum((*terms_of(self, Sum), *terms_of(_pattern(other), Sum)))

    def __radd__(self, other: float) -> Pattern:
        return _pattern(other) + self

    def __mul__(self, other: Operand) -> Pattern:
        return Product((*terms_of(self, Product), *terms_of(_pattern(other), Product)))

    def __rmul__(self, other: float) -> Pattern:
        return _pattern(other) * self

    def __sub__(self, other: Operand) -> Pattern:
        return Op("tf.Sub", (self, _pattern(other)))

    def __rsub__(self, other: float) -> Pattern:
        return _pattern(other) - self

    def __truediv__(self, other: Operand) -> Pattern:
        return Op("tf.RealDiv", (self, _pattern(other)))

    def __rtruediv__(self, other: float) -> Pattern:
        return _pattern(other) / self

    def __pow__(self, other: Operand) -> Pattern:
        return Op("tf.Pow", (self, _pattern(other)))

    def __neg__(self) -> Pattern:
        return OneOf((Op("tf.Neg", (self,)), self * -1))

    def __getitem__(self, index: tuple[EllipsisType, slice]) -> Pattern:
        """Matches a slice along the last dimension: ``x[..., :h]``, ``x[..., 1::2]``.

        A bound is an integer, or a keyword-only parameter of the formula, which becomes the bound that the model has.
        """
        match index:
            case (EllipsisType(), slice() as bounds):
                return Slice(self, bounds.start, bounds.stop, bounds.step)
            case _:
                raise TypeError("a pattern is sliced along its last dimension: x[..., begin:end:step]")


Operand: TypeAlias = "Pattern | float"


@dataclass(frozen=True, eq=False)
class Variable(Pattern):
    """An input of the formula.

    Attributes:
        name: A description for messages: ``the kernel``.
        condition: Whether a value can be bound to it.
    """

    name: str
    condition: Callable[[ir.Value], bool] = lambda _: True

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class Number(Pattern):
    """A constant whose elements are all one number, to the precision of float32."""

    value: float

    def __str__(self) -> str:
        return f"{self.value:g}"


@dataclass(frozen=True, eq=False)
class Op(Pattern):
    """One result of an op by its name in MLIR, with some of its attributes as Python values."""

    name: str
    operands: tuple[Pattern, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __str__(self) -> str:
        return self.name.removeprefix("tf.")


@dataclass(frozen=True, eq=False)
class Sum(Pattern):
    """A sum of any number of terms."""

    terms: tuple[Pattern, ...]

    def __str__(self) -> str:
        return f"a sum of {len(self.terms)}"


@dataclass(frozen=True, eq=False)
class Product(Pattern):
    """A product of any number of factors."""

    terms: tuple[Pattern, ...]

    def __str__(self) -> str:
        return "Mul" if len(self.terms) == 2 else f"a product of {len(self.terms)}"


@dataclass(frozen=True, eq=False)
class Part(Pattern):
    """Some of the equal parts of a value along its last dimension."""

    whole: Pattern
    first: int
    end: int
    count: int

    def __str__(self) -> str:
        numbers = f"part {self.first}" if self.end == self.first + 1 else f"parts {self.first} to {self.end - 1}"
        return f"{numbers} of {self.count}"


@dataclass(frozen=True, eq=False)
class Slice(Pattern):
    """Some positions of a value along its last dimension; a variable as a bound stands for any number."""

    whole: Pattern
    start: Variable | int | None
    stop: Variable | int | None
    step: Variable | int | None

    def __str__(self) -> str:
        bounds = ("" if bound is None else str(bound) for bound in (self.start, self.stop, self.step))
        return f"a slice [..., {':'.join(bounds).removesuffix(':')}]"


@dataclass(frozen=True, eq=False)
class Place:
    """An unknown index among several equal parts, the same wherever this object is used.

    Attributes:
        name: A description of the part there, for messages: ``the input gate``.
    """

    name: str


@dataclass(frozen=True, eq=False)
class PlacedPart(Pattern):
    """One of the equal parts of a value along its last dimension."""

    whole: Pattern
    place: Place
    count: int

    def __str__(self) -> str:
        return f"a part of {self.count}"


@dataclass(frozen=True, eq=False)
class Row(Pattern):
    """One row of a matrix."""

    whole: Pattern
    index: int
    count: int

    def __str__(self) -> str:
        return f"row {self.index} of {self.count}"


@dataclass(frozen=True, eq=False)
class Concatenation(Pattern):
    """A concatenation along the last dimension."""

    parts: tuple[Pattern, ...]

    def __str__(self) -> str:
        return "ConcatV2 along the last axis"


@dataclass(frozen=True, eq=False)
class Interleaving(Pattern):
    """The elements of two values along the last dimension, in turn."""

    parts: tuple[Pattern, Pattern]

    def __str__(self) -> str:
        return "two values interleaved along the last axis"


@dataclass(frozen=True, eq=False)
class Transposition(Pattern):
    """A transposed matrix."""

    matrix: Pattern

    def __str__(self) -> str:
        return "Transpose"


@dataclass(frozen=True, eq=False)
class OneOf(Pattern):
    """Any of several formulas."""

    alternatives: tuple[Pattern, ...]

    def __str__(self) -> str:
        return " or ".join(dict.fromkeys(map(str, self.alternatives)))


@dataclass(frozen=True, eq=False)
class Function:
    """An unknown elementwise function, the same wherever it is used: an activation that may be any.

    Attributes:
        name: A description for messages.
    """

    name: str

    def __call__(self, a: Pattern) -> Pattern:
        return Applied(self, a)


@dataclass(frozen=True, eq=False)
class Applied(Pattern):
    """A function of a value."""

    function: Function
    operand: Pattern

    def __str__(self) -> str:
        return f"{self.function.name} of {self.operand}"


def terms_of(pattern: Pattern, kind: type[Sum | Product]) -> tuple[Pattern, ...]:
    """Returns the terms of a sum, or the factors of a product; of any other pattern itself alone."""
    return pattern.terms if isinstance(pattern, kind) else (pattern,)


def _pattern(value: Operand) -> Pattern:
    if isinstance(value, Pattern):
        return value
    try:
        return Number(float(value))
    except (TypeError, ValueError):
        raise TypeError(f"{value!r} is neither a pattern nor a number: make it a parameter") from None


def op(name: str, *operands: Operand, **attributes: Any) -> Pattern:
    """Matches the result of any op.

    Args:
        name: Its name in TensorFlow, such as ``Erf``.
        *operands: Its operands.
        **attributes: Those of its attributes that must be as given.
    """
    return Op(f"tf.{name}", tuple(map(_pattern, operands)), attributes)


def matmul(a: Pattern, b: Pattern, *, transpose_b: bool = False) -> Pattern:
    """Matches the product of two matrices; the second may be transposed, the first may not."""
    return op("MatMul", a, b, transpose_b=transpose_b)


def transposed(matrix: Pattern) -> Pattern:
    """Matches the transpose of a matrix."""
    return Transposition(matrix)


def _of_each_element(name: str) -> Callable[[Pattern], Pattern]:
    return lambda a: op(name, a)


#: Match functions of each element: the logistic function, the hyperbolic tangent, the element or 0 where it is less,
#: the error function, the exponential function, the square root and its inverse.
sigmoid, tanh, relu, erf = map(_of_each_element, ("Sigmoid", "Tanh", "Relu", "Erf"))
exp, sqrt, rsqrt = map(_of_each_element, ("Exp", "Sqrt", "Rsqrt"))


def square(a: Pattern) -> Pattern:
    """Matches the square of each element: ``Square``, a product with itself, or a power of 2."""
    return OneOf((op("Square", a), a * a, a**2))


def concat(values: Sequence[Pattern]) -> Pattern:
    """Matches the concatenation of values along the last dimension."""
    return Concatenation(tuple(values))


def interleaved(a: Pattern, b: Pattern) -> Pattern:
    """Matches the elements of two values along the last dimension in turn, as of what is stacked and reshaped."""
    return Interleaving((a, b))


def parts(whole: Pattern, count: int) -> list[Pattern]:
    """Matches the equal parts of a value along its last dimension."""
    return [Part(whole, index, index + 1, count) for index in range(count)]


def placed_parts(whole: Pattern, places: Sequence[Place]) -> list[Pattern]:
    """Matches the equal parts of a value along its last dimension, each at its place; there are as many as places."""
    return [PlacedPart(whole, place, len(places)) for place in places]


def rows(whole: Pattern, count: int) -> list[Pattern]:
    """Matches the rows of a matrix that has ``count`` of them."""
    return [Row(whole, index, count) for index in range(count)]


def one_of(*alternatives: Pattern) -> Pattern:
    """Matches any of several formulas."""
    return OneOf(alternatives)
