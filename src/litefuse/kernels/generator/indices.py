"""Indices of elements: sums of loop variables and other integers, times sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from litefuse.kernels.generator.sizes import ONE, ZERO, Size, Sizes, number


@dataclass(eq=False)
class Variable:
    """An integer that a loop counts, or that the kernel computes.

    Attributes:
        name: Its name in C++.
        level: The depth of the scope that defines it.
        extent: It is below this; None if that is not known.
        key: What the loop stands for, the same when the emission starts anew; None for a computed integer.
        facts: The points along its loop that it is known to be below, or not to be below.
        is_written: Whether it occurs in C++ other than in the positions of elements.
        below: The variables that a computed integer depends upon.
    """

    name: str
    level: int
    extent: Size | None
    key: tuple[object, ...] | None = None
    facts: Mapping[Size, bool] = field(default_factory=dict[Size, bool])
    is_written: bool = False
    below: frozenset[Variable] = frozenset()


@dataclass(frozen=True)
class Index:
    """A sum.

    Attributes:
        terms: The variables, each with what it is multiplied by, in the order of their names.
        constant: The rest.
    """

    terms: tuple[tuple[Variable, Size], ...] = ()
    constant: Size = ZERO

    @property
    def variables(self) -> frozenset[Variable]:
        return frozenset(variable for variable, _ in self.terms)

    @property
    def loops(self) -> frozenset[Variable]:
        """The loop variables that it depends upon."""
        groups = [variable.below if variable.key is None else (variable,) for variable, _ in self.terms]
        return frozenset(variable for group in groups for variable in group)

    @property
    def level(self) -> int:
        return max((variable.level for variable, _ in self.terms), default=0)

    def plus(self, other: Index, sizes: Sizes) -> Index:
        sums = dict(self.terms)
        for variable, factor in other.terms:
            sums[variable] = sizes.add(sums.get(variable, ZERO), factor)
        return _index(sums.items(), sizes.add(self.constant, other.constant))

    def plus_size(self, size: Size, sizes: Sizes) -> Index:
        return Index(self.terms, sizes.add(self.constant, size))

    def times(self, size: Size) -> Index:
        return _index(((variable, factor * size) for variable, factor in self.terms), self.constant * size)

    def bounds(self) -> tuple[int, int] | None:
        """Returns the smallest and the largest value, if both are known."""
        least = most = self.constant.known
        if least is None or most is None:
            return None
        for variable, factor in self.terms:
            extent = None if variable.extent is None else variable.extent.known
            if factor.known is None or extent is None:
                return None
            reach = factor.known * max(extent - 1, 0)
            least, most = least + min(reach, 0), most + max(reach, 0)
        return least, most

    def is_below(self, size: Size) -> bool:
        """Whether it is known to be from 0 to below a size."""
        bounds = self.bounds()
        if bounds is not None and size.known is not None:
            return bounds[0] >= 0 and bounds[1] < size.known
        if self.constant != ZERO:
            return False
        # v * b + w, where v counts to a, w to b, and the size is a * b; and so on.
        left = size
        for variable, factor in sorted(self.terms, key=lambda term: (-len(term[1].names), -term[1].factor)):
            if variable.extent is None or variable.extent * factor != left:
                return False
            left = factor
        return left == ONE or not self.terms

    def without(self, variables: Iterable[Variable]) -> Index:
        out = set(variables)
        return Index(tuple(term for term in self.terms if term[0] not in out), self.constant)


def _index(terms: Iterable[tuple[Variable, Size]], constant: Size) -> Index:
    kept = [(variable, factor) for variable, factor in terms if factor.factor]
    return Index(tuple(sorted(kept, key=lambda term: term[0].name)), constant)


def at_constant(value: int | Size) -> Index:
    """Returns an index that does not vary."""
    return Index((), value if isinstance(value, Size) else number(value))


def written(index: Index) -> str:
    """Returns an index as C++."""
    parts: list[str] = []
    for variable, factor in sorted(index.terms, key=lambda term: term[0].level):
        sign, size = ("-", Size(-factor.factor, factor.names)) if factor.factor < 0 else ("+", factor)
        parts += [sign, variable.name if size == ONE else f"{variable.name} * {_grouped(size)}"]
    if index.constant.factor or not parts:
        constant = index.constant
        sign = "-" if constant.factor < 0 and parts else "+"
        parts += [sign, str(Size(-constant.factor, constant.names) if sign == "-" else constant)]
    return " ".join(parts[1:]) if parts[0] == "+" else "-" + " ".join(parts[1:])


def _grouped(size: Size) -> str:
    return str(size) if size.known is not None or (len(size.names) == 1 and size.factor == 1) else f"({size})"
