"""A graph while it is made: its values so far, and the random choices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

FLOATS = frozenset({"float32"})
INTEGERS = frozenset({"int32", "int64"})
NUMBERS = FLOATS | INTEGERS
ANY = NUMBERS | {"bool", "int8", "uint8", "float16"}

_MOST_ELEMENTS = 20_000
_MOST_DIMENSIONS = 5

Option = TypeVar("Option")


class NoStep(Exception):  # noqa: N818  no error: another step is tried
    """A step cannot be applied to a value."""


@dataclass(frozen=True)
class _Step:
    apply: Callable[[Graph, Any], Any]
    dtypes: frozenset[str]
    ranks: Collection[int]
    sized: bool
    resizes: bool

    def takes(self, x: Any) -> bool:
        return (
            x.dtype.name in self.dtypes
            and x.shape.rank in self.ranks
            and not (self.sized and None in x.shape.as_list()[1:])
        )


STEPS: list[_Step] = []


def step(
    dtypes: frozenset[str] = FLOATS,
    ranks: Collection[int] = range(_MOST_DIMENSIONS + 2),
    *,
    sized: bool = False,
    resizes: bool = False,
) -> Callable[[Callable[[Graph, Any], Any]], Callable[[Graph, Any], Any]]:
    """Registers a step: a function of the graph and one of its values, that returns a new value.

    Args:
        dtypes: The element types that it takes.
        ranks: The ranks that it takes.
        sized: Whether it takes only what has known sizes, but for the first.
        resizes: Whether an open size of its result may be another, though the shapes look alike.
    """

    def register(function: Callable[[Graph, Any], Any]) -> Callable[[Graph, Any], Any]:
        STEPS.append(_Step(function, dtypes, ranks, sized, resizes))
        return function

    return register


@dataclass
class Graph:
    """A graph under construction.

    Attributes:
        tf: The module ``tensorflow``.
        random: Where all choices come from.
        variables: The variables that it has, and where new ones go.
        values: What was computed so far, inputs first.
        log: The steps taken, with the shape that each was applied to.
        depth: How many functions stand around what is made.
    """

    tf: Any
    random: np.random.Generator
    variables: list[Any]
    values: list[Any] = field(default_factory=list[Any])
    log: list[str] = field(default_factory=list[str])
    depth: int = 0

    def pick(self, options: Sequence[Option]) -> Option:
        """One of them."""
        return options[int(self.random.integers(len(options)))]

    def number(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, both included."""
        return int(self.random.integers(low, high + 1))

    def chance(self, probability: float) -> bool:
        """True so often."""
        return bool(self.random.random() < probability)

    def axis(self, x: Any) -> int:
        """One of its axes, counted from either end."""
        return self.number(-x.shape.rank, x.shape.rank - 1)

    def constant(self, shape: Sequence[int], dtype: str = "float32") -> Any:
        """A constant: random elements, or all the same."""
        return self.tf.constant(self.elements(shape, dtype))

    def elements(self, shape: Sequence[int], dtype: str = "float32") -> np.ndarray[Any, Any]:
        """Elements of a constant or a variable."""
        if dtype in {"float32", "float16"}:
            if self.chance(0.1):
                return np.full(shape, self.pick([0, 1, -1, 0.5, 2]), dtype)
            return np.asarray(self.random.normal(size=shape) * self.pick([0.5, 1, 2])).astype(dtype)
        if dtype == "bool":
            return np.asarray(self.random.random(size=shape) < 0.5)
        low = 0 if dtype == "uint8" else -4
        return np.asarray(self.random.integers(low, 5, size=shape)).astype(dtype)

    def broadcastable(self, x: Any) -> list[int]:
        """A shape that broadcasts to that of ``x`` whatever its open sizes are."""
        sizes = [1 if size is None or self.chance(0.35) else size for size in x.shape.as_list()]
        return sizes[self.number(0, len(sizes)) :] if self.chance(0.6) else sizes

    def operand(self, x: Any) -> Any:
        """Something to compute with ``x``: a value that goes with it if there is one, or a constant."""
        if self.chance(0.4):
            fitting = [value for value in self.values if value.dtype == x.dtype and self._fits(x, value)]
            if fitting:
                return self.pick(fitting)
        return self.constant(self.broadcastable(x), x.dtype.name)

    def extend(self, x: Any, *, like: Any = None) -> Any:
        """Takes one step from ``x``.

        Args:
            x: A value.
            like: If given, the step's result must have its dtype and shape.

        Raises:
            NoStep: No step was found.
        """
        steps = [each for each in STEPS if each.takes(x)]
        if like is not None and None in like.shape.as_list():
            steps = [each for each in steps if not each.resizes]
        for _ in range(20):
            chosen = self.pick(steps)
            logged = len(self.log)
            self.log.append(f"{chosen.apply.__name__} {x.dtype.name}{x.shape.as_list()}")
            try:
                result = chosen.apply(self, x)
            except (NoStep, ValueError, self.tf.errors.InvalidArgumentError):
                del self.log[logged:]
                continue
            if self._usable(result) and (like is None or _alike(result, like)):
                self.values.append(result)
                return result
            del self.log[logged:]
        raise NoStep

    def inner(self) -> Graph:
        """The graph of a function, which may use what is outside."""
        if self.depth >= 2:
            raise NoStep
        return Graph(self.tf, self.random, self.variables, [*self.values], self.log, self.depth + 1)

    def preserving(self, x: Any, count: int) -> Any:
        """``x`` after steps that keep its dtype and shape."""
        for _ in range(count):
            x = self.extend(x, like=x)
        return x

    def _fits(self, x: Any, other: Any) -> bool:
        """Whether ``other`` broadcasts to ``x``, whatever the open sizes are, which are all the same."""
        own, others = x.shape.as_list(), other.shape.as_list()
        if len(others) > len(own):
            return False
        return all(b in (1, a) for a, b in zip(own[::-1], others[::-1], strict=False))

    def _usable(self, x: Any) -> bool:
        if x.shape.rank is None or x.shape.rank > _MOST_DIMENSIONS:
            return False
        return int(np.prod([3 if size is None else size for size in x.shape.as_list()])) <= _MOST_ELEMENTS


def _alike(x: Any, other: Any) -> bool:
    return x.dtype == other.dtype and x.shape.as_list() == other.shape.as_list()
