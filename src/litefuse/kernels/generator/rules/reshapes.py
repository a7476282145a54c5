"""Reshapes and transpositions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from litefuse.kernels.generator.body import BodyOp
from litefuse.kernels.generator.graph import Graph, NotGenerated, rule
from litefuse.kernels.generator.indices import Index
from litefuse.kernels.generator.nodes import IndexArithmetic, Node, Position
from litefuse.kernels.generator.rules.sizes import moved_integers
from litefuse.kernels.generator.sizes import ONE, Requirement, Size, number, product


def reshaped(graph: Graph, node: Node, shape: Sequence[Size]) -> Node:
    """Returns a tensor with other sizes, whose product is the same."""
    if tuple(shape) == node.shape:
        return node
    groups = _groups(graph, node.shape, shape)

    def place(loops: IndexArithmetic, position: Position) -> Position:
        indices = [Index()] * len(node.shape)
        for sources, targets in groups:
            flat, stride = Index(), ONE
            for axis in reversed(targets):
                flat = flat.plus(position[axis].times(stride), loops.sizes)
                stride = stride * shape[axis]
            for axis in reversed(sources[1:]):
                flat, indices[axis] = loops.divided(flat, node.shape[axis])
            if sources:
                indices[sources[0]] = flat
        return tuple(indices)

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
                message = "a reshape changes the number of elements"
                graph.sizes.require(f"{first} == {second}", Requirement(message, first, second))
                break
        groups.append((sources, targets))
    for rest, shape in ((left, source), (right, target)):
        for axis in rest:
            graph.sizes.same(shape[axis], ONE, "a reshape changes the number of elements")
    return groups


@rule("RESHAPE", takes="xI", options="ReshapeOptions")
def _reshape(graph: Graph, op: BodyOp) -> Node:
    if op.inputs[1:]:
        sizes = list(graph.integers(op.inputs[1], "the shape of a reshape").ravel())
    else:
        new_shape = op.options.newShape
        sizes = [number(int(size)) for size in (new_shape if new_shape is not None else ())]

    shape = [size.known for size in sizes]

    def compute(values: list[Any]) -> Any:
        try:
            return None if None in shape else values[0].reshape(shape)
        except ValueError:
            raise NotGenerated("a reshape of sizes changes their number") from None

    if (known := moved_integers(graph, op, (0,), compute)) is not None:
        return known
    source = graph.node(op.inputs[0])
    unknown: list[int] = [axis for axis, size in enumerate(sizes) if size.known == -1]
    if len(unknown) > 1:
        raise NotGenerated("a reshape to several unknown sizes")
    if unknown:
        rest = product(size for size in sizes if size.known != -1)
        if rest.known == 0:
            raise NotGenerated("a reshape of nothing to an unknown size")
        sizes[unknown[0]] = graph.sizes.divide(product(source.shape), rest)
    return reshaped(graph, source, sizes)


@rule("SQUEEZE", takes="x", options="SqueezeOptions")
def _squeeze(graph: Graph, op: BodyOp) -> Node:
    dims = [int(axis) for axis in (op.options.squeezeDims if op.options.squeezeDims is not None else ())]
    source = graph.node(op.inputs[0])
    rank = len(source.shape)
    out = {graph.axis(axis, rank) for axis in dims} or {axis for axis, size in enumerate(source.shape) if size == ONE}
    known = moved_integers(graph, op, (0,), lambda values: np.squeeze(values[0], tuple(out)))
    if known is not None:
        return known
    for axis in out:
        graph.sizes.same(source.shape[axis], ONE, "a squeezed size is not 1")
    return reshaped(graph, source, [size for axis, size in enumerate(source.shape) if axis not in out])


@rule("EXPAND_DIMS", takes="xi")
def _expand(graph: Graph, op: BodyOp) -> Node:
    source = graph.node(op.inputs[0])
    axis = graph.axis_of(op.inputs[1], len(source.shape) + 1)
    known = moved_integers(graph, op, (0,), lambda values: np.expand_dims(values[0], axis))
    return graph.with_axes(source, [axis]) if known is None else known


@rule("TRANSPOSE", takes="xi")
def _transpose(graph: Graph, op: BodyOp) -> Node:
    source = graph.node(op.inputs[0])
    order = [graph.axis(axis, len(source.shape)) for axis in graph.numbers(op.inputs[1], "the order of axes")]
    if sorted(order) != list(range(len(source.shape))):
        raise NotGenerated(f"a transposition has the order {order}")
    return graph.transposed(source, order)
