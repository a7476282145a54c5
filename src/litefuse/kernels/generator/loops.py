"""Loops, and indices that are divided or compared: what a loop must be for them to be sums."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from litefuse.kernels.generator.code import Accumulation, Loop, Scope
from litefuse.kernels.generator.indices import Index, Variable, at_constant, written
from litefuse.kernels.generator.nodes import Node, Reduction
from litefuse.kernels.generator.sizes import ONE, ZERO, Size, Sizes

Key = tuple[object, ...]

# A loop is cut into at most so many.
_MOST_PARTS = 8


class Again(Exception):  # noqa: N818  not an error: the emission begins anew
    """The plan has changed."""


@dataclass
class Plan:
    """Decisions about the loops of a function.

    Attributes:
        factors: Loops that are two, by their keys: the sizes of the inner ones.
        points: The points at which loops are cut.
        kept: Tensors that are computed into arrays, and the first of the axes of these.
        shared: Expensive tensors that several loops need.
        steps: Reductions of rows that were reduced before, in the place of others.
        asked: How often an element was asked for.
    """

    factors: dict[Key, Size] = field(default_factory=dict[Key, Size])
    points: dict[Key, list[Size]] = field(default_factory=dict[Key, list[Size]])
    kept: dict[Node, int] = field(default_factory=dict[Node, int])
    shared: set[Node] = field(default_factory=set[Node])
    steps: dict[Node, Reduction] = field(default_factory=dict[Node, Reduction])
    asked: int = 0

    def keep(self, node: Node) -> None:
        self.kept[node] = 0


@dataclass
class Loops:
    """The open loops of an emission, and arithmetic of indices."""

    sizes: Sizes
    plan: Plan
    stack: list[Scope] = field(default_factory=lambda: [Scope(0)])
    _names: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def depth(self) -> int:
        return len(self.stack) - 1

    def new_name(self, label: str) -> str:
        self._names[label] = self._names.get(label, 0) + 1
        return f"{label}_{self._names[label]}"

    def scope_of(self, level: int) -> Scope:
        """Returns the scope for what depends on a level: not before a branch that is open."""
        for scope in reversed(self.stack[level + 1 :]):
            if scope.is_branch:
                return scope
        return self.stack[level]

    @contextmanager
    def at_level(self, level: int) -> Generator[None]:
        """Has statements and loops appended to the scope at a level."""
        inner = self.stack[level + 1 :]
        del self.stack[level + 1 :]
        yield
        assert self.depth == level
        self.stack += inner

    def loops(
        self,
        extents: Sequence[tuple[Key, Size]],
        body: Callable[[Sequence[Index]], Accumulation | None],
        *,
        in_order: bool = False,
    ) -> None:
        """Writes nested loops.

        Args:
            extents: For each, what it stands for, and its size.
            body: Writes the body, given the indices; returns what the innermost loop accumulates.
            in_order: Whether the iterations depend on one another.
        """

        def nested(number: int, indices: tuple[Index, ...]) -> Accumulation | None:
            if number == len(extents):
                return body(indices)
            key, extent = extents[number][0], self.sizes.canonical(extents[number][1])
            if extent == ONE:
                return nested(number + 1, (*indices, Index()))
            return self._axis(key, extent, lambda index: nested(number + 1, (*indices, index)), in_order=in_order)

        made = nested(0, ())
        if made is not None:  # no loop was needed
            self.stack[-1].items.append(made.step(made.target, made.value))

    def _axis(
        self, key: Key, extent: Size, body: Callable[[Index], Accumulation | None], *, in_order: bool
    ) -> Accumulation | None:
        inner = self.plan.factors.get(key)
        if inner is not None and (outer := extent.over(inner)) is not None and outer != ONE:

            def with_inner(index: Index) -> Accumulation | None:
                return self._axis(
                    (*key, "inner"),
                    inner,
                    lambda rest: body(index.times(inner).plus(rest, self.sizes)),
                    in_order=in_order,
                )

            return self._axis((*key, "outer"), outer, with_inner, in_order=in_order)
        self._parts(key, extent, (ZERO, extent), {}, list(self.plan.points.get(key, ())), (body, in_order))
        return None

    def _parts(
        self,
        key: Key,
        extent: Size,
        bounds: tuple[Size, Size],
        facts: dict[Size, bool],
        points: list[Size],
        what: tuple[Callable[[Index], Accumulation | None], bool],
    ) -> None:
        """Writes the loop, cut at the points that are left."""
        begin, end = bounds
        if points:
            point = self.sizes.largest(begin, self.sizes.smallest(points[0], end))
            self._parts(key, extent, (begin, point), {**facts, points[0]: True}, points[1:], what)
            self._parts(key, extent, (point, end), {**facts, points[0]: False}, points[1:], what)
            return
        if begin.known is not None and begin == end:
            return
        body, in_order = what
        if begin == ZERO and end.known is not None and end != extent:  # a loop of its own, which may become two as well
            self._axis((*key, "first"), end, body, in_order=in_order)
            return
        if self.sizes.subtract(end, begin) == ONE and begin.known is not None:
            made = body(at_constant(begin))
            if made is not None:
                self.stack[-1].items.append(made.step(made.target, made.value))
            return
        name = self.new_name("ijklmn"[min(self._open_loops, 5)])
        variable = Variable(name, self.depth + 1, extent, key, facts)
        scope = Scope(self.depth + 1, variable)
        self.stack.append(scope)
        accumulation = body(Index(((variable, ONE),)))
        self.stack.pop()
        self.stack[-1].items.append(Loop(variable, begin, end, scope, accumulation, in_order))

    @property
    def _open_loops(self) -> int:
        return sum(scope.variable is not None for scope in self.stack)

    # Arithmetic of indices

    def written(self, index: Index) -> str:
        """Returns an index as C++, for what is not a position of an element."""
        for variable in index.variables:
            variable.is_written = True
        return written(index)

    def integer(self, label: str, text: str, level: int, loops: frozenset[Variable]) -> Index:
        """Returns an integer that is computed."""
        scope = self.scope_of(level)
        known = scope.values.get(("integer", text))
        if known is None:
            name = self.new_name(label)
            scope.items.append(f"[[maybe_unused]] const int64_t {name} = {text};")
            known = Index(((Variable(name, scope.level, None, below=loops), ONE),))
            scope.values["integer", text] = known
        assert isinstance(known, Index)
        return known

    def divided(self, index: Index, size: Size) -> tuple[Index, Index]:
        """Returns the quotient and the rest of an index that is not negative.

        Raises:
            Again: A loop is to be two.
        """
        quotients = [(variable, factor.over(size)) for variable, factor in index.terms]
        whole = tuple((variable, factor) for variable, factor in quotients if factor is not None)
        rest = tuple(term for term, (_, factor) in zip(index.terms, quotients, strict=True) if factor is None)
        constant, left = self._divided_constant(index.constant, size)
        remainder = Index(rest, left)
        if remainder.is_below(size):
            return Index(whole, constant), remainder
        if len(rest) == 1 and left == ZERO:
            ((variable, factor),) = rest
            inner = size.over(factor)
            extent = variable.extent
            if variable.key is not None and inner is not None and extent is not None:
                outer = extent.over(inner)
                if outer is not None and variable.key not in self.plan.factors and inner != ONE:
                    self.plan.factors[variable.key] = inner
                    raise Again
        text, level = self.written(index), index.level
        return (
            self.integer("quotient", f"({text}) / ({size})", level, index.loops),
            self.integer("rest", f"({text}) % ({size})", level, index.loops),
        )

    def _divided_constant(self, constant: Size, size: Size) -> tuple[Size, Size]:
        if (exact := constant.over(size)) is not None:
            return exact, ZERO
        if constant.known is not None and size.known is not None and constant.known >= 0:
            return Size(constant.known // size.known), Size(constant.known % size.known)
        return ZERO, constant

    def is_below(self, index: Index, point: Size) -> bool | None:
        """Whether an index that is not negative is below a point; None if that is found out at run time.

        Raises:
            Again: A loop is to be cut at a point.
        """
        bounds = index.bounds()
        if bounds is not None and point.known is not None:
            if bounds[1] < point.known:
                return True
            if bounds[0] >= point.known:
                return False
        elif not index.terms and self.sizes.subtract(index.constant, point).known is not None:
            return (self.sizes.subtract(index.constant, point).known or 0) < 0
        limit = self.sizes.subtract(point, index.constant)
        for variable, factor in index.terms:
            exact = limit.over(factor) if factor.factor > 0 else None
            if exact is None or variable.key is None:
                continue
            if (
                not index.without([variable])
                .plus_size(Size(-index.constant.factor, index.constant.names), self.sizes)
                .is_below(factor)
            ):
                continue
            if exact in variable.facts:
                return variable.facts[exact]
            points = self.plan.points.setdefault(variable.key, [])
            if len(points) < _MOST_PARTS and exact not in points:
                points.append(exact)
                raise Again
        return None
