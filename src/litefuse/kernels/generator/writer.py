"""Loops as C++."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from litefuse.kernels.generator.code import Accumulation, Branch, Call, Loop, Scope, numbers_in
from litefuse.kernels.generator.indices import Index, Variable, written
from litefuse.kernels.generator.sizes import ONE, ZERO, Size

# Rows of at most so many elements, of which some operands are the same in each, are computed together, about so many
# elements at once.
_SHORT_ROW = 64
_TOGETHER = 768

# Float sums of more elements are made of partial sums of this many: the error stays that of a short sum.
_PARTIAL = 32768
# Elements are combined in so many partial results at once, which do not wait for one another.
_LANES = 32
# The iterations of a loop of no more are written out by the compiler.
_UNROLLED = 8


@dataclass
class Writer:
    r"""Writes scopes with positions put in, and loops over neighboring axes made one where that is the same.

    Attributes:
        positions: The positions of elements; ``\\x01number\\x02`` in a statement stands for one.
        types: The types of the elements of arrays, by their names.
    """

    positions: list[Index]
    types: Mapping[str, str]
    lines: list[str] = field(default_factory=list[str])

    def write(self, scope: Scope, indent: int) -> None:
        for item in scope.items:
            if isinstance(item, (str, Call)):
                self._line(self.filled(item if isinstance(item, str) else item.text), indent)
            elif isinstance(item, Branch):
                self._line(f"if ({self.filled(item.condition)}) {{", indent)
                self.write(item.then, indent + 1)
                if item.otherwise.items:
                    self._line("} else {", indent)
                    self.write(item.otherwise, indent + 1)
                self._line("}", indent)
            else:
                self._spread(self._merged(item), indent)

    def _line(self, text: str, indent: int) -> None:
        self.lines.append("  " * indent + text)

    def filled(self, text: str) -> str:
        pieces = text.split("\x01")
        return pieces[0] + "".join(
            f"{written(self.positions[int(number)])}{rest}"
            for number, _, rest in (piece.partition("\x02") for piece in pieces[1:])
        )

    def _spread(self, loop: Loop, indent: int) -> None:
        """Writes a loop, and before it the values of groups that it is to have for each channel."""
        for spread in spread_groups(loop, self.positions, self.filled):
            self.types = {**self.types, spread.name: spread.cpp_type}
            self._line(f"{spread.cpp_type} {spread.name}[{spread.channels}];", indent)
            group, member, size = spread.group, spread.member, spread.members
            self._line(f"for (int64_t {group} = 0; {group} < {spread.channels // size}; ++{group}) {{", indent)
            self._line(f"for (int64_t {member} = 0; {member} < {size}; ++{member}) {{", indent + 1)
            self._line(f"{spread.name}[{group} * {size} + {member}] = {spread.element};", indent + 2)
            self._line("}", indent + 1)
            self._line("}", indent)
        self._loop(loop, indent)

    def _loop(self, loop: Loop, indent: int) -> None:
        inner = all(isinstance(item, str) for item in loop.body.items)
        name, accumulation = loop.variable.name, loop.accumulation
        if accumulation is None and self._short_rows(loop, indent):
            return
        if accumulation is None:
            short = loop.end.known is not None and loop.end.known <= _UNROLLED
            if inner and not loop.in_order and not short:
                self._line("#pragma omp simd", indent)
            self._line(f"for (int64_t {name} = {loop.begin}; {name} < {loop.end}; ++{name}) {{", indent)
            self.write(loop.body, indent + 1)
            self._line("}", indent)
            return
        begin, end = str(loop.begin), str(loop.end)
        count = loop.end.known
        split = accumulation.is_split and (count is None or count > _PARTIAL)
        if split:
            self._line(f"for (int64_t part = {begin}; part < {end}; part += {_PARTIAL}) {{", indent)
            indent += 1
            self._line(f"const int64_t part_end = std::min<int64_t>(part + {_PARTIAL}, {end});", indent)
            begin, end = "part", "part_end"
        else:
            self._line("{", indent)
            indent += 1
        self._line(f"{accumulation.cpp_type} total = {accumulation.start};", indent)
        if inner and (count is None or count >= 2 * _LANES) and accumulation.clause in ("+", "max", "min"):
            self._lanes(loop, accumulation, (begin, end), indent)
        else:
            if inner:
                self._line(f"#pragma omp simd reduction({accumulation.clause} : total)", indent)
            self._line(f"for (int64_t {name} = {begin}; {name} < {end}; ++{name}) {{", indent)
            self._step(loop, accumulation, "total", indent + 1)
            self._line("}", indent)
        self._line(accumulation.step(accumulation.target, "total"), indent)
        self._line("}", indent - 1)

    def _step(self, loop: Loop, accumulation: Accumulation, target: str, indent: int) -> None:
        self.write(loop.body, indent)
        self._line(self.filled(accumulation.step(target, accumulation.value)), indent)

    def _lanes(self, loop: Loop, accumulation: Accumulation, bounds: tuple[str, str], indent: int) -> None:
        """Writes a loop that combines elements in several partial results at once, and then these."""
        begin, end = bounds
        name = loop.variable.name
        self._line(f"{accumulation.cpp_type} lanes[{_LANES}];", indent)
        self._line(f"for (auto& lane : lanes) lane = {accumulation.start};", indent)
        self._line(f"int64_t next = {begin};", indent)
        self._line(f"for (; next + {_LANES} <= {end}; next += {_LANES}) {{", indent)
        self._line("#pragma omp simd", indent + 1)
        self._line(f"for (int64_t lane = 0; lane < {_LANES}; ++lane) {{", indent + 1)
        self._line(f"const int64_t {name} = next + lane;", indent + 2)
        self._step(loop, accumulation, "lanes[lane]", indent + 2)
        self._line("}", indent + 1)
        self._line("}", indent)
        self._line(f"#pragma omp simd reduction({accumulation.clause} : total)", indent)
        self._line(f"for (int64_t {name} = next; {name} < {end}; ++{name}) {{", indent)
        self._step(loop, accumulation, "total", indent + 1)
        self._line("}", indent)
        self._line(f"for (const auto lane : lanes) {accumulation.step('total', 'lane')}", indent)

    def _short_rows(self, loop: Loop, indent: int) -> bool:
        """Writes a loop over short rows, in which some operands are the same in each, as one over many elements."""
        row = loop.body.items[0] if len(loop.body.items) == 1 else None
        if not isinstance(row, Loop) or row.accumulation is not None or loop.in_order or row.in_order:
            return False
        outer, own, size = loop.variable, row.variable, row.end.known
        statements = [item for item in row.body.items if isinstance(item, str)]
        whole = loop.begin == row.begin == ZERO and row.end == own.extent
        if not whole or outer.is_written or own.is_written or len(statements) < len(row.body.items):
            return False
        if size is None or not 1 < size <= _SHORT_ROW or size % 16 == 0:
            return False
        repeated: dict[int, None] = {}
        for number in dict.fromkeys(numbers_in(row)):
            terms = dict(self.positions[number].terms)
            by_row, by_element = terms.get(outer, ZERO), terms.get(own, ZERO)
            if by_row == by_element * row.end:
                continue
            if by_row != ZERO:
                return False
            repeated[number] = None
        if any(number in repeated for item in statements for number in numbers_in(item.partition("=")[0])):
            return False  # sums of rows
        names = {number: name for item in statements for name, number in _elements(item) if number in repeated}
        if set(names) != set(repeated) or any(name not in self.types for name in names.values()):
            return False
        rows = max(16, _TOGETHER // (16 * size) * 16)
        together = rows * size
        self._line("{", indent)
        tables = {number: f"{name}_rows_{place + 1}" for place, (number, name) in enumerate(names.items())}
        for number, table in tables.items():
            self._line(f"{self.types[names[number]]} {table}[{together}];", indent + 1)
        if tables:
            self._line(f"for (int64_t row = 0; row < {rows}; ++row) {{", indent + 1)
            self._line(f"for (int64_t {own.name} = 0; {own.name} < {size}; ++{own.name}) {{", indent + 2)
            for number, table in tables.items():
                source = self.filled(f"{names[number]}[\x01{number}\x02]")
                self._line(f"{table}[row * {size} + {own.name}] = {source};", indent + 3)
            self._line("}", indent + 2)
            self._line("}", indent + 1)
        total = loop.end * row.end
        name = own.name
        self._line(f"for (int64_t start = 0; start < {total}; start += {together}) {{", indent + 1)
        self._line(f"const int64_t count = std::min<int64_t>({together}, {total} - start);", indent + 2)
        self._line("#pragma omp simd", indent + 2)
        self._line(f"for (int64_t {name} = 0; {name} < count; ++{name}) {{", indent + 2)
        start = Variable("start", 0, None)
        for number in set(numbers_in(row)) - set(tables):
            position = self.positions[number].without([outer])
            factor = dict(position.terms).get(own, ZERO)
            terms = (*position.terms, (start, factor)) if factor.factor else position.terms
            self.positions[number] = Index(terms, position.constant)
        for item in statements:
            for number, table in tables.items():
                item = item.replace(f"{names[number]}[\x01{number}\x02]", f"{table}[{name}]")  # noqa: PLW2901
            self._line(self.filled(item), indent + 3)
        for _ in range(3):
            self._line("}", indent + 2)
            indent -= 1
        return True

    def _merged(self, loop: Loop) -> Loop:
        while len(loop.body.items) == 1 and isinstance(loop.body.items[0], Loop):
            inner = self._merged(loop.body.items[0])
            outer, own = loop.variable, inner.variable
            whole = loop.begin == inner.begin == ZERO and loop.end == outer.extent and inner.end == own.extent
            if not whole or loop.in_order or outer.is_written or own.is_written or inner.end == ONE:
                loop.body.items[0] = inner
                return loop
            positions = [self.positions[number] for number in set(numbers_in(inner))]
            if any(
                dict(position.terms).get(outer, ZERO) != dict(position.terms).get(own, ZERO) * inner.end
                for position in positions
            ):
                loop.body.items[0] = inner
                return loop
            for number in set(numbers_in(inner)):
                self.positions[number] = self.positions[number].without([outer])
            inner.end = own.extent = loop.end * inner.end
            loop = inner
        return loop


def _elements(text: str) -> Iterator[tuple[str, int]]:
    """Yields the names of the arrays and the numbers of the positions in a statement."""
    for name, number in re.findall(r"(\w+)\[\x01(\d+)\x02\]", text):
        yield name, int(number)


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
    spreads: list[Spread] = []
    for item in lifted:
        match = _LIFTED.fullmatch(item) if isinstance(item, str) else None
        position = positions[int(match[4])] if match is not None else Index()
        if match is None or loop.variable in position.variables or own in position.variables:
            return []
        element = filled(f"{match[3]}[\x01{match[4]}\x02]")
        spreads.append(Spread(match[1], f"{match[2]}s", outer.name, own.name, size, count * size, element))
    for number in inside:
        positions[number] = positions[number].without([outer])
    positions.append(Index(((own, ONE),)))
    channel = f"\x01{len(positions) - 1}\x02"
    for spread in spreads:
        single = rf"\b{spread.name.removesuffix('s')}\b"
        statements = [re.sub(single, lambda _, spread=spread: f"{spread.name}[{channel}]", item) for item in statements]
    row.end = own.extent = Size(count * size)
    row.body.items[:] = statements
    loop.body.items[:] = [row, *behind]
    return spreads


def _whole(loop: Loop) -> int:
    """Returns how often a loop runs, if it is known, and the loop is not part of another; 0 otherwise."""
    is_whole = loop.begin == ZERO and loop.end == loop.variable.extent
    return (loop.end.known or 0) if is_whole else 0


def _factor(position: Index, variable: Variable) -> Size:
    return dict(position.terms).get(variable, ZERO)
