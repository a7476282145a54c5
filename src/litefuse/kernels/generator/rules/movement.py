"""Ops that put elements together: concatenations, paddings, tiles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from litefuse.kernels.generator.body import BodyOp
from litefuse.kernels.generator.graph import Graph, NotGenerated, literal, rule
from litefuse.kernels.generator.indices import at_constant
from litefuse.kernels.generator.nodes import CPP_TYPES, Joined, Node
from litefuse.kernels.generator.rules.reshapes import reshaped
from litefuse.kernels.generator.rules.sizes import moved_integers
from litefuse.kernels.generator.rules.slices import sliced
from litefuse.kernels.generator.sizes import ZERO, Size, number


@rule("CONCATENATION", takes="x+", options="ConcatenationOptions")
def _concatenation(graph: Graph, op: BodyOp) -> Node:
    from litefuse.kernels.generator.rules.elementwise import activated

    parts = _parts(graph, op)
    axis = graph.axis(int(op.options.axis), len(parts[0].shape))
    known = moved_integers(graph, op, range(len(op.inputs)), lambda values: np.concatenate(values, axis))
    if known is not None:
        return known
    return activated(graph, op, joined(graph, parts, axis))


def _parts(graph: Graph, op: BodyOp) -> list[Node]:
    parts = [graph.node(index) for index in op.inputs]
    if len({len(part.shape) for part in parts}) > 1:
        raise NotGenerated("tensors of several ranks are put together")
    return parts


def joined(graph: Graph, parts: Sequence[Node], axis: int) -> Node:
    """Returns tensors one behind the other along an axis."""
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


@rule("PACK", takes="x+", options="PackOptions")
def _pack(graph: Graph, op: BodyOp) -> Node:
    parts = _parts(graph, op)
    axis = graph.axis(int(op.options.axis), len(parts[0].shape) + 1)
    known = moved_integers(graph, op, range(len(op.inputs)), lambda values: np.stack(values, axis))
    if known is not None:
        return known
    return joined(graph, [graph.with_axes(part, [axis]) for part in parts], axis)


@rule("UNPACK", takes="x", gives="x+", options="UnpackOptions")
def _unpack(graph: Graph, op: BodyOp) -> list[Node]:
    source = graph.node(op.inputs[0])
    axis = graph.axis(int(op.options.axis), len(source.shape))
    graph.sizes.same(source.shape[axis], number(len(op.outputs)), "UNPACK")
    return [_at(graph, source, axis, place) for place in range(len(op.outputs))]


def _at(graph: Graph, source: Node, axis: int, place: int) -> Node:
    shape = [size for own, size in enumerate(source.shape) if own != axis]
    return graph.moved(source, shape, lambda _, found: (*found[:axis], at_constant(place), *found[axis:]))


@rule("PAD", takes="xi")
@rule("PADV2", takes="xix")
def _pad(graph: Graph, op: BodyOp) -> Node:
    source = graph.node(op.inputs[0])
    amounts = _amounts(graph, op.inputs[1], len(source.shape))
    value = reshaped(graph, graph.node(op.inputs[2]), ()) if op.name == "PADV2" else None
    zero = literal(0, source.dtype)
    made = source
    for axis, (before, behind) in enumerate(amounts):
        parts = [made]
        for place, amount in ((0, before), (len(parts), behind)):
            shape = tuple(amount if own == axis else size for own, size in enumerate(made.shape))
            if value is None:
                filled = graph.computed(source.dtype, [], lambda _: zero, shape=shape)
            else:
                filled = graph.computed(source.dtype, [value], lambda texts: texts[0], shape=shape)
            if amount != ZERO:
                parts.insert(0 if place == 0 else len(parts), filled)
        made = joined(graph, parts, axis) if len(parts) > 1 else made
    return made


def _amounts(graph: Graph, index: int, rank: int) -> list[tuple[Size, Size]]:
    """Returns how much is put before and behind along each axis."""
    sizes = graph.sizes_of(index, "the padding", 2 * rank)
    return [*zip(sizes[::2], sizes[1::2], strict=True)]


@rule("MIRROR_PAD", takes="xi", options="MirrorPadOptions")
def _mirror_pad(graph: Graph, op: BodyOp) -> Node:
    made = graph.node(op.inputs[0])
    skipped = 1 if int(op.options.mode) == 0 else 0  # REFLECT leaves out the edge
    for axis, (before, behind) in enumerate(_amounts(graph, op.inputs[1], len(made.shape))):
        whole = made.shape[axis]
        mirrored: list[Node | None] = []
        for amount, first in (
            (before, graph.sizes.add(before, number(skipped - 1))),
            (behind, graph.sizes.subtract(whole, number(1 + skipped))),
        ):
            shape = [amount if own == axis else size for own, size in enumerate(made.shape)]
            begins = [first if own == axis else ZERO for own in range(len(shape))]
            steps = [-1 if own == axis else 1 for own in range(len(shape))]
            mirrored.append(None if amount == ZERO else sliced(graph, made, begins, steps, shape))
        parts = [part for part in (mirrored[0], made, mirrored[1]) if part is not None]
        made = joined(graph, parts, axis) if len(parts) > 1 else made
    return made


@rule("TILE", takes="xi")
def _tile(graph: Graph, op: BodyOp) -> Node:
    source = graph.node(op.inputs[0])
    counts = graph.sizes_of(op.inputs[1], "the multiples of a tile", len(source.shape))
    # A tile is a reshape of a broadcast: every axis becomes two.
    spread = graph.with_axes(source, range(0, 2 * len(counts), 2))
    pairs = [size for count, own in zip(counts, source.shape, strict=True) for size in (count, own)]
    whole = graph.computed(source.dtype, [spread], lambda texts: texts[0], shape=tuple(pairs))
    return reshaped(graph, whole, [count * own for count, own in zip(counts, source.shape, strict=True)])


@rule("BITCAST", takes="?", gives="?")
def _bits(graph: Graph, op: BodyOp) -> Node:
    dtype = graph.tensor(op.outputs[0]).dtype
    source = graph.of_rank(op.inputs[0], 1 if dtype == "COMPLEX64" else 0)
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
        return joined(graph, [graph.with_axes(part, [last + 1]) for part in parts], last + 1)
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


@rule("SAME", takes="x")
def _same(graph: Graph, op: BodyOp) -> Node:
    """A composite within the body."""
    if (known := moved_integers(graph, op, (0,), lambda values: values[0])) is not None:
        return known
    return graph.node(op.inputs[0])
