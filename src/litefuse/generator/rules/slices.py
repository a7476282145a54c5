"""Slices and splits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from litefuse.generator.body import BodyOp
from litefuse.generator.emitter import Emitter
from litefuse.generator.graph import Graph, NotGenerated, rule
from litefuse.generator.nodes import Node, Position
from litefuse.generator.rules.reshapes import reshaped
from litefuse.generator.rules.sizes import moved_integers
from litefuse.generator.sizes import ONE, ZERO, Size, number

__all__ = ["require_within", "sliced"]


def sliced(graph: Graph, source: Node, begins: Sequence[Size], steps: Sequence[int], sizes: Sequence[Size]) -> Node:
    """Returns elements from ``begins`` in steps."""

    def place(emitter: Emitter, position: Position) -> Position:
        return tuple(
            index.times(number(step)).plus_size(begin, emitter.sizes)
            for index, begin, step in zip(position, begins, steps, strict=True)
        )

    return graph.moved(source, sizes, place)


@rule("SLICE")
def _slice(graph: Graph, op: BodyOp) -> Node:
    begins = list(graph.integers(op.inputs[1], "the begin of a slice").ravel())
    sizes = list(graph.integers(op.inputs[2], "the size of a slice").ravel())

    def compute(values: list[Any]) -> Any:
        start, count = begins[0].known, sizes[0].known
        if start is None or count is None:
            raise NotGenerated("a slice of sizes at an unknown place")
        return values[0][start:] if count < 0 else values[0][start : start + count]

    if (known := moved_integers(graph, op, (0,), compute)) is not None:
        return known
    source = graph.node(op.inputs[0])
    found: list[Size] = []
    for begin, size, whole in zip(begins, sizes, source.shape, strict=True):
        rest = graph.sizes.subtract(whole, begin)
        found.append(rest if size.known == -1 else size)
        require_within(graph, begin, found[-1], whole)
    return sliced(graph, source, begins, [1] * len(begins), found)


def require_within(graph: Graph, begin: Size, size: Size, whole: Size) -> None:
    """Requires a slice to be inside of a tensor."""
    end = graph.sizes.add(begin, size)
    for value in (begin, size):
        if value.known is None:
            graph.sizes.require(f"{value} >= 0", "a slice has a negative size or begin")
        elif value.known < 0:
            raise NotGenerated("a slice with a negative size or begin")
    if end == whole:
        return
    if end.known is not None and whole.known is not None:
        if end.known > whole.known:
            raise NotGenerated("a slice that is larger than the tensor")
    else:
        graph.sizes.require(f"{end} <= {whole}", "a slice does not end within the tensor")


@rule("STRIDED_SLICE")
def _strided_slice(graph: Graph, op: BodyOp) -> Node:
    options = op.options
    begins = list(graph.integers(op.inputs[1], "the begin of a slice").ravel())
    ends = list(graph.integers(op.inputs[2], "the end of a slice").ravel())
    steps = graph.numbers(op.inputs[3], "the step of a slice")
    if options.ellipsisMask or options.newAxisMask or getattr(options, "offset", False):
        raise NotGenerated("STRIDED_SLICE with an ellipsis, a new axis or offsets")
    source = graph.node(op.inputs[0])
    count = len(source.shape)
    begins, ends, steps = _padded(begins, ZERO, count), _padded(ends, ZERO, count), _padded(steps, 1, count)
    given = graph.integers(op.inputs[1], "").size
    starts: list[Size] = []
    sizes: list[Size] = []
    out: list[int] = []
    for axis, whole in enumerate(source.shape):
        step = steps[axis]
        masked = axis >= given
        if options.shrinkAxisMask >> axis & 1:
            start = _wrapped(graph, begins[axis], whole)
            require_within(graph, start, ONE, whole)
            starts.append(start)
            sizes.append(ONE)
            out.append(axis)
            continue
        least, most = (ZERO, whole) if step > 0 else (number(-1), graph.sizes.subtract(whole, ONE))
        at_begin = bool(masked or options.beginMask >> axis & 1)
        at_end = bool(masked or options.endMask >> axis & 1)
        start = (least if step > 0 else most) if at_begin else _clamped(graph, begins[axis], whole, (least, most))
        end = (most if step > 0 else least) if at_end else _clamped(graph, ends[axis], whole, (least, most))
        span = graph.sizes.subtract(end, start) if step > 0 else graph.sizes.subtract(start, end)
        if span.known is None and not (at_begin and at_end):
            span = graph.sizes.largest(span, ZERO)
        elif span.known is not None:
            span = number(max(span.known, 0))
        by = abs(step)
        sizes.append(span if by == 1 else graph.sizes.divide(graph.sizes.add(span, number(by - 1)), number(by)))
        starts.append(start)

    def compute(values: list[Any]) -> Any:
        start, size = starts[0].known, sizes[0].known
        if start is None or size is None or values[0].ndim != 1:
            raise NotGenerated("a slice of sizes at an unknown place")
        made = values[0][[start + steps[0] * place for place in range(size)]]
        return made[0] if out else made

    if (known := moved_integers(graph, op, (0,), compute)) is not None:
        return known
    made = sliced(graph, source, starts, steps, sizes)
    return reshaped(graph, made, [size for axis, size in enumerate(sizes) if axis not in out])


def _padded(values: Sequence[Any], rest: Any, count: int) -> list[Any]:
    return [*values, *[rest] * (count - len(values))]


def _wrapped(graph: Graph, value: Size, whole: Size) -> Size:
    """Returns a place that may be counted from the end."""
    if value.known is None:
        return value
    return graph.sizes.add(whole, value) if value.known < 0 else value


def _clamped(graph: Graph, value: Size, whole: Size, limits: tuple[Size, Size]) -> Size:
    least, most = limits
    value = _wrapped(graph, value, whole)
    if value.known is not None and most.known is None and value.known >= (1 << 31) - 1:
        return most
    if value in (least, most):
        return value
    return graph.sizes.largest(least, graph.sizes.smallest(value, most))


@rule("SPLIT")
def _split(graph: Graph, op: BodyOp) -> list[Node]:
    (axis,) = graph.numbers(op.inputs[0], "the axis")
    source = graph.node(op.inputs[1])
    axis = graph.axis(axis, len(source.shape))
    count = number(len(op.outputs))
    size = graph.sizes.divide(source.shape[axis], count)
    graph.sizes.same(size * count, source.shape[axis], "SPLIT")
    return _cut(graph, source, axis, [size] * len(op.outputs))


@rule("SPLIT_V")
def _split_v(graph: Graph, op: BodyOp) -> list[Node]:
    source = graph.node(op.inputs[0])
    sizes = list(graph.integers(op.inputs[1], "the sizes of a split").ravel())
    (axis,) = graph.numbers(op.inputs[2], "the axis")
    axis = graph.axis(axis, len(source.shape))
    rest = source.shape[axis]
    for size in sizes:
        rest = rest if size.known == -1 else graph.sizes.subtract(rest, size)
    sizes = [rest if size.known == -1 else size for size in sizes]
    return _cut(graph, source, axis, sizes)


def _cut(graph: Graph, source: Node, axis: int, sizes: Sequence[Size]) -> list[Node]:
    start, found = ZERO, list[Node]()
    for size in sizes:
        shape = [size if own == axis else each for own, each in enumerate(source.shape)]
        begins = [start if own == axis else ZERO for own in range(len(shape))]
        found.append(sliced(graph, source, begins, [1] * len(shape), shape))
        start = graph.sizes.add(start, size)
    require_within(graph, ZERO, start, source.shape[axis])
    return found


@rule("REVERSE_V2")
def _reverse(graph: Graph, op: BodyOp) -> Node:
    source = graph.node(op.inputs[0])
    axes = {graph.axis(axis, len(source.shape)) for axis in graph.numbers(op.inputs[1], "the axes")}
    begins = [graph.sizes.subtract(size, ONE) if axis in axes else ZERO for axis, size in enumerate(source.shape)]
    return sliced(graph, source, begins, [-1 if axis in axes else 1 for axis in range(len(begins))], source.shape)
