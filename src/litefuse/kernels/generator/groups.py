"""Values of groups of channels, spread over the channels, so that two loops become one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from litefuse.kernels.generator.code import Loop, numbers_in
from litefuse.kernels.generator.indices import Index, Variable
from litefuse.kernels.generator.sizes import ONE, ZERO, Size

__all__ = ["Spread", "spread_groups"]

# More channels would take more of the stack.
_MOST_CHANNELS = 2048
_LIFTED = re.compile(r"const (.+) (\w+) = (\w+)\[\x01(\d+)\x02\];")


class Spread(NamedTuple):
    """A value of each group, as an array with an element for each channel.

    Attributes:
        cpp_type: Its type.
        name: The array's name.
        group: Counts the groups.
        member: Counts the members of a group.
        members: How many members there are.
        channels: How many channels there are.
        element: The value of a group, as C++ with its position.
    """

    cpp_type: str
    name: str
    group: str
    member: str
    members: int
    channels: int
    element: str


def spread_groups(loop: Loop, positions: list[Index], filled: Callable[[str], str]) -> list[Spread]:
    """Makes one loop of a loop over groups and one over their members, inside of another loop::

        for k                                     float means[64];  // mean[0], mean[0], ...
          for group: 0 to 8                       for k
            const float m = mean[group]      -->    for channel: 0 to 64
            for member: 0 to 8                        y[k * 64 + channel] = x[k * 64 + channel] - means[channel]
              y[k * 64 + group * 8 + member]
                = x[k * 64 + group * 8 + member] - m

    Args:
        loop: The outermost of the three; it is changed.
        positions: The positions of elements, by their numbers.
        filled: Puts the positions into a statement.

    Returns:
        The arrays that are needed before the loop; none if it has not this form.
    """
    groups, *behind = loop.body.items or [""]
    if any(not isinstance(item, str) or "\x01" in item for item in behind):
        return []
    if not isinstance(groups, Loop) or groups.accumulation is not None or groups.in_order:
        return []
    *lifted, row = groups.body.items
    if not lifted or not isinstance(row, Loop) or row.accumulation is not None or row.in_order:
        return []
    outer, own = groups.variable, row.variable
    count, size = _whole(groups), _whole(row)
    if not 1 < count * size <= _MOST_CHANNELS or outer.is_written or own.is_written:
        return []
    statements = [item for item in row.body.items if isinstance(item, str)]
    inside = set(numbers_in(row))
    if len(statements) < len(row.body.items) or any(
        _factor(positions[number], outer) != _factor(positions[number], own) * row.end for number in inside
    ):
        return []
    found: list[Spread] = []
    for item in lifted:
        match = _LIFTED.fullmatch(item) if isinstance(item, str) else None
        position = positions[int(match[4])] if match is not None else Index()
        if match is None or loop.variable in position.variables or own in position.variables:
            return []
        element = filled(f"{match[3]}[\x01{match[4]}\x02]")
        found.append(Spread(match[1], f"{match[2]}s", outer.name, own.name, size, count * size, element))
    for number in inside:
        positions[number] = positions[number].without([outer])
    positions.append(Index(((own, ONE),)))
    channel = f"\x01{len(positions) - 1}\x02"
    for each in found:
        single = rf"\b{each.name.removesuffix('s')}\b"
        statements = [re.sub(single, lambda _, each=each: f"{each.name}[{channel}]", item) for item in statements]
    row.end = own.extent = Size(count * size)
    row.body.items[:] = statements
    loop.body.items[:] = [row, *behind]
    return found


def _whole(loop: Loop) -> int:
    """Returns how often a loop runs, if it is known, and the loop is not part of another; 0 otherwise."""
    is_whole = loop.begin == ZERO and loop.end == loop.variable.extent
    return (loop.end.known or 0) if is_whole else 0


def _factor(position: Index, variable: Variable) -> Size:
    return dict(position.terms).get(variable, ZERO)
