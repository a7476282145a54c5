"""Sizes of dimensions: numbers, or what a kernel computes in Prepare from the sizes of its inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["ONE", "ZERO", "Size", "Sizes", "number"]


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

    def __str__(self) -> str:
        """Returns the C++ expression."""
        if self.known is not None:
            return str(self.factor)
        names = " * ".join(self.names)
        return names if self.factor == 1 else f"{names} * {self.factor}"


ZERO, ONE = Size(0), Size(1)


def number(value: int) -> Size:
    """Returns a size that is known."""
    return Size(int(value))


@dataclass
class Sizes:
    """The named sizes of a kernel, and what it requires of them.

    Attributes:
        definitions: C++ expressions by names.
        requirements: Conditions in C++, each with the message for when it does not hold.
        equal: Sizes by the names of others that must be equal to them.
        order: The names and the conditions, in the order in which Prepare computes and checks them.
    """

    definitions: dict[str, str] = field(default_factory=dict[str, str])
    requirements: dict[str, str] = field(default_factory=dict[str, str])
    order: list[str] = field(default_factory=list[str])
    equal: dict[str, Size] = field(default_factory=dict[str, Size])
    _named: dict[tuple[object, ...], Size] = field(default_factory=dict[tuple[object, ...], Size])
    _sums: dict[str, tuple[Size, Size]] = field(default_factory=dict[str, tuple[Size, Size]])

    _repeated: dict[Size, frozenset[Size]] = field(default_factory=dict[Size, frozenset[Size]])

    def define(self, name: str, expression: str) -> Size:
        """Names a size that is given by an expression."""
        self.definitions[name] = expression
        self.order.append(name)
        return Size(1, (name,))

    def require(self, condition: str, message: str) -> None:
        if condition not in self.requirements:
            self.requirements[condition] = message
            self.order.append(condition)

    def _derived(self, key: tuple[object, ...], expression: str) -> Size:
        if key not in self._named:
            self._named[key] = self.define(f"size_{len(self.definitions)}", expression)
        return self._named[key]

    def add(self, left: Size, right: Size) -> Size:
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
        first, second = sorted((left, right), key=lambda size: (not size.names, size.factor < 0, str(size)))
        found = self._derived(("+", first, second), f"{first} + {second}".replace("+ -", "- "))
        self._sums[found.names[0]] = (first, second)
        return found

    def subtract(self, left: Size, right: Size) -> Size:
        return self.add(left, Size(-right.factor, right.names))

    def _binary(self, name: str, left: Size, right: Size, compute: Callable[[int, int], int], text: str) -> Size:
        if left.known is not None and right.known is not None:
            return number(compute(left.known, right.known))
        return self._derived((name, left, right), text.format(left, right))

    def divide(self, left: Size, right: Size) -> Size:
        """Returns the quotient of sizes that are not negative, rounded down."""
        exact = left.over(right)
        if exact is not None:
            return exact
        if right.known is None:
            self.require(f"{right} != 0", f"{right} is 0, by which its sizes are divided")
        return self._binary("/", left, right, lambda a, b: a // b if b else 0, "({}) / ({})")

    def remainder(self, left: Size, right: Size) -> Size:
        if left.over(right) is not None:
            return ZERO
        if right.known is None:
            self.require(f"{right} != 0", f"{right} is 0, by which its sizes are divided")
        return self._binary("%", left, right, lambda a, b: a % b if b else 0, "({}) % ({})")

    def largest(self, left: Size, right: Size) -> Size:
        if left == right:
            return left
        return self._binary("max", left, right, max, "std::max<int64_t>({}, {})")

    def smallest(self, left: Size, right: Size) -> Size:
        if left == right:
            return left
        return self._binary("min", left, right, min, "std::min<int64_t>({}, {})")

    def compared(self, sign: str, left: Size, right: Size, compute: Callable[[int, int], bool]) -> Size:
        if left == right:
            return number(compute(0, 0))
        return self._binary(sign, left, right, lambda a, b: int(compute(a, b)), f"({{}}) {sign} ({{}}) ? 1 : 0")

    def chosen(self, condition: Size, left: Size, right: Size) -> Size:
        if condition.known is not None:
            return left if condition.known else right
        if left == right:
            return left
        return self._derived(("?", condition, left, right), f"{condition} != 0 ? {left} : {right}")

    def same(self, left: Size, right: Size, what: str) -> Size:
        """Requires two sizes to be equal, and returns the one of them that is known better."""
        left, right = self.canonical(left), self.canonical(right)
        if left != right:
            for one, other in ((right, left), (left, right)):
                if one.factor == 1 and len(one.names) == 1 and one.names[0] not in other.names:
                    self.equal[one.names[0]] = other
                    break
            self.require(f"{left} == {right}", f"{what}: {left} and {right} differ")
        return right if left.known is None and right.known is not None else left

    def repeated(self, left: Size, right: Size) -> Size:
        """Returns the size of what is broadcast: of two sizes one is 1, or they agree."""
        left, right = self.canonical(left), self.canonical(right)
        if left == right or right in self._repeated.get(left, ()):
            return left
        if left in self._repeated.get(right, ()):
            return right
        self.require(f"{left} == {right} || {left} == 1 || {right} == 1", f"{left} and {right} are not broadcast")
        found = self._derived(("repeated", left, right), f"{left} == 1 ? {right} : {left}")
        parts = {left, right, *self._repeated.get(left, ()), *self._repeated.get(right, ())}
        self._repeated[found] = frozenset(parts)
        return found

    def repeats(self, size: Size, whole: Size) -> Size:
        """Returns the factor of an index along an axis that is broadcast to another size: 0 if it is of size 1."""
        if size == ONE:
            return ZERO
        if size.known is not None or self.canonical(size) == self.canonical(whole):
            return ONE
        return self._derived(("repeats", size), f"{size} == 1 ? 0 : 1")

    def canonical(self, size: Size) -> Size:
        """Returns a size with what must be equal to others replaced by these."""
        found = Size(size.factor)
        for name in size.names:
            found = found * (self.canonical(self.equal[name]) if name in self.equal else Size(1, (name,)))
        return found
