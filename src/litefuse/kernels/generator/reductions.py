"""The loops of reductions and running sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from litefuse.kernels.generator.code import Accumulation
from litefuse.kernels.generator.emitter import Array, Emitter, Scalar, merged_position
from litefuse.kernels.generator.indices import Index, at_constant
from litefuse.kernels.generator.nodes import (
    ArgumentReduction,
    Collected,
    Node,
    OfRows,
    Position,
    Reduction,
    Running,
    Scattered,
)
from litefuse.kernels.generator.rows import of_rows, scattered
from litefuse.kernels.generator.sizes import ONE, Size, product

# Rows of at most so many float32 elements are added in float32: the error stays that of a short sum.
_MOST_IN_FLOAT = 4096


# So many rows are added in float32, before their sum is added in float64.
_BLOCK_OF_ROWS = 256


class _Kind(NamedTuple):
    """How elements are combined: the operator in OpenMP's clause, and the statement for a variable and a value."""

    clause: str
    step: Callable[[str, str], str]


def _adding(sign: str) -> Callable[[str, str], str]:
    return lambda to, value: f"{to} {sign}= {value};"


def _choosing(sign: str) -> Callable[[str, str], str]:
    return lambda to, value: f"{to} = {to} {sign} {value} ? {to} : {value};"


_KINDS = {
    "sum": _Kind("+", _adding("+")),
    "product": _Kind("*", _adding("*")),
    "max": _Kind("max", _choosing(">")),
    "min": _Kind("min", _choosing("<")),
    "any": _Kind("|", _adding("|")),
    "all": _Kind("&", _adding("&")),
}


def collected(emitter: Emitter, node: Collected, position: Position) -> Scalar:
    """Returns an element of a tensor that takes a loop, after the loops that compute it."""
    match node:
        case ArgumentReduction():
            return _argument(emitter, node, position)
        case Scattered():
            return scattered(emitter, node, position)
        case OfRows():
            return of_rows(emitter, node, position)
        case Reduction() | Running():
            return _reduced(emitter, node, position)
        case _:
            raise TypeError(node)


def _reduced(emitter: Emitter, node: Reduction | Running, position: Position) -> Scalar:
    if isinstance(node, Running):

        def run(_: Node, name: str, axes: Sequence[int], fixed: Position) -> None:
            _run(emitter, node, name, axes, fixed)

        return emitter.of_array(node, position, {node.axis}, run)
    kept = [axis for axis in range(len(node.source.shape)) if axis not in node.axes]
    first = min(node.axes)
    # Along axes behind one that is reduced, whole rows are added, as they lie in memory.
    must = {number for number, axis in enumerate(kept) if axis > first and node.shape[number] != ONE}
    level, axes = emitter.array_place(node, position, must)
    if axes:

        def rows(_: Node, name: str, axes: Sequence[int], fixed: Position) -> None:
            _rows(emitter, node, name, axes, fixed)

        return emitter.of_array(node, position, must, rows)
    scope = emitter.scope_of(level)
    with emitter.at_level(scope.level):
        name = _total(emitter, node, position)
    result = Scalar(name, scope.level, is_plain=True)
    scope.values[node, position] = result
    return result


def _source_position(node: Reduction, position: Position, found: dict[int, Index]) -> Position:
    """Returns the position in the source from that in the result and the indices along the reduced axes."""
    rest = iter(position)
    return tuple(found[axis] if axis in node.axes else next(rest) for axis in range(len(node.source.shape)))


def _extents(node: Reduction, axes: Sequence[int]) -> list[tuple[tuple[object, ...], Size]]:
    return [(("reduce", node.number, axis), node.source.shape[axis]) for axis in axes]


def _total(emitter: Emitter, node: Reduction, position: Position) -> str:
    """Writes the loops of one element; returns its name."""
    kind, axes = _KINDS[node.kind], sorted(node.axes)
    part, whole, start = _types(node)
    sum_name = emitter.new_name("total")
    emitter.stack[-1].items.append(f"{whole} {sum_name} = {start};")

    def element(found: Sequence[Index]) -> Accumulation:
        where = _source_position(node, position, dict(zip(axes, found, strict=True)))
        value = emitter.value(node.source, where)
        return Accumulation(
            sum_name, part, start, kind.clause, kind.step, value, node.kind == "sum" and part == "float"
        )

    emitter.loops(_extents(node, axes), element)
    name = emitter.new_name(node.label)
    emitter.stack[-1].items.append(f"const {node.cpp_type} {name} = {_final(node, sum_name)};")
    return name


