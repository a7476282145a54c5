"""Ops that read at places which integers choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from litefuse.kernels.generator.body import BodyOp
from litefuse.kernels.generator.graph import Graph, NotGenerated, rule
from litefuse.kernels.generator.indices import Index, at_constant
from litefuse.kernels.generator.nodes import CPP_TYPES, Counted, Node, Picked, Position
from litefuse.kernels.generator.rules.reshapes import reshaped
from litefuse.kernels.generator.rules.sizes import moved_integers
from litefuse.kernels.generator.sizes import Size


@rule("GATHER", takes="xk", options="GatherOptions")
def _gather(graph: Graph, op: BodyOp) -> Node:
    where = graph.maybe_integers(op.inputs[1])

    def compute(values: list[Any]) -> Any:
        places = [size.known for size in values[1].ravel()]
        if values[0].ndim != 1 or any(place is None or not 0 <= place < values[0].size for place in places):
            raise NotGenerated("sizes are gathered from an unknown place")
        return values[0][np.array(places, int).reshape(values[1].shape)]

    if where is not None and (known := moved_integers(graph, op, (0, 1), compute)) is not None:
        return known
    source, indices = graph.node(op.inputs[0]), graph.node(op.inputs[1])
    axis, batch = graph.axis(int(op.options.axis), len(source.shape)), int(op.options.batchDims)
    batch += len(indices.shape) if batch < 0 else 0
    if not 0 <= batch <= min(axis, len(indices.shape)):
        raise NotGenerated(f"GATHER has {batch} batch dimensions")
    value, size = graph.tensor(op.inputs[1]).value, source.shape[axis].known
    if value is None or size is None or ((value < 0) | (value >= size)).any():
        _check_inside(graph, indices, source.shape[axis])
    return picked(graph, source, indices, axis, batch)


def picked(graph: Graph, source: Node, indices: Node, axis: int, batch: int = 0) -> Node:
    """Returns slices of a tensor along an axis, at indices that are inside."""
    behind = axis + len(indices.shape) - batch
    both = [
        graph.sizes.same(*pair, "the batches of GATHER")
        for pair in zip(source.shape, indices.shape[:batch], strict=False)
    ]
    shape = (*both, *source.shape[batch:axis], *indices.shape[batch:], *source.shape[axis + 1 :])

    def place(position: Position) -> tuple[Sequence[Position], Callable[[Sequence[Index]], Position]]:
        where = (*position[:batch], *position[axis:behind])
        return [where], lambda chosen: (*position[:axis], *chosen, *position[behind:])

    return read_at(graph, source, shape, indices, place)


def read_at(graph: Graph, source: Node, shape: Sequence[Size], indices: Node, place: Any) -> Node:
    """Returns elements of a tensor at places that are inside; see ``Picked``."""
    graph.require_tensor(shape)
    return Picked(
        source.dtype,
        tuple(shape),
        source=source,
        indices=indices,
        place=place,
        label="picked",
        number=graph.next_number(),
    )


def _check_inside(graph: Graph, indices: Node, size: Size) -> None:
    outside = graph.computed(
        "BOOL",
        [indices],
        lambda texts: f"({texts[0]} < {indices.cpp_type}(0)) | (static_cast<int64_t>({texts[0]}) >= {size})",
        label="outside",
    )
    graph.check(outside, "an index is outside of the tensor that it is of")


@rule("GATHER_ND", takes="xk")
def _gather_nd(graph: Graph, op: BodyOp) -> Node:
    source, indices = graph.node(op.inputs[0]), graph.of_rank(op.inputs[1], 1)
    depth, last = indices.shape[-1].known, len(indices.shape) - 1
    if depth is None or depth > len(source.shape):
        raise NotGenerated("GATHER_ND has an unknown number of indices, or more than axes")
    for axis in range(depth):
        along = graph.moved(indices, indices.shape[:last], lambda _, found, axis=axis: (*found, at_constant(axis)))
        _check_inside(graph, along, source.shape[axis])

    def place(position: Position) -> tuple[Sequence[Position], Callable[[Sequence[Index]], Position]]:
        places = [(*position[:last], at_constant(axis)) for axis in range(depth)]
        return places, lambda chosen: (*chosen, *position[last:])

    return read_at(graph, source, (*indices.shape[:last], *source.shape[depth:]), indices, place)


@rule("ONE_HOT", takes="iixx", options="OneHotOptions")
def _one_hot(graph: Graph, op: BodyOp) -> Node:
    indices = graph.node(op.inputs[0])
    on, off = (reshaped(graph, graph.node(op.inputs[place]), ()) for place in (2, 3))
    (depth,) = graph.sizes_of(op.inputs[1], "the depth", 1)
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
