"""Ops of whole rows: the largest elements, Fourier transforms, and sums of slices that integers choose."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.kernels.generator.body import BodyOp
from litefuse.kernels.generator.graph import Graph, NotGenerated, rule
from litefuse.kernels.generator.nodes import Node, OfRows, Scattered
from litefuse.kernels.generator.rows import COMBINED
from litefuse.kernels.generator.rules.elementwise import needs
from litefuse.kernels.generator.rules.gathers import picked
from litefuse.kernels.generator.rules.movement import joined
from litefuse.kernels.generator.rules.products import turned
from litefuse.kernels.generator.rules.slices import sliced
from litefuse.kernels.generator.sizes import ONE, ZERO, Size, number


@rule("TOPK_V2", takes="xi", gives="xi")
def _largest(graph: Graph, op: BodyOp) -> list[Node]:
    source = graph.of_rank(op.inputs[0], 1)
    needs(op, source.dtype, ("FLOAT32", "INT8", "UINT8", "INT32", "INT64"))
    last = len(source.shape) - 1
    (count,) = graph.sizes_of(op.inputs[1], "the number of elements", 1)
    if not graph.sizes.require_most(count, source.shape[last], "there are fewer elements than the largest ones"):
        raise NotGenerated("there are fewer elements than the largest ones")
    shape = (*source.shape[:last], count)
    dtype = graph.tensor(op.outputs[1]).dtype
    needs(op, dtype, ("INT32",))
    places = _of_rows(graph, source, "INT32", shape, "LargestPlaces", ("int32_t", source.shape[last]))
    return [picked(graph, source, places, last, last), places]


def _of_rows(
    graph: Graph, source: Node, dtype: str, shape: tuple[Size, ...], function: str, work: tuple[str, Size]
) -> Node:
    graph.require_tensor(shape)
    return OfRows(dtype, shape, source=source, function=function, work=work, label="rows", number=graph.next_number())


# Longer transforms need larger tables.
_LONGEST = 1 << 14


@rule("RFFT2D", takes="fi", gives="c")
def _fourier(graph: Graph, op: BodyOp) -> Node:
    source = graph.of_rank(op.inputs[0], 2)
    height, width = graph.numbers(op.inputs[1], "the length of a transform")
    # Of width 1, LiteRT leaves imaginary parts as they are in memory.
    if width < 2 or any(not 0 < length <= _LONGEST or length & (length - 1) for length in (height, width)):
        raise NotGenerated(f"a transform of {height} x {width}")
    rows, last = source.shape[-2], len(source.shape) - 1
    if rows != number(height):
        source = _of_height(graph, source, height)
    bins = (*source.shape[:last], number(width // 2 + 1))
    made = _of_rows(graph, source, "COMPLEX64", bins, f"RealFourier<{width}>", ("double", number(2 * width)))
    if height == 1:
        return made
    columns = turned(graph, made)
    work = "double", number(4 * height)
    return turned(graph, _of_rows(graph, columns, "COMPLEX64", columns.shape, f"Fourier<{height}>", work))


def _of_height(graph: Graph, source: Node, height: int) -> Node:
    """Returns the first rows of matrices, and rows of zeros behind those that there are."""
    axis = len(source.shape) - 2
    kept = graph.sizes.smallest(source.shape[axis], number(height))
    shape = (*source.shape[:axis], kept, source.shape[-1])
    cut = sliced(graph, source, [ZERO] * len(shape), [1] * len(shape), shape)
    missing = graph.sizes.subtract(number(height), kept)
    if missing == ZERO:
        return cut
    zeros = graph.computed("FLOAT32", [], lambda _: "0.0f", shape=(*shape[:axis], missing, shape[-1]))
    return joined(graph, [cut, zeros], axis)


@rule(*(f"UNSORTED_SEGMENT_{kind}" for kind in COMBINED), takes="xii")
def _combined(graph: Graph, op: BodyOp) -> Node:
    ids, values = graph.maybe_integers(op.inputs[1]), graph.maybe_integers(op.inputs[0])
    source, indices = graph.node(op.inputs[0]), graph.node(op.inputs[1])
    needs(op, source.dtype, ("FLOAT32", "INT32"))
    rank = len(indices.shape)
    (count,) = graph.sizes_of(op.inputs[2], "the number of segments", 1)
    if not rank <= len(source.shape):
        raise NotGenerated(f"{op.name} has more axes of segments than of what is summed")
    if op.name.endswith("PROD") and ids is not None and values is not None and ids.shape == values.shape:
        graph.set_integers(op.outputs[0], _products(values, ids, graph.numbers(op.inputs[2], "the number")[0]))
        return graph.node(op.outputs[0])
    for own, other in zip(source.shape, indices.shape, strict=False):
        graph.sizes.same(own, other, "the segments and what is summed")
    beyond = graph.computed("BOOL", [indices], lambda texts: f"(static_cast<int64_t>({texts[0]}) >= {count})")
    graph.check(beyond, "a segment is beyond their number")
    shape = (count, *source.shape[rank:])
    graph.require_tensor(shape)
    return Scattered(
        source.dtype,
        shape,
        source=source,
        indices=indices,
        kind=op.name.rpartition("_")[2],
        label="segments",
        number=graph.next_number(),
    )


def _products(sizes: npt.NDArray[Any], ids: npt.NDArray[Any], count: int) -> npt.NDArray[Any]:
    """Returns the products of the sizes of segments, as a reshape for a product of matrices takes them."""
    made = np.full(count, ONE, object)
    for size, place in zip(sizes.ravel(), ids.ravel(), strict=True):
        if place.known is None or place.known >= count:
            raise NotGenerated("sizes are multiplied in unknown segments")
        if place.known >= 0:
            made[place.known] = made[place.known] * size
    return made