def _types(node: Reduction) -> tuple[str, str, str]:
    """Returns the types of a partial and a whole result, and the neutral element."""
    own = node.source.cpp_type
    if node.kind in ("any", "all"):
        return "int", "int", "0" if node.kind == "any" else "1"
    if node.kind in ("max", "min"):
        limits = f"std::numeric_limits<{own}>"
        if node.dtype in ("FLOAT32", "FLOAT64"):
            return own, own, f"{'-' if node.kind == 'max' else ''}{limits}::infinity()"
        return own, own, f"{limits}::{'lowest' if node.kind == 'max' else 'max'}()"
    start = "0" if node.kind == "sum" else "1"
    if node.dtype in ("FLOAT32", "FLOAT64"):
        return own, "double", start
    unsigned = "uint64_t" if node.dtype.endswith("64") else "uint32_t"
    return unsigned, unsigned, start


def _final(node: Reduction, text: str) -> str:
    return f"{text} != 0" if node.kind in ("any", "all") else f"static_cast<{node.cpp_type}>({text})"


def _rows(emitter: Emitter, node: Reduction, name: str, axes: Sequence[int], fixed: Position) -> None:
    """Writes the loops of an array of results along some axes."""
    kept = [axis for axis in range(len(node.source.shape)) if axis not in node.axes]
    free = [kept[axis] for axis in axes]
    shape = [node.shape[axis] for axis in axes]
    last = max(node.axes)
    if all(axis < min(node.axes) for axis in free):

        def element(found: Sequence[Index]) -> None:
            value = _total(emitter, node, merged_position(fixed, axes, found))
            emitter.stack[-1].items.append(f"{emitter.element(name, shape, found).text} = {value};")

        emitter.loops([(("fill", node.number, axis), size) for axis, size in zip(axes, shape, strict=True)], element)
        return
    if last > max(free):
        _in_two_steps(emitter, node, (name, axes, fixed), max(free))
        return
    _, whole, start = _types(node)
    added = product(node.source.shape[axis] for axis in node.axes)
    if whole == "double" and node.dtype == "FLOAT32" and added.known is not None and added.known <= _MOST_IN_FLOAT:
        whole = node.cpp_type
    sums = name
    count = product(shape)
    if whole != node.cpp_type:
        sums = emitter.new_name("totals")
        emitter.arrays.append(Array(sums, whole, count))
    extents = [(("rows", node.number, axis), size) for axis, size in zip(axes, shape, strict=True)]

    def begin(found: Sequence[Index]) -> None:
        emitter.stack[-1].items.append(f"{emitter.element(sums, shape, found).text} = {start};")

    def add_to(name: str, found: Sequence[Index]) -> None:
        by_axis = dict(zip(order, found, strict=True))
        place = merged_position(fixed, axes, [by_axis[axis] for axis in free])
        value = emitter.value(node.source, _source_position(node, place, by_axis))
        to = emitter.element(name, shape, [by_axis[axis] for axis in free]).text
        emitter.stack[-1].items.append(_KINDS[node.kind].step(to, value))

    def finish(found: Sequence[Index]) -> None:
        to, value = (emitter.element(array, shape, found).text for array in (name, sums))
        emitter.stack[-1].items.append(f"{to} = {_final(node, value)};")

    order = sorted([*free, *node.axes])
    emitter.loops(extents, begin)
    before = [axis for axis in order if axis < min(free)]
    if whole == "double" and node.kind == "sum" and node.dtype == "FLOAT32" and before:
        partial = emitter.new_name("partial")
        emitter.arrays.append(Array(partial, node.cpp_type, count))
        _in_blocks(emitter, node, (partial, sums, count), (before, order[len(before) :]), add_to)
    else:
        emitter.loops(_extents(node, order), lambda found: add_to(sums, found))
    if sums != name:
        emitter.loops(extents, finish)


def _in_blocks(
    emitter: Emitter,
    node: Reduction,
    arrays: tuple[str, str, Size],
    axes: tuple[Sequence[int], Sequence[int]],
    add_to: Callable[[str, Sequence[Index]], None],
) -> None:
    """Writes the loops of sums of rows: blocks of rows are added in float, and their sums in double.

    ``arrays`` are that of a block's sums, that of the sums, and their number; ``axes`` those that count the rows, and
    the others.
    """
    partial, sums, count = arrays
    before, behind = axes
    rows = emitter.new_name("rows_left")
    flush = f"for (int64_t sum = 0; sum < {count}; ++sum) {{ {sums}[sum] += {partial}[sum]; {partial}[sum] = 0; }}"
    emitter.stack[-1].items += [
        f"for (int64_t sum = 0; sum < {count}; ++sum) {partial}[sum] = 0;",
        f"int64_t {rows} = {_BLOCK_OF_ROWS};",
    ]

    def block(outer: Sequence[Index]) -> None:
        emitter.loops(_extents(node, behind), lambda inner: add_to(partial, [*outer, *inner]))
        emitter.stack[-1].items += [
            f"if (--{rows} == 0) {{",
            f"  {flush}",
            f"  {rows} = {_BLOCK_OF_ROWS};",
            "}",
        ]

    emitter.loops(_extents(node, before), block)
    emitter.stack[-1].items.append(flush)


