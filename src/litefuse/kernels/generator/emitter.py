"""Loop nests for a body's outputs.

An output is a nest of loops over its axes, with the expression of an element in the innermost. What does not depend on
a loop stands before it. The loops of reductions stand where their results are needed, and what several loops need, or
what takes a loop for many elements, is in an array, no larger than what varies there: for softmax, a row.

Where an index must be divided, or lies in different parts of a concatenation, the loop that counts it becomes two: the
emission finds that on the way, notes it in ``Plan``, and begins anew.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from litefuse.kernels.generator.code import Branch, Scope
from litefuse.kernels.generator.forms import NotGenerated
from litefuse.kernels.generator.indices import Index, Variable
from litefuse.kernels.generator.loops import Again, Loops
from litefuse.kernels.generator.nodes import (
    Collected,
    Computed,
    Counted,
    Joined,
    Literal,
    Moved,
    Node,
    Picked,
    Position,
    Stored,
)
from litefuse.kernels.generator.sizes import ONE, ZERO, Size, product

# A longer expression is given a name.
_LONGEST = 90
# A tensor that is computed for more different positions at once is kept in an array.
_MOST_POSITIONS = 6
# Elements are asked for at most so often, in all attempts: what takes more has too many lines.
_MOST_ELEMENTS = 1 << 17
# Arrays of at most so many elements are on the stack.
_ON_STACK = 64


#: Computes an array of a tensor in its scope: given its name, its axes, and the position along the others.
Fill: TypeAlias = "Callable[[Node, str, Sequence[int], Position], None]"


class Scalar(NamedTuple):
    """An element, as C++.

    Attributes:
        text: The expression.
        level: The level of the innermost scope that it depends upon.
        is_plain: Whether it is a name or a number.
    """

    text: str
    level: int
    is_plain: bool


class Array(NamedTuple):
    """An array that keeps what several loops need."""

    name: str
    cpp_type: str
    size: Size


@dataclass
class Emitter(Loops):
    """Writes the loop nests of one function.

    Attributes:
        sizes: The sizes of the kernel.
        plan: What earlier attempts found out.
        collected: Returns an element of a tensor that takes a loop, after the loops that compute it.
        stored: The names of tensors that have been computed before.
        uses: How many operands each tensor is.
        arrays: The arrays in the heap that the function needs.
        positions: The positions of elements that occur in the code.
        types: The types of the elements of inputs, constants and arrays, by their names.
    """

    collected: Callable[[Emitter, Collected, Position], Scalar] = field(kw_only=True)
    stored: Mapping[Node, str] = field(kw_only=True)
    uses: dict[Node, int] = field(default_factory=dict[Node, int])
    arrays: list[Array] = field(default_factory=list[Array])
    positions: list[Index] = field(default_factory=list[Index])
    types: dict[str, str] = field(default_factory=dict[str, str])
    _seen: dict[Node, set[Position]] = field(default_factory=dict[Node, set[Position]])

    # Elements

    def at(self, node: Node, position: Position) -> Scalar:
        """Returns the element of a tensor at a position, after the statements that it needs."""
        self.plan.asked += 1
        if self.plan.asked > _MOST_ELEMENTS:
            raise NotGenerated("its loops are too involved")
        position = tuple(Index() if size == ONE else index for size, index in zip(node.shape, position, strict=True))
        key = (node, position)
        for scope in reversed(self.stack):
            if key in scope.values:
                known = scope.values[key]
                assert isinstance(known, Scalar)
                return known
        if node in self.stored:
            return self._remembered(node, position, self._element_of(node, self.stored[node], position))
        match node:
            case Literal():
                return Scalar(node.text, 0, is_plain=True)
            case Stored():
                return self._remembered(node, position, self._element_of(node, node.name, position))
            case Moved():
                return self.at(node.source, node.place(self, position))
            case Counted():
                return self._counted(node, position)
            case Picked():
                return self._picked(node, position)
            case Joined():
                return self._joined(node, position)
            case Computed():
                return self._computed(node, position)
            case Collected():
                return self.collected(self, node, position)
            case _:
                raise TypeError(node)

    def _element_of(self, node: Node, name: str, position: Position) -> Scalar:
        self.types[name] = node.cpp_type
        return self.element(name, node.shape, position)

    def element(self, name: str, shape: Sequence[Size], position: Sequence[Index]) -> Scalar:
        flat = self.flat(shape, position)
        return Scalar(f"{name}[{self.placed(flat)}]", flat.level, is_plain=False)

    def flat(self, shape: Sequence[Size], position: Sequence[Index]) -> Index:
        flat, stride = Index(), ONE
        for size, index in zip(reversed(shape), reversed(position), strict=True):
            flat = flat.plus(index.times(stride), self.sizes)
            stride = stride * self.sizes.canonical(size)
        return flat

    def placed(self, position: Index) -> str:
        self.positions.append(position)
        return f"\x01{len(self.positions) - 1}\x02"

    def value(self, node: Node, position: Position, level: int | None = None) -> str:
        """Returns an element for a statement in the current scope, or at a level."""
        element = self.at(node, position)
        deepest = self.depth if level is None else level
        return self.hoisted(node, element, deepest)

    def hoisted(self, node: Node, found: Scalar, level: int) -> str:
        """Returns an element for an expression at a level; computed before the loops that it does not depend on."""
        if found.is_plain or found.level >= level:
            return found.text
        return self.named(node, found).text

    def named(self, node: Node, found: Scalar) -> Scalar:
        """Gives an element a name."""
        scope = self.scope_of(found.level)
        known = scope.values.get(found.text)
        if isinstance(known, Scalar):
            return known
        name = self.new_name(node.label)
        scope.items.append(f"const {node.cpp_type} {name} = {found.text};")
        made = Scalar(name, scope.level, is_plain=True)
        scope.values[found.text] = made
        return made

    def _remembered(self, node: Node, position: Position, element: Scalar) -> Scalar:
        """Names an element that is needed several times, or whose expression is long."""
        if not element.is_plain and (self.uses.get(node, 0) > 1 or len(element.text) > _LONGEST):
            element = self.named(node, element)
        self.scope_of(element.level).values[node, position] = element
        return element

    def _computed(self, node: Computed, position: Position) -> Scalar:
        if node in self.plan.kept and not self.is_filling(node):
            return self.kept(node, position, range(self.plan.kept[node], len(node.shape)))
        if node.is_costly and (axes := self._repeated(node, position)) is not None and not self.is_filling(node):
            return self.kept(node, position, axes)
        self._count(node, position)
        elements = [self.at(arg, self._in_operand(arg, node.shape, position)) for arg in node.args]
        level = max((element.level for element in elements), default=0)
        texts = [self.hoisted(arg, element, level) for arg, element in zip(node.args, elements, strict=True)]
        return self._remembered(node, position, Scalar(node.text(texts), level, is_plain=False))

    def _in_operand(self, node: Node, whole: Sequence[Size], position: Position) -> Position:
        """Returns the position in an operand that is broadcast."""
        behind = len(whole) - len(node.shape)
        return tuple(
            index.times(self.sizes.repeats(size, to))
            for size, to, index in zip(node.shape, whole[behind:], position[behind:], strict=True)
        )

    def _count(self, node: Computed, position: Position) -> None:
        """Notes that an element is computed; elements at many positions are to be kept instead."""
        seen = self._seen.setdefault(node, set())
        seen.add(tuple(index.without(index.loops) for index in position))
        if len(seen) > _MOST_POSITIONS and node.args:
            self.plan.keep(node)
            raise Again

    def _repeated(self, node: Computed, position: Position) -> list[int] | None:
        """Returns the axes of the array for a costly tensor that would be computed again and again; None if not."""
        loops = {loop for index in position for loop in index.loops}
        deepest = max((loop.level for loop in loops), default=0)
        around = [scope.variable for scope in self.stack[1 : deepest + 1] if scope.variable is not None]
        if any(variable not in loops for variable in around):
            return []
        if node in self.plan.shared and deepest:
            innermost = self.stack[deepest].variable
            return [axis for axis, index in enumerate(position) if innermost in index.loops]
        return None

    def _counted(self, node: Counted, position: Position) -> Scalar:
        (index,) = position
        text = self.written(index)
        plain = (node.first, node.step) == ("0", "1")
        product = f"static_cast<{node.cpp_type}>({text})"
        if not plain:
            product = f"static_cast<{node.cpp_type}>({node.first} + {node.step} * {product})"
        return Scalar(product, index.level, is_plain=False)

    def _picked(self, node: Picked, position: Position) -> Scalar:
        places, chosen = node.place(position)
        source, place = node.source, chosen([self.pick(node.indices, place) for place in places])
        if _is_costly(source) and _is_read_often(node) and not self.is_filling(source):
            return self.kept(source, place, [axis for axis, index in enumerate(place) if _is_picked(index)])
        return self.at(source, place)

    def pick(self, node: Node, position: Position) -> Index:
        """Returns an element of a tensor of integers, as an index."""
        element = self.at(node, position)
        return self.integer("pick", f"static_cast<int64_t>({element.text})", element.level, _loops(position))

    def _joined(self, node: Joined, position: Position) -> Scalar:
        start = ZERO
        index = position[node.axis]
        for number, part in enumerate(node.parts):
            end = self.sizes.add(start, part.shape[node.axis])
            own = index.plus_size(Size(-start.factor, start.names), self.sizes)
            inside = (*position[: node.axis], own, *position[node.axis + 1 :])
            below = True if number == len(node.parts) - 1 else self.is_below(index, end)
            if below:
                return self.at(part, inside)
            if below is None:
                return self._branched(node, number, position, (inside, end))
            start = end
        raise AssertionError

    def _branched(self, node: Joined, number: int, position: Position, found: tuple[Position, Size]) -> Scalar:
        """Decides at run time whether an element is in one part or in those that follow."""
        inside, end = found
        rest = Joined(node.dtype, (), axis=node.axis, parts=node.parts[number + 1 :], label=node.label)
        rest.shape = node.shape
        index = position[node.axis].plus_size(Size(-end.factor, end.names), self.sizes)
        behind = (*position[: node.axis], index, *position[node.axis + 1 :])
        name = self.new_name(node.label)
        condition = f"{self.written(position[node.axis])} < {end}"
        outer = self.stack[-1]
        scopes: list[Scope] = []
        for part, where in ((node.parts[number], inside), (rest, behind)):
            scope = Scope(self.depth + 1, is_branch=True)
            self.stack.append(scope)
            scope.items.append(f"{name} = {self.value(part, where)};")
            self.stack.pop()
            scopes.append(scope)
        outer.items += [f"{node.cpp_type} {name};", Branch(condition, *scopes)]
        return Scalar(name, self.depth, is_plain=True)

    # Arrays

    def kept(self, node: Node, position: Position, must: Iterable[int]) -> Scalar:
        """Returns an element of a tensor that is computed into an array first."""
        return self.of_array(node, position, must, self._fill)

    def of_array(self, node: Node, position: Position, must: Iterable[int], fill: Fill) -> Scalar:
        """Returns an element of a tensor, of which an array along some axes is computed before; see ``_array``."""
        name, axes, level = self._array(node, position, must, fill)
        element = self.element(name, [node.shape[axis] for axis in axes], [position[axis] for axis in axes])
        # Where the index does not vary, the array still does.
        return element._replace(level=max(element.level, level))

    def _fill(self, node: Node, name: str, axes: Sequence[int], fixed: Position) -> None:
        def element(found: Sequence[Index]) -> None:
            position = merged_position(fixed, axes, found)
            to = self.element(name, [node.shape[axis] for axis in axes], found).text
            self.stack[-1].items.append(f"{to} = {self.value(node, position)};")

        with self.filling(node):
            self.loops([(("fill", node.number, axis), node.shape[axis]) for axis in axes], element)

    def _array(self, node: Node, position: Position, must: Iterable[int], fill: Fill) -> tuple[str, list[int], int]:
        """Computes an array of a tensor's elements along some axes, where it can be used as often as possible.

        It has the axes ``must`` in any case. Returns its name, its axes, and the level at which it is.
        """
        level, axes = self.array_place(node, position, must)
        fixed = tuple(Index() if axis in axes else index for axis, index in enumerate(position))
        scope = self.stack[level]
        key = ("array", node, tuple(axes), fixed)
        for around in self.stack[: level + 1]:
            if key in around.values:
                return str(around.values[key]), axes, around.level
        with self.at_level(level):
            name = self.new_name(node.label)
            self.types[name] = node.cpp_type
            count = product(node.shape[axis] for axis in axes)
            if count.known is not None and count.known <= _ON_STACK:
                scope.items.append(f"{node.cpp_type} {name}[{max(count.known, 1)}];")
            else:
                self.arrays.append(Array(name, node.cpp_type, count))
            fill(node, name, axes, fixed)
        scope.values[key] = name
        return name, axes, level

    def array_place(self, node: Node, position: Position, must: Iterable[int]) -> tuple[int, list[int]]:
        """Returns the level at which an array is computed, and its axes."""
        levels = [{loop.level for loop in index.loops} for index in position]
        axes = {axis for axis in must if node.shape[axis] != ONE}
        level = max((depth for axis in levels for depth in axis), default=0)
        level = min((depth - 1 for axis in axes for depth in levels[axis]), default=level)
        while True:
            fixed = {depth for axis, depths in enumerate(levels) if axis not in axes for depth in depths}
            missing = [
                scope.level for scope in self.stack[1 : level + 1] if scope.variable and scope.level not in fixed
            ]
            further = {axis for axis, depths in enumerate(levels) if any(depth > level for depth in depths)} - axes
            if not missing and not further:
                break
            level = min([level, *(depth - 1 for depth in missing)])
            axes |= further
        while level < len(self.stack) - 1 and any(scope.is_branch for scope in self.stack[level + 1 :]):
            level += 1  # what is only computed sometimes is not computed before
        return level, sorted(axes)

    @contextmanager
    def filling(self, node: Node) -> Generator[None]:
        self._filled.append(node)
        yield
        self._filled.pop()

    def is_filling(self, node: Node) -> bool:
        return node in self._filled

    _filled: list[Node] = field(default_factory=list[Node])


def _is_costly(node: Node) -> bool:
    """Whether an element is computed in much more time than it is loaded."""
    computed = {node}
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Computed):
            if node.is_costly:
                return True
            waiting += {*node.args} - computed
            computed |= {*node.args}
    return False


def _is_read_often(node: Picked) -> bool:
    """Whether more elements are picked than there are."""
    picked, there = product(node.shape), product(node.source.shape)
    return picked.names == there.names and picked.factor > there.factor


def _is_picked(index: Index) -> bool:
    return any(variable.key is None for variable in index.variables)


def _loops(position: Position) -> frozenset[Variable]:
    return frozenset(loop for index in position for loop in index.loops)


def merged_position(fixed: Position, axes: Sequence[int], found: Sequence[Index]) -> Position:
    """Returns the position with the indices along some axes put in."""
    position = list(fixed)
    for axis, index in zip(axes, found, strict=True):
        position[axis] = index
    return tuple(position)
