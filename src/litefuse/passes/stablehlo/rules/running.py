"""Running combinations: of each element of a dimension with all before it, or after it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir
from litefuse.passes.legalize.arrays.loops import count_to
from litefuse.passes.stablehlo.translation import Translation

__all__ = ["combined", "emit_captures", "running"]

# As many doublings of 1 reach over any dimension.
_DOUBLINGS = 31


def combined(t: Translation, block: ir.Block, first: Sequence[ir.Value], second: Sequence[ir.Value]) -> list[ir.Value]:
    """Applies a region to the elements of tensors, pair by pair."""
    return [value.emit() for value in t.block(block, [*first, *second])]


def emit_captures(t: Translation, block: ir.Block) -> None:
    """Emits what a region uses from outside: once, before a loop whose body the region is translated in."""
    inside: set[ir.Value] = set(block.arguments)
    for op in block.operations:
        for value in op.operands:
            if value not in inside:
                found = t.lazy(value)
                found.emit()
                if found.spread is not None:
                    found.spread.small.emit()
        inside.update(op.results)


def running(
    t: Translation,
    values: Sequence[ir.Value],
    axis: int,
    block: ir.Block,
    starts: Sequence[ir.Value],
    *,
    forward: bool = True,
) -> list[ir.Value]:
    """Combines each element with the one before it, then with what lies twice as far, and so on.

    Args:
        t: The translation.
        values: The tensors whose elements are combined.
        axis: The dimension; a loop walks it if its size is dynamic.
        block: The region that combines two elements, which is associative.
        starts: Its neutral elements, scalars.
        forward: Whether elements are combined with those before them.
    """
    b = t.b
    size = b.size(values[0], axis)
    rank = len(b.shape(values[0]))

    def once(reach: MixedSize, values: Sequence[ir.Value]) -> list[ir.Value]:
        pair: tuple[MixedSize, MixedSize] = (reach, 0) if forward else (0, reach)
        paddings: list[tuple[MixedSize, MixedSize]] = [pair if i == axis else (0, 0) for i in range(rank)]
        longer = [b.pad(value, paddings, start) for value, start in zip(values, starts, strict=True)]
        begin, end = (0, size) if forward else (reach, b.dims("AddV2", size, reach))
        others = [b.slice(value, axis, begin, end) for value in longer]
        return combined(t, block, others, values) if forward else combined(t, block, values, others)

    if isinstance(size, int):
        reach = 1
        while reach < size:
            values = once(reach, values)
            reach *= 2
        return list(values)
    emit_captures(t, block)
    powers = b.constant(np.left_shift(1, np.arange(_DOUBLINGS)), "int32")
    rounds = b.reduce("Sum", b.cast(b.compare("Less", powers, size), "int32"), 0)
    one = b.constant(1, "int32")

    def turn(_: ir.Value, variables: Sequence[ir.Value]) -> Sequence[ir.Value]:
        reach, *values = variables
        return [b.binary("AddV2", reach, reach), *once(reach, values)]

    return list(count_to(b, rounds, [one, *values], turn)[1:])
