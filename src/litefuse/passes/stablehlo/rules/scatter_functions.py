"""Scatters that combine old and new elements by a function that TensorFlow has no scatter for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir
from litefuse.passes.legalize.arrays.loops import count_to
from litefuse.passes.stablehlo.rules.running import combined, emit_captures
from litefuse.passes.stablehlo.translation import Translation

__all__ = ["Elements", "inside", "multiplied", "replaced", "walked"]


@dataclass(frozen=True)
class Elements:
    """The elements that a scatter writes.

    Attributes:
        t: The translation.
        value: The tensor, whose indexed dimensions come first.
        vectors: The positions in these, ``[..., indexed]``.
        new: The new elements, ``[..., others]``.
    """

    t: Translation
    value: ir.Value
    vectors: ir.Value
    new: ir.Value

    @property
    def depth(self) -> int:
        """The number of indexed dimensions."""
        depth = self.t.b.shape(self.vectors)[-1]
        assert depth is not None
        return depth


def inside(elements: Elements) -> ir.Value:
    """Returns which of the positions lie in the tensor, ``[..., 1]``."""
    b = elements.t.b
    limits = b.vector(b.sizes(elements.value)[: elements.depth])
    low, high = b.compare("GreaterEqual", elements.vectors, 0), b.compare("Less", elements.vectors, limits)
    return b.reduce("All", b.binary("LogicalAnd", low, high), len(b.shape(elements.vectors)) - 1, keep_dims=True)


def multiplied(elements: Elements) -> ir.Value:
    """Returns the tensor times the product of what falls on each position."""
    b, depth = elements.t.b, elements.depth
    sizes = b.sizes(elements.value)
    total = b.product(sizes[:depth])
    steps = [b.product(sizes[axis + 1 : depth]) for axis in range(depth)]
    places = b.reduce("Sum", b.binary("Mul", elements.vectors, b.vector(steps)), len(b.shape(elements.vectors)) - 1)
    within = inside(elements)
    places = b.select(b.reshape(within, b.sizes(places)), places, b.scalar(total))
    count = b.product(b.sizes(places))
    others = sizes[depth:]
    segments = b.dims("AddV2", total, 1)  # the last one is of what falls outside
    products = b.op(
        "UnsortedSegmentProd",
        [b.reshape(elements.new, [count, *others]), b.reshape(places, [count]), b.scalar(segments)],
        b.known([segments, *others]),
        b.dtype(elements.value),
    )
    return b.binary("Mul", elements.value, b.reshape(b.slice(products, 0, 0, total), sizes))


def replaced(elements: Elements, block: ir.Block) -> ir.Value:
    """Returns the new elements, combined with those of the tensor, for positions that differ."""
    t = elements.t
    return combined(t, block, [_taken(t, elements.value, _clamped(elements))], [elements.new])[0]


def walked(elements: Elements, block: ir.Block) -> ir.Value:
    """Writes one element after the other, since several may fall on one position."""
    t, b = elements.t, elements.t.b
    emit_captures(t, block)
    within, places = inside(elements), _clamped(elements)
    lead = len(b.shape(places)) - 1
    count = b.product(b.sizes(places)[:lead])
    others = b.sizes(elements.value)[elements.depth :]
    rows = b.reshape(elements.new, [count, *others])
    places, within = b.reshape(places, [count, elements.depth]), b.reshape(within, [count, 1])

    def turn(index: ir.Value, values: Sequence[ir.Value]) -> Sequence[ir.Value]:
        (value,) = values
        place, row, valid = (b.gather(each, b.expand(index, 0)) for each in (places, rows, within))
        old = _taken(t, value, place)
        (made,) = combined(t, block, [old], [row])
        ones: list[MixedSize] = [1] * len(others)
        made = b.select(b.reshape(valid, [1, *ones]), made, old)
        return [b.op("TensorScatterUpdate", [value, place, made], b.shape(value), b.dtype(value))]

    return count_to(b, count, [elements.value], turn)[0]


def _clamped(elements: Elements) -> ir.Value:
    b = elements.t.b
    sizes = b.sizes(elements.value)[: elements.depth]
    if all(isinstance(size, int) for size in sizes):
        limits = b.constant(np.array(sizes, np.int32) - 1, "int32")
    else:
        limits = b.binary("Sub", b.vector(sizes), 1)
    return b.binary("Maximum", b.binary("Minimum", elements.vectors, limits), 0)


def _taken(t: Translation, value: ir.Value, places: ir.Value) -> ir.Value:
    b = t.b
    depth = b.shape(places)[-1] or 0
    shape = [*b.shape(places)[:-1], *b.shape(value)[depth:]]
    return b.op("GatherNd", [value, places], shape, b.dtype(value), bad_indices_policy="")