def _in_two_steps(
    emitter: Emitter, node: Reduction, place: tuple[str, Sequence[int], Position], last_free: int
) -> None:
    """Reduces the axes before the last that is kept, in rows, and then those behind it, which lie together."""
    name, axes, fixed = place
    outer = frozenset(axis for axis in node.axes if axis < last_free)
    left = [axis for axis in range(len(node.source.shape)) if axis not in outer]
    steps = emitter.plan.steps
    if node not in steps:
        shape = tuple(node.source.shape[axis] for axis in left)
        rows = Reduction(
            node.source.dtype,
            shape,
            source=node.source,
            axes=outer,
            kind=node.kind,
            label="rows",
            number=-node.number - 1,
        )
        inner = frozenset(left.index(axis) for axis in node.axes - outer)
        steps[node] = Reduction(
            node.dtype, node.shape, source=rows, axes=inner, kind=node.kind, label=node.label, number=node.number
        )
    _rows(emitter, steps[node], name, axes, fixed)


def _run(emitter: Emitter, node: Running, name: str, axes: Sequence[int], fixed: Position) -> None:
    """Writes the loops of running sums along an axis, and of what else the array holds."""
    shape = [node.shape[axis] for axis in axes]
    own = axes.index(node.axis)
    sum_name = emitter.new_name("running")

    def element(found: Sequence[Index]) -> None:
        length = shape[own]
        where = list(found)
        if node.reverse:
            where[own] = at_constant(emitter.sizes.subtract(length, ONE)).plus(
                found[own].times(Size(-1)), emitter.sizes
            )
        position = merged_position(fixed, axes, where)
        value = emitter.value(node.source, position)
        to = emitter.element(name, shape, where).text
        scope = emitter.stack[-1]
        total = f"{sum_name}[{emitter.placed(emitter.flat(shape[own + 1 :], found[own + 1 :]))}]"
        following = f"litefuse::arithmetic::Add<{node.cpp_type}>({total}, {value})"
        if node.exclusive:
            scope.items += [f"{to} = {total};", f"{total} = {following};"]
        else:
            scope.items += [f"{total} = {following};", f"{to} = {total};"]

    def begin(found: Sequence[Index]) -> None:
        emitter.stack[-1].items.append(f"{sum_name}[{emitter.placed(emitter.flat(shape[own + 1 :], found))}] = 0;")

    def outer(found: Sequence[Index]) -> None:
        emitter.loops(extents[own + 1 :], begin)
        emitter.loops(extents[own:], lambda rest: element([*found, *rest]), in_order=True)

    extents = [(("run", node.number, axis), size) for axis, size in zip(axes, shape, strict=True)]
    count = product(shape[own + 1 :])
    if count == ONE:
        emitter.stack[-1].items.append(f"{node.cpp_type} {sum_name}[1];")
    else:
        emitter.arrays.append(Array(sum_name, node.cpp_type, count))
    emitter.loops(extents[:own], outer)


def _argument(emitter: Emitter, node: ArgumentReduction, position: Position) -> Scalar:
    level = max((index.level for index in position), default=0)
    scope = emitter.scope_of(level)
    with emitter.at_level(scope.level):
        best, name = emitter.new_name("best"), emitter.new_name(node.label)
        scope.items += [f"{node.source.cpp_type} {best}{{}};", f"{node.cpp_type} {name} = 0;"]

        def element(found: Sequence[Index]) -> None:
            where = (*position[: node.axis], found[0], *position[node.axis :])
            value, index = emitter.value(node.source, where), emitter.written(found[0])
            current = emitter.new_name("candidate")
            emitter.stack[-1].items += [
                f"const {node.source.cpp_type} {current} = {value};",
                f"if ({index} == 0 || {current} {node.sign} {best}) {{",
                f"  {best} = {current};",
                f"  {name} = static_cast<{node.cpp_type}>({index});",
                "}",
            ]

        emitter.loops([(("argument", node.number), node.source.shape[node.axis])], element, in_order=True)
    result = Scalar(name, scope.level, is_plain=True)
    scope.values[node, position] = result
    return result
