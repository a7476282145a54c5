"""Ops that move elements: reshapes, slices, concatenations, paddings, gathers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from litefuse.generator.body import BodyOp
from litefuse.generator.emitter import Emitter
from litefuse.generator.graph import Graph, NotGenerated, literal, rule
from litefuse.generator.indices import Index, at_constant
from litefuse.generator.nodes import CPP_TYPES, Counted, Joined, Node, Picked, Position
from litefuse.generator.rules.sizes import moved_integers
from litefuse.generator.sizes import ONE, ZERO, Size, number

__all__ = ["reshaped", "sliced"]


def reshaped(graph: Graph, node: Node, shape: Sequence[Size]) -> Node:
    """Returns a tensor with other sizes, whose product is the same."""
    if tuple(shape) == node.shape:
        return node
    groups = _groups(graph, node.shape, shape)

    def place(emitter: Emitter, position: Position) -> Position:
        found = [Index()] * len(node.shape)
        for sources, targets in groups:
            flat, stride = Index(), ONE
            for axis in reversed(targets):
                flat = flat.plus(position[axis].times(stride), emitter.sizes)
                stride = stride * shape[axis]
            for axis in reversed(sources[1:]):
                flat, found[axis] = emitter.divided(flat, node.shape[axis])
            if sources:
                found[sources[0]] = flat
        return tuple(found)

    return graph.moved(node, shape, place)


def _groups(graph: Graph, source: Sequence[Size], target: Sequence[Size]) -> list[tuple[list[int], list[int]]]:
    """Returns groups of axes of both shapes that have the same product; axes of size 1 are in none."""
    left = [axis for axis, size in enumerate(source) if size != ONE]
    right = [axis for axis, size in enumerate(target) if size != ONE]
    groups: list[tuple[list[int], list[int]]] = []
    while left and right:
        sources, targets = [left.pop(0)], [right.pop(0)]
        first, second = source[sources[0]], target[targets[0]]
        while first != second:
            more_of_source = second.over(first) is not None
            if (more_of_source or not right) and left:
                sources.append(left.pop(0))
                first = first * source[sources[-1]]
            elif right:
                targets.append(right.pop(0))
                second = second * target[targets[-1]]
            else:
                graph.sizes.require(f"{first} == {second}", "a reshape changes the number of elements")
                break
        groups.append((sources, targets))
    for rest, shape in ((left, source), (right, target)):
        for axis in rest:
            graph.sizes.same(shape[axis], ONE, "a reshape changes the number of elements")
    return groups


@rule("RESHAPE")
def _reshape(graph: Graph, op: BodyOp) -> Node:
    if len(op.inputs) > 1:
        sizes = list(graph.integers(op.inputs[1], "the shape of a reshape").ravel())
    else:
        sizes = [number(int(size)) for size in op.options.newShape]
    known = moved_integers(graph, op, (0,), lambda values: values[0].reshape([-1] if sizes else []))
    if known is not None:
        return known
    source = graph.node(op.inputs[0])
    total = ONE
    for size in source.shape:
        total = total * size
    unknown = [axis for axis, size in enumerate(sizes) if size.known == -1]
    if len(unknown) > 1:
        raise NotGenerated("a reshape to several unknown sizes")
    if unknown:
        rest = ONE
        for axis, size in enumerate(sizes):
            rest = rest * (ONE if axis in unknown else size)
        if rest.known == 0:
            raise NotGenerated("a reshape of nothing to an unknown size")
        sizes[unknown[0]] = graph.sizes.divide(total, rest)
    return reshaped(graph, source, sizes)


@rule("SQUEEZE")
def _squeeze(graph: Graph, op: BodyOp) -> Node:
    dims = [int(axis) for axis in (op.options.squeezeDims if op.options.squeezeDims is not None else ())]
    known = moved_integers(graph, op, (0,), lambda values: values[0].reshape([]) if values[0].size == 1 else values[0])
    if known is not None:
        return known
    source = graph.node(op.inputs[0])
    rank = len(source.shape)
    out = {graph.axis(axis, rank) for axis in dims} or {axis for axis, size in enumerate(source.shape) if size == ONE}
    for axis in out:
        graph.sizes.same(source.shape[axis], ONE, "a squeezed size is not 1")
    return reshaped(graph, source, [size for axis, size in enumerate(source.shape) if axis not in out])


@rule("EXPAND_DIMS")
def _expand(graph: Graph, op: BodyOp) -> Node:
    (axis,) = graph.numbers(op.inputs[1], "the axis")
    known = moved_integers(
        graph, op, (0,), lambda values: values[0].reshape([1]) if values[0].ndim == 0 else values[0][None]
    )
    if known is not None:
        return known
    source = graph.node(op.inputs[0])
    return graph.with_axes(source, [graph.axis(axis, len(source.shape) + 1)])


@rule("TRANSPOSE")
def _transpose(graph: Graph, op: BodyOp) -> Node:
    source = graph.node(op.inputs[0])
    order = [graph.axis(axis, len(source.shape)) for axis in graph.numbers(op.inputs[1], "the order of axes")]
    if sorted(order) != list(range(len(source.shape))):
        raise NotGenerated(f"a transposition has the order {order}")
    return graph.moved(
        source,
        [source.shape[axis] for axis in order],
        lambda _, position: tuple(position[order.index(axis)] for axis in range(len(order))),
    )


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
        _require_within(graph, begin, found[-1], whole)
    return sliced(graph, source, begins, [1] * len(begins), found)


def _require_within(graph: Graph, begin: Size, size: Size, whole: Size) -> None:
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
            _require_within(graph, start, ONE, whole)
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
    if value == least or value == most:
        return value
    return graph.sizes.largest(least, graph.sizes.smallest(value, most))


@rule("CONCATENATION")
def _concatenation(graph: Graph, op: BodyOp) -> Node:
    from litefuse.generator.rules.elementwise import activated  # noqa: PLC0415

    places = range(len(op.inputs))
    known = moved_integers(graph, op, places, lambda values: np.concatenate(values) if values[0].ndim else values[0])
    if known is not None:
        return known
    parts = [graph.node(index) for index in op.inputs]
    axis = graph.axis(int(op.options.axis), len(parts[0].shape))
    return activated(graph, op, _joined(graph, parts, axis))


def _joined(graph: Graph, parts: Sequence[Node], axis: int) -> Node:
    total = ZERO
    shape = list(parts[0].shape)
    for part in parts:
        total = graph.sizes.add(total, part.shape[axis])
        for own, size in enumerate(part.shape):
            if own != axis:
                shape[own] = graph.sizes.same(shape[own], size, "sizes that are to be the same")
    shape[axis] = total
    kept = [part for part in parts if part.shape[axis] != ZERO] or [parts[0]]
    if len(kept) == 1:
        return kept[0]
    return Joined(
        parts[0].dtype, tuple(shape), axis=axis, parts=tuple(kept), label="joined", number=graph.next_number()
    )


@rule("PACK")
def _pack(graph: Graph, op: BodyOp) -> Node:
    def compute(values: list[Any]) -> Any:
        return np.stack(values)

    if (known := moved_integers(graph, op, range(len(op.inputs)), compute)) is not None:
        return known
    parts = [graph.node(index) for index in op.inputs]
    axis = graph.axis(int(op.options.axis), len(parts[0].shape) + 1)
    return _joined(graph, [graph.with_axes(part, [axis]) for part in parts], axis)


@rule("UNPACK")
def _unpack(graph: Graph, op: BodyOp) -> list[Node]:
    source = graph.node(op.inputs[0])
    axis = graph.axis(int(op.options.axis), len(source.shape))
    graph.sizes.same(source.shape[axis], number(len(op.outputs)), "UNPACK")
    return [_at(graph, source, axis, place) for place in range(len(op.outputs))]


def _at(graph: Graph, source: Node, axis: int, place: int) -> Node:
    shape = [size for own, size in enumerate(source.shape) if own != axis]
    return graph.moved(source, shape, lambda _, found: (*found[:axis], at_constant(place), *found[axis:]))


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
    _require_within(graph, ZERO, start, source.shape[axis])
    return found


@rule("PAD", "PADV2")
def _pad(graph: Graph, op: BodyOp) -> Node:
    source = graph.node(op.inputs[0])
    amounts = graph.integers(op.inputs[1], "the padding")
    value = graph.node(op.inputs[2]) if op.name == "PADV2" else None
    zero = literal(0, source.dtype)
    made = source
    for axis, (before, behind) in enumerate(amounts):
        parts = [made]
        for place, amount in ((0, before), (len(parts), behind)):
            if amount.known is not None and amount.known < 0:
                raise NotGenerated("a negative padding")
            if amount.known is None:
                graph.sizes.require(f"{amount} >= 0", "a negative padding")
            shape = tuple(amount if own == axis else size for own, size in enumerate(made.shape))
            if value is None:
                filled = graph.computed(source.dtype, [], lambda _: zero, shape=shape)
            else:
                flat = graph.moved(value, (), lambda _, __: (Index(),) * len(value.shape)) if value.shape else value
                filled = graph.computed(source.dtype, [flat], lambda texts: texts[0], shape=shape)
            if amount != ZERO:
                parts.insert(0 if place == 0 else len(parts), filled)
        made = _joined(graph, parts, axis) if len(parts) > 1 else made
    return made


@rule("MIRROR_PAD")
def _mirror_pad(graph: Graph, op: BodyOp) -> Node:
    made = graph.node(op.inputs[0])
    skipped = 1 if int(op.options.mode) == 0 else 0  # REFLECT leaves out the edge
    for axis, (before, behind) in enumerate(graph.integers(op.inputs[1], "the padding")):
        whole = made.shape[axis]
        mirrored: list[Node | None] = []
        for amount, first in (
            (before, graph.sizes.add(before, number(skipped - 1))),
            (behind, graph.sizes.subtract(whole, number(1 + skipped))),
        ):
            _require_within(graph, ZERO, graph.sizes.add(amount, number(skipped)), whole)
            shape = [amount if own == axis else size for own, size in enumerate(made.shape)]
            begins = [first if own == axis else ZERO for own in range(len(shape))]
            steps = [-1 if own == axis else 1 for own in range(len(shape))]
            mirrored.append(None if amount == ZERO else sliced(graph, made, begins, steps, shape))
        parts = [part for part in (mirrored[0], made, mirrored[1]) if part is not None]
        made = _joined(graph, parts, axis) if len(parts) > 1 else made
    return made


@rule("REVERSE_V2")
def _reverse(graph: Graph, op: BodyOp) -> Node:
    source = graph.node(op.inputs[0])
    axes = {graph.axis(axis, len(source.shape)) for axis in graph.numbers(op.inputs[1], "the axes")}
    begins = [graph.sizes.subtract(size, ONE) if axis in axes else ZERO for axis, size in enumerate(source.shape)]
    return sliced(graph, source, begins, [-1 if axis in axes else 1 for axis in range(len(begins))], source.shape)


@rule("TILE")
def _tile(graph: Graph, op: BodyOp) -> Node:
    counts = list(graph.integers(op.inputs[1], "the multiples of a tile").ravel())
    source = graph.node(op.inputs[0])
    # A tile is a reshape of a broadcast: every axis becomes two.
    spread = graph.with_axes(source, range(0, 2 * len(counts), 2))
    pairs = [size for count, own in zip(counts, source.shape, strict=True) for size in (count, own)]
    for count in counts:
        if count.known is None:
            graph.sizes.require(f"{count} >= 0", "a negative multiple of a tile")
    whole = graph.computed(source.dtype, [spread], lambda texts: texts[0], shape=tuple(pairs))
    return reshaped(graph, whole, [count * own for count, own in zip(counts, source.shape, strict=True)])


@rule("GATHER")
def _gather(graph: Graph, op: BodyOp) -> Node:
    axis = int(op.options.axis)
    where = graph.maybe_integers(op.inputs[1])

    def compute(values: list[Any]) -> Any:
        places = np.array([size.known for size in values[1].ravel()], dtype=object)
        if None in places or values[0].ndim != 1:
            raise NotGenerated("sizes are gathered from an unknown place")
        return values[0][places.astype(int).reshape(values[1].shape)]

    if where is not None and (known := moved_integers(graph, op, (0, 1), compute)) is not None:
        return known
    if int(getattr(op.options, "batchDims", 0)):
        raise NotGenerated("GATHER with batch dimensions")
    source, indices = graph.node(op.inputs[0]), graph.node(op.inputs[1])
    return picked(graph, source, indices, graph.axis(axis, len(source.shape)))


def picked(graph: Graph, source: Node, indices: Node, axis: int) -> Node:
    """Returns slices along an axis, chosen by integers, which are checked."""
    size, rank = source.shape[axis], len(indices.shape)
    kind = CPP_TYPES[indices.dtype]
    outside = graph.computed(
        "BOOL",
        [indices],
        lambda texts: f"({texts[0]} < {kind}(0)) | (static_cast<int64_t>({texts[0]}) >= {size})",
        label="outside",
    )
    graph.check(outside, "an index is outside of the tensor that it is of")
    shape = (*source.shape[:axis], *indices.shape, *source.shape[axis + 1 :])

    def place(_: Emitter, position: Position) -> tuple[Position, Callable[[Index], Position]]:
        before, behind = position[:axis], position[axis + rank :]
        return position[axis : axis + rank], lambda found: (*before, found, *behind)

    return Picked(
        source.dtype, shape, source=source, indices=indices, place=place, label="picked", number=graph.next_number()
    )


@rule("ONE_HOT")
def _one_hot(graph: Graph, op: BodyOp) -> Node:
    indices, on, off = (graph.node(op.inputs[place]) for place in (0, 2, 3))
    depth = graph.integers(op.inputs[1], "the depth").item()
    axis = int(op.options.axis)
    rank = len(indices.shape) + 1
    axis = graph.axis(axis, rank)
    counted = Counted(indices.dtype, (depth,), label="class", number=graph.next_number())
    classes = graph.with_axes(counted, [own for own in range(rank) if own != axis])
    kind = CPP_TYPES[on.dtype]
    return graph.computed(
        on.dtype,
        [graph.with_axes(indices, [axis]), classes, on, off],
        lambda texts: f"({texts[0]} == {texts[1]} ? {kind}({texts[2]}) : {kind}({texts[3]}))",
    )


@rule("BITCAST")
def _bits(graph: Graph, op: BodyOp) -> Node:
    source = graph.node(op.inputs[0])
    dtype = graph.tensor(op.outputs[0]).dtype
    last = len(source.shape) - 1
    if (source.dtype, dtype) == ("FLOAT32", "COMPLEX64"):
        graph.sizes.same(source.shape[last], number(2), "BITCAST")
        real, imaginary = (_at(graph, source, last, place) for place in (0, 1))
        return graph.computed(dtype, [real, imaginary], lambda texts: f"std::complex<float>({texts[0]}, {texts[1]})")
    if (source.dtype, dtype) == ("COMPLEX64", "FLOAT32"):
        parts = [
            graph.computed("FLOAT32", [source], lambda texts, name=name: f"std::{name}({texts[0]})")
            for name in ("real", "imag")
        ]
        return _joined(graph, [graph.with_axes(part, [last + 1]) for part in parts], last + 1)
    sizes = {
        "FLOAT32": 4,
        "INT32": 4,
        "UINT32": 4,
        "FLOAT64": 8,
        "INT64": 8,
        "UINT64": 8,
        "INT16": 2,
        "UINT16": 2,
        "INT8": 1,
        "UINT8": 1,
    }
    if sizes.get(source.dtype, 0) != sizes.get(dtype, -1):
        raise NotGenerated(f"BITCAST of {source.dtype} to {dtype}")
    return graph.computed(dtype, [source], lambda texts: f"Bits<{CPP_TYPES[dtype]}>({texts[0]})")


@rule("SAME")
def _same(graph: Graph, op: BodyOp) -> Node:
    """What a composite within the body gives."""
    if (known := moved_integers(graph, op, (0,), lambda values: values[0])) is not None:
        return known
    return graph.node(op.inputs[0])
