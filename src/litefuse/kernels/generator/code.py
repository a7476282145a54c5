"""Loops and what is in them, before they are written as C++."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from litefuse.kernels.generator.indices import Variable
from litefuse.kernels.generator.sizes import Size


class Accumulation(NamedTuple):
    """A variable that an innermost loop accumulates into.

    Attributes:
        target: The variable.
        cpp_type: The type in which one loop accumulates.
        start: The neutral element.
        clause: The operator in OpenMP's clause ``reduction``.
        step: Returns the statement that takes in a value, from the names of the variable and the value.
        value: The value.
        is_split: Whether long loops are split, for the sake of precision.
    """

    target: str
    cpp_type: str
    start: str
    clause: str
    step: Callable[[str, str], str]
    value: str
    is_split: bool


@dataclass(eq=False)
class Scope:
    """The body of a loop, of a branch or of the function.

    Attributes:
        level: How many scopes are around it.
        variable: What its loop counts; None if it is not that of a loop.
        is_branch: Whether it is only run sometimes.
        items: Its statements in their order.
        values: What has been computed here, by what it is.
        positions: The positions of elements that occur here directly; ``Writer`` puts them in.
    """

    level: int
    variable: Variable | None = None
    is_branch: bool = False
    items: list[Item] = field(default_factory=list["Item"])
    values: dict[object, object] = field(default_factory=dict[object, object])


@dataclass(eq=False)
class Loop:
    """A loop from ``begin`` to below ``end``."""

    variable: Variable
    begin: Size
    end: Size
    body: Scope
    accumulation: Accumulation | None = None
    in_order: bool = False


@dataclass(eq=False)
class Branch:
    """An if statement with both of its branches."""

    condition: str
    then: Scope
    otherwise: Scope


@dataclass(eq=False)
class Call:
    """A call of a function, around which no loop is vectorized."""

    text: str


Item: TypeAlias = "str | Loop | Branch | Call"


def numbers_in(item: Item | Scope) -> Iterator[int]:
    """Yields the numbers of the positions in a loop."""
    if isinstance(item, (str, Call)):
        for piece in (item if isinstance(item, str) else item.text).split("\x01")[1:]:
            yield int(piece.partition("\x02")[0])
    elif isinstance(item, Loop):
        if item.accumulation is not None:
            yield from numbers_in(item.accumulation.value)
        yield from numbers_in(item.body)
    elif isinstance(item, Branch):
        yield from numbers_in(item.condition)
        for scope in (item.then, item.otherwise):
            yield from numbers_in(scope)
    else:
        for inner in item.items:
            yield from numbers_in(inner)
