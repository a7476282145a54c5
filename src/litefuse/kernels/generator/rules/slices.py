"""Slices and splits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from litefuse.kernels.generator.body import BodyOp
from litefuse.kernels.generator.graph import Graph, NotGenerated, rule
from litefuse.kernels.generator.nodes import IndexArithmetic, Node, Position
from litefuse.kernels.generator.rules.reshapes import reshaped
from litefuse.kernels.generator.rules.sizes import moved_integers
from litefuse.kernels.generator.sizes import ONE, ZERO, Requirement, Size, number


def sliced(graph: Graph, source: Node, begins: Sequence[Size], steps: Sequence[int], sizes: Sequence[Size]) -> Node:
    """Returns elements from ``begins`` in steps. The kernel requires all of them to be inside of the tensor."""
    for begin, step, size, whole in zip(begins, steps, sizes, source.shape, strict=True):
        _require_inside(graph, begin, step, size, whole)

    def place(loops: IndexArithmetic, position: Position) -> Position:
        return tuple(
            index.times(number(step)).plus_size(begin, loops.sizes)
            for index, begin, step in zip(position, begins, steps, strict=True)
        )

    return graph.moved(source, sizes, place)


def _require_inside(graph: Graph, begin: Size, step: int, size: Size, whole: Size) -> None:
    """Requires ``begin + step * i`` to be inside of a tensor along an axis, for all i below a size."""
    sizes = graph.sizes
    outside = "a slice does not lie within its tensor"
    if not sizes.require_least(size, 0, "a slice has a negative size"):
        raise NotGenerated("a slice has a negative size")
    if step == 1:  # also where it is empty, as LiteRT requires it
        if not (
            sizes.require_least(begin, 0, "a slice has a negative begin")
            and sizes.require_most(sizes.add(begin, size), whole, outside)
        ):
            raise NotGenerated(outside)
        return
    last = sizes.add(begin, sizes.subtract(size, ONE) * number(step))
    if None not in (begin.known, size.known, whole.known):
        if size.known and not all(0 <= index.value({}) < whole.value({}) for index in (begin, last)):
            raise NotGenerated(outside)
        return
    inside = " && ".join(f"{fromkey} >= 0 && {fromkey} < {whole}" for fromkey in dict.fromkeys((begin, last)))
    sizes.require(f"{size} == 0 || ({inside})", Requirement(outside, begin, whole))


@rule("SLICE", takes="xii")
def _slice(graph: Graph, op: BodyOp) -> Node:
    def compute(values: list[Any]) -> Any:
        count = values[0].size
        if values[0].ndim != 1:
            return None
        begin, size = (graph.sizes_of(index, "a slice", 1)[0].known for index in op.inputs[1:])
        if begin is None or size is None:
            raise NotGenerated("a slice of sizes at an unknown place")
        end = count if size == -1 else begin + size
        if not 0 <= begin <= end <= count:
            raise NotGenerated("a slice of sizes does not lie within them")
        return values[0][begin:end]

    if (known := moved_integers(graph, op, (0,), compute)) is not None:
        return known
    source = graph.node(op.inputs[0])
    rank = len(source.shape)
    begins = graph.sizes_of(op.inputs[1], "the begin of a slice", rank)
    sizes = graph.sizes_of(op.inputs[2], "the size of a slice", rank)
    rests = (graph.sizes.subtract(whole, begin) for begin, whole in zip(begins, source.shape, strict=True))
    lengths = [_up_to(graph, size, rest) for size, rest in zip(sizes, rests, strict=True)]
    return sliced(graph, source, begins, [1] * rank, lengths)


def _up_to(graph: Graph, size: Size, rest: Size) -> Size:
    """Returns a size, which is that of the rest where it is -1."""
    is_rest = graph.sizes.compare("==", size, number(-1), lambda a, b: a == b)
    return graph.sizes.chosen(is_rest, rest, size)


@rule("STRIDED_SLICE", takes="xiii", options="StridedSliceOptions")
def _strided_slice(graph: Graph, op: BodyOp) -> Node:
    options = op.options
    begins = list(graph.integers(op.inputs[1], "the begin of a slice").ravel())
    ends = list(graph.integers(op.inputs[2], "the end of a slice").ravel())
    steps = graph.numbers(op.inputs[3], "the step of a slice")
    if options.ellipsisMask or options.newAxisMask or options.offset:
        raise NotGenerated("STRIDED_SLICE with an ellipsis, a new axis or offsets")
    source = graph.node(op.inputs[0])
    count, specified = len(source.shape), len(steps)
    if specified > count or {len(begins), len(ends)} != {specified} or 0 in steps:
        raise NotGenerated(f"the begins, ends or steps of a slice are not {specified} of {count} axes")
    begins, ends, steps = _padded(begins, ZERO, count), _padded(ends, ZERO, count), _padded(steps, 1, count)
    starts: list[Size] = []
    sizes: list[Size] = []
    out: list[int] = []
    for axis, whole in enumerate(source.shape):
        step = steps[axis]
        masked = axis >= specified
        if options.shrinkAxisMask >> axis & 1:
            starts.append(graph.sizes.from_end(begins[axis], whole))
            sizes.append(ONE)
            out.append(axis)
            continue
        least, most = (ZERO, whole) if step > 0 else (number(-1), graph.sizes.subtract(whole, ONE))
        at_begin = bool(masked or options.beginMask >> axis & 1)
        at_end = bool(masked or options.endMask >> axis & 1)
        start = (least if step > 0 else most) if at_begin else _clamped(graph, begins[axis], whole, (least, most))
        end = (most if step > 0 else least) if at_end else _clamped(graph, ends[axis], whole, (least, most))
        span = graph.sizes.subtract(end, start) if step > 0 else graph.sizes.subtract(start, end)
        if not (at_begin and at_end):
            span = graph.sizes.largest(span, ZERO)
        by = abs(step)
        sizes.append(span if by == 1 else graph.sizes.divide(graph.sizes.add(span, number(by - 1)), number(by)))
        starts.append(start)

    def compute(values: list[Any]) -> Any:
        if values[0].ndim != 1:
            return None
        start, size = starts[0].known, sizes[0].known
        if start is None or size is None:
            raise NotGenerated("a slice of sizes at an unknown place")
        places = range(start, start + steps[0] * size, steps[0])
        if any(not 0 <= place < values[0].size for place in (*places[:1], *places[-1:])):
            raise NotGenerated("a slice of sizes does not lie within them")
        made = values[0][[*places]]
        return made[0] if out else made

    if (known := moved_integers(graph, op, (0,), compute)) is not None:
        return known
    made = sliced(graph, source, starts, steps, sizes)
    return reshaped(graph, made, [size for axis, size in enumerate(sizes) if axis not in out])


def _padded(values: Sequence[Any], rest: Any, count: int) -> list[Any]:
    return [*values, *[rest] * (count - len(values))]


def _clamped(graph: Graph, value: Size, whole: Size, limits: tuple[Size, Size]) -> Size:
    least, most = limits
    value = graph.sizes.from_end(value, whole)
    if value.known is not None and most.known is None and value.known >= (1 << 31) - 1:
        return most
    if value in (least, most):
        return value
    return graph.sizes.largest(least, graph.sizes.smallest(value, most))


@rule("SPLIT", takes="ix", gives="x+")
def _split(graph: Graph, op: BodyOp) -> list[Node]:
    source = graph.node(op.inputs[1])
    axis = graph.axis_of(op.inputs[0], len(source.shape))
    count = number(len(op.outputs))
    size = graph.sizes.divide(source.shape[axis], count)
    return _cut(graph, op, op.inputs[1], axis, [size] * len(op.outputs))


@rule("SPLIT_V", takes="xii", gives="x+")
def _split_v(graph: Graph, op: BodyOp) -> list[Node]:
    source = graph.node(op.inputs[0])
    sizes = graph.sizes_of(op.inputs[1], "the sizes of a split", len(op.outputs))
    axis = graph.axis_of(op.inputs[2], len(source.shape))
    rest = source.shape[axis]
    for size in sizes:
        rest = rest if size.known == -1 else graph.sizes.subtract(rest, size)
    sizes = [rest if size.known == -1 else size for size in sizes]
    if sum(size is rest for size in sizes) > 1:
        raise NotGenerated("a split has several sizes that are the rest")
    return _cut(graph, op, op.inputs[0], axis, sizes)


def _cut(graph: Graph, op: BodyOp, index: int, axis: int, sizes: Sequence[Size]) -> list[Node]:
    source, integers = graph.node(index), graph.maybe_integers(index)
    ends = np.cumsum([size.known or 0 for size in sizes])
    if integers is not None and ends[-1] == integers.shape[axis]:
        for output, part in zip(op.outputs, np.split(integers, ends[:-1], axis), strict=True):
            graph.set_integers(output, part)
        return [graph.node(output) for output in op.outputs]
    start, parts = ZERO, list[Node]()
    for size in sizes:
        shape = [size if own == axis else other for own, other in enumerate(source.shape)]
        begins = [start if own == axis else ZERO for own in range(len(shape))]
        parts.append(sliced(graph, source, begins, [1] * len(shape), shape))
        start = graph.sizes.add(start, size)
    graph.sizes.same(start, source.shape[axis], "the parts of a split are not all of it")
    return parts


@rule("REVERSE_V2", takes="xi")
def _reverse(graph: Graph, op: BodyOp) -> Node:
    source = graph.node(op.inputs[0])
    axes = {graph.axis(axis, len(source.shape)) for axis in graph.numbers(op.inputs[1], "the axes")}
    begins = [graph.sizes.subtract(size, ONE) if axis in axes else ZERO for axis, size in enumerate(source.shape)]
    return sliced(graph, source, begins, [-1 if axis in axes else 1 for axis in range(len(begins))], source.shape)
