"""Sizes of dimensions: numbers, or what a kernel computes in Prepare from the sizes of its inputs."""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import NamedTuple

#: The largest size of a dimension of a tensor.
LARGEST_DIMENSION = (1 << 31) - 1
_LARGEST_COUNT = (1 << 63) - 1


@dataclass(frozen=True)
class Size:
    """A product of a number and named sizes.

    Attributes:
        factor: The number.
        names: The names of the other factors, sorted.
    """

    factor: int
    names: tuple[str, ...] = ()

    @property
    def known(self) -> int | None:
        """The number; None if it is known in Prepare only."""
        return self.factor if not self.names or self.factor == 0 else None

    def __mul__(self, other: Size) -> Size:
        factor = self.factor * other.factor
        return Size(factor, tuple(sorted((*self.names, *other.names))) if factor else ())

    def over(self, other: Size) -> Size | None:
        """Returns the exact quotient; None if it is not known to be one."""
        if other.factor == 0 or self.factor % other.factor:
            return None
        if self.factor == 0:
            return ZERO
        left = Counter(self.names)
        left.subtract(other.names)
        if any(count < 0 for count in left.values()):
            return None
        return Size(self.factor // other.factor, tuple(sorted(left.elements())))

    def value(self, values: Mapping[str, int]) -> int:
        """Returns what it is where the named sizes are given."""
        return self.factor * math.prod(values[name] for name in self.names)

    def __str__(self) -> str:
        """Returns the C++ expression."""
        if self.known is not None:
            return str(self.factor)
        names = " * ".join(self.names)
        return names if self.factor == 1 else f"{names} * {self.factor}"


ZERO, ONE = Size(0), Size(1)


def product(sizes: Iterable[Size]) -> Size:
    """Returns the product of sizes."""
    return reduce(operator.mul, sizes, ONE)


def number(value: int) -> Size:
    """Returns a size that is known."""
    return Size(int(value))


class Definition(NamedTuple):
    """Definition of a named size.

    Attributes:
        text: The C++ expression.
        operands: The sizes that it is of; none for that of an input.
        compute: Computes it from the operands, None where it cannot be.
        bounds: The least and the largest that it can be.
    """

    text: str
    operands: tuple[Size, ...]
    compute: Callable[[Sequence[int]], int | None]
    bounds: tuple[int, int]


class Requirement(NamedTuple):
    """A condition on sizes without which a kernel refuses to run.

    Attributes:
        message: Says why it does not run where it does not hold.
        left: A size that is compared.
        right: What it is compared with.
    """

    message: str
    left: Size = ZERO
    right: Size = ZERO


@dataclass
class Sizes:
    """The named sizes of a kernel, and what it requires of them.

    Attributes:
        definitions: The sizes by their names.
        requirements: What must hold, by the conditions in C++.
        order: The names and the conditions, in the order in which Prepare computes and checks them.
        equal: Sizes by the names of others that must be equal to them.
        compared: The pairs of sizes of which the larger decides something.
    """

    definitions: dict[str, Definition] = field(default_factory=dict[str, Definition])
    requirements: dict[str, Requirement] = field(default_factory=dict[str, Requirement])
    order: list[str] = field(default_factory=list[str])
    equal: dict[str, Size] = field(default_factory=dict[str, Size])
    compared: dict[tuple[Size, Size], None] = field(default_factory=dict[tuple[Size, Size], None])
    _named: dict[tuple[object, ...], Size] = field(default_factory=dict[tuple[object, ...], Size])
    _sums: dict[str, tuple[Size, Size]] = field(default_factory=dict[str, tuple[Size, Size]])
    _repeated: dict[Size, frozenset[Size]] = field(default_factory=dict[Size, frozenset[Size]])
    _counted: set[tuple[Size, ...]] = field(default_factory=set[tuple[Size, ...]])

    def of_input(self, name: str, expression: str) -> Size:
        """Names a size of an input."""
        self.definitions[name] = Definition(expression, (), _given, (0, LARGEST_DIMENSION))
        self.order.append(name)
        return Size(1, (name,))

    @property
    def open(self) -> list[str]:
        """The names of the inputs' sizes."""
        return [name for name, definition in self.definitions.items() if not definition.operands]

    def values(self, inputs: Mapping[str, int]) -> dict[str, int] | None:
        """Returns what all named sizes are where those of the inputs are given; None where one cannot be computed."""
        known = dict(inputs)
        for name, definition in self.definitions.items():
            if definition.operands:
                made = definition.compute([operand.value(known) for operand in definition.operands])
                if made is None:
                    return None
                known[name] = made
        return known

    def bounds(self, size: Size) -> tuple[int, int]:
        """Returns the least and the largest that a size can be."""
        least, most = 1, 1
        for name in size.names:
            low, high = self.definitions[name].bounds
            ends = [least * low, least * high, most * low, most * high]
            least, most = min(ends), max(ends)
        ends = [least * size.factor, most * size.factor]
        return min(ends), max(ends)

    # What a kernel requires

    def require(self, condition: str, requirement: Requirement) -> None:
        if condition not in self.requirements:
            self.requirements[condition] = requirement
            self.order.append(condition)
            self.compared.setdefault((requirement.left, requirement.right))

    def require_least(self, size: Size, least: int, message: str) -> bool:
        """Requires a size to be no less than a number; returns whether it can be."""
        low, high = self.bounds(size)
        if low < least <= high:
            self.require(f"{size} >= {least}", Requirement(message, size, number(least)))
        return high >= least

    def require_most(self, size: Size, whole: Size, message: str) -> bool:
        """Requires a size to be no more than another; returns whether it can be."""
        more = self._sum(whole, Size(-size.factor, size.names))
        least, most = (more.known, more.known) if more is not None and more.known is not None else (None, None)
        if least is None or most is None:
            (low, high), (whole_low, whole_high) = self.bounds(size), self.bounds(whole)
            least, most = whole_low - high, whole_high - low
        if least < 0 <= most:
            self.require(f"{size} <= {whole}", Requirement(message, size, whole))
        return most >= 0

    def require_range(self, size: Size, least: int, most: int, message: str) -> bool:
        """Requires a size to be within limits; returns whether it can be."""
        return self.require_least(size, least, message) and self.require_most(size, number(most), message)

    def require_tensor(self, shape: Sequence[Size]) -> bool:
        """Requires a shape to be that of a tensor whose elements can be counted; returns whether it can be."""
        key = tuple(shape)
        if key in self._counted:
            return True
        self._counted.add(key)
        if not all(self.require_least(size, 0, "a tensor has a negative size") for size in shape):
            return False
        least = math.prod(max(self.bounds(size)[0], 1) for size in shape)
        most = math.prod(max(self.bounds(size)[1], 1) for size in shape)
        if least <= _LARGEST_COUNT < most:
            listed = ", ".join(map(str, shape))
            self.require(f"IsCountable({{{listed}}})", Requirement("a tensor has more elements than can be counted"))
        return least <= _LARGEST_COUNT

    def same(self, left: Size, right: Size, what: str) -> Size:
        """Requires two sizes to be equal, and returns the one of them that is known better."""
        left, right = self.canonical(left), self.canonical(right)
        if left != right:
            for one, other in ((right, left), (left, right)):
                if one.factor == 1 and len(one.names) == 1 and one.names[0] not in other.names:
                    self.equal[one.names[0]] = other
                    break
            self.require(f"{left} == {right}", Requirement(f"{what}: {left} and {right} differ", left, right))
        return right if left.known is None and right.known is not None else left

    # Arithmetic

    def _derived(
        self,
        key: tuple[object, ...],
        expression: str,
        operands: Sequence[Size],
        compute: Callable[[Sequence[int]], int | None],
        bounds: tuple[int, int],
    ) -> Size:
        if key not in self._named:
            name = f"size_{len(self.definitions)}"
            self.definitions[name] = Definition(expression, tuple(operands), compute, bounds)
            self.order.append(name)
            self._named[key] = Size(1, (name,))
        return self._named[key]

    def _sum(self, left: Size, right: Size) -> Size | None:
        """Returns a sum that needs no name; None if it does."""
        if left.names == right.names or not left.factor or not right.factor:
            names = left.names if left.factor else right.names
            total = left.factor + right.factor
            return Size(total, names if total else ())
        for one, other in ((left, right), (right, left)):  # (a + b) - b
            if one.factor == 1 and len(one.names) == 1 and one.names[0] in self._sums:
                first, second = self._sums[one.names[0]]
                for part, rest in ((first, second), (second, first)):
                    if part == Size(-other.factor, other.names):
                        return rest
                    if part.names == other.names:
                        return self.add(rest, self.add(part, other))
        return None

    def add(self, left: Size, right: Size) -> Size:
        plain = self._sum(left, right)
        if plain is not None:
            return plain
        first, second = sorted((left, right), key=lambda size: (not size.names, size.factor < 0, str(size)))
        least, most = (one + other for one, other in zip(self.bounds(first), self.bounds(second), strict=True))
        text = f"{first} + {second}".replace("+ -", "- ")
        made = self._derived(("+", first, second), text, (first, second), sum, (least, most))
        self._sums[made.names[0]] = (first, second)
        return made

    def subtract(self, left: Size, right: Size) -> Size:
        return self.add(left, Size(-right.factor, right.names))

    def _binary(
        self, name: str, left: Size, right: Size, compute: Callable[[int, int], int | None], bounds: tuple[int, int]
    ) -> Size:
        if left.known is not None and right.known is not None:
            made = compute(left.known, right.known)
            if made is not None:
                return number(made)
        text = f"({left}) {name} ({right})" if not name.isidentifier() else f"{name}({left}, {right})"
        return self._derived((name, left, right), text, (left, right), lambda operands: compute(*operands), bounds)

    def divide(self, left: Size, right: Size, *, truncated: bool = False) -> Size:
        """Returns the quotient of sizes, rounded down unless it is to be truncated."""
        exact = left.over(right)
        if exact is not None:
            return exact
        self._require_divisor(right)
        (least, most), (low, _) = self.bounds(left), self.bounds(right)
        bounds = (0, most) if least >= 0 and low >= 0 else (-max(abs(least), abs(most)), max(abs(least), abs(most)))
        if truncated and (least < 0 or low < 0):
            return self._binary("Truncated", left, right, _truncated, bounds)
        return self._binary("Floored", left, right, lambda a, b: a // b if b else None, bounds)

    def remainder(self, left: Size, right: Size) -> Size:
        """Returns the rest of a quotient that is rounded down."""
        if left.over(right) is not None:
            return ZERO
        self._require_divisor(right)
        low, high = self.bounds(right)
        return self._binary(
            "FlooredRest", left, right, lambda a, b: a % b if b else None, (min(low + 1, 0), max(high - 1, 0))
        )

    def _require_divisor(self, size: Size) -> None:
        low, high = self.bounds(size)
        if low <= 0 <= high:
            self.require(f"{size} != 0", Requirement(f"{size} is 0, by which its sizes are divided", size, ZERO))

    def _decided(self, left: Size, right: Size) -> tuple[int, int] | None:
        """Returns two numbers in the order of two sizes, where that is the same for all sizes of the inputs."""
        difference = self._sum(left, Size(-right.factor, right.names))
        if difference is not None and difference.known is not None:
            return difference.known, 0
        (low, high), (other_low, other_high) = self.bounds(left), self.bounds(right)
        return (low, other_low) if high < other_low or low > other_high else None

    def _chosen(self, name: str, left: Size, right: Size, compute: Callable[[int, int], int]) -> Size:
        decided = self._decided(left, right)
        if decided is not None:
            return left if compute(*decided) == decided[0] else right
        (low, high), (other_low, other_high) = self.bounds(left), self.bounds(right)
        # Such as the larger of a size and 0.
        if compute(low, other_high) == low and compute(high, other_low) == high:
            return left
        if compute(low, other_high) == other_high and compute(high, other_low) == other_low:
            return right
        self.compared.setdefault((left, right))
        return self._binary(name, left, right, compute, (compute(low, other_low), compute(high, other_high)))

    def largest(self, left: Size, right: Size) -> Size:
        return self._chosen("LargerOf", left, right, max)

    def smallest(self, left: Size, right: Size) -> Size:
        return self._chosen("SmallerOf", left, right, min)

    def compare(self, sign: str, left: Size, right: Size, compute: Callable[[int, int], bool]) -> Size:
        """Returns 1 where a comparison holds, 0 where it does not."""
        decided = self._decided(left, right)
        if decided is not None:
            return number(compute(*decided))
        self.compared.setdefault((left, right))
        return self._binary(sign, left, right, lambda a, b: int(compute(a, b)), (0, 1))

    def chosen(self, condition: Size, left: Size, right: Size) -> Size:
        """Returns the one size where a condition is not 0, and the other where it is."""
        if condition.known is not None:
            return left if condition.known else right
        if left == right:
            return left
        ends = [*self.bounds(left), *self.bounds(right)]
        return self._derived(
            ("?", condition, left, right),
            f"Chosen({condition}, {left}, {right})",
            (condition, left, right),
            lambda operands: operands[1] if operands[0] else operands[2],
            (min(ends), max(ends)),
        )

    def from_end(self, place: Size, whole: Size) -> Size:
        """Returns a place along an axis, which is counted from its end where it is negative."""
        is_negative = self.compare("<", place, ZERO, lambda a, b: a < b)
        return self.chosen(is_negative, self.add(whole, place), place) if is_negative != ZERO else place

    def repeated(self, left: Size, right: Size) -> Size:
        """Returns the size of what is broadcast: of two sizes one is 1, or they agree."""
        left, right = self.canonical(left), self.canonical(right)
        if left == right or right in self._repeated.get(left, ()):
            return left
        if left in self._repeated.get(right, ()):
            return right
        self.require(
            f"{left} == {right} || {left} == 1 || {right} == 1",
            Requirement(f"{left} and {right} are not broadcast", left, right),
        )
        ends = [*self.bounds(left), *self.bounds(right)]
        made = self._derived(
            ("repeated", left, right),
            f"Chosen({left} == 1, {right}, {left})",
            (left, right),
            lambda operands: operands[1] if operands[0] == 1 else operands[0],
            (min(ends), max(ends)),
        )
        parts = {left, right, *self._repeated.get(left, ()), *self._repeated.get(right, ())}
        self._repeated[made] = frozenset(parts)
        return made

    def repeats(self, size: Size, whole: Size) -> Size:
        """Returns the factor of an index along an axis that is broadcast to another size: 0 if it is of size 1."""
        if size == ONE:
            return ZERO
        if size.known is not None or self.canonical(size) == self.canonical(whole):
            return ONE
        return self._derived(("repeats", size), f"{size} != 1", (size,), lambda operands: int(operands[0] != 1), (0, 1))

    def canonical(self, size: Size) -> Size:
        """Returns a size with what must be equal to others replaced by these."""
        made = Size(size.factor)
        for name in size.names:
            made = made * (self.canonical(self.equal[name]) if name in self.equal else Size(1, (name,)))
        return made


def _given(_: Sequence[int]) -> int | None:
    return None


def _truncated(left: int, right: int) -> int | None:
    if right == 0:
        return None
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient
