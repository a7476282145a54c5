"""Scatters to the element that is chosen from each window: the gradients of poolings."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from litefuse.errors import GraphError
from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir
from litefuse.passes.stablehlo.rules.reductions import combining_op
from litefuse.passes.stablehlo.rules.running import combined
from litefuse.passes.stablehlo.rules.shapes import spaced
from litefuse.passes.stablehlo.translation import Result, Rules, Translation

__all__ = ["RULES"]

# At most this many elements of each window are looked at, one by one.
_MOST_ELEMENTS = 256


def _select_and_scatter(op: Any, t: Translation) -> Result:
    """Translates https://openxla.org/stablehlo/spec#select_and_scatter: the sum of what is scattered."""
    operand, source, start = op.operands
    choice, sums = (region.blocks[0] for region in op.regions)
    if combining_op(sums) != "add":
        raise GraphError("elements that are chosen from windows can only be added up")
    b, rank = t.b, len(t.shape(operand))
    sizes = [1] * rank if op.window_dimensions is None else [int(n) for n in op.window_dimensions]
    strides = [1] * rank if op.window_strides is None else [int(n) for n in op.window_strides]
    padding = np.zeros((rank, 2), int) if op.padding is None else np.array(op.padding).reshape(rank, 2)
    if math.prod(sizes) > _MOST_ELEMENTS:
        raise GraphError(f"choices from windows of more than {_MOST_ELEMENTS} elements are not supported")
    pairs: list[tuple[MixedSize, MixedSize]] = [(int(low), int(high)) for low, high in padding]
    image = b.pad(t.value(operand), pairs, _never_chosen(t, choice))
    dims, new = b.sizes(image), t.value(source)
    offsets = list(itertools.product(*(range(size) for size in sizes)))
    best, places = _part(t, image, offsets[0], dims, sizes, strides), None
    for number, offset in enumerate(offsets[1:], 1):
        part = _part(t, image, offset, dims, sizes, strides)
        (kept,) = combined(t, choice, [best], [part])
        best = b.select(kept, best, part)
        places = b.select(kept, b.constant(0, "int32") if places is None else places, b.constant(number, "int32"))
    total: ir.Value | None = None
    for number, offset in enumerate(offsets):
        share = new if places is None else b.select(b.compare("Equal", places, number), new, 0)
        spread = _placed(t, share, offset, dims, strides)
        total = spread if total is None else b.binary("AddV2", total, spread)
    assert total is not None
    cut: dict[int, tuple[MixedSize, MixedSize | None, int]] = {
        axis: (low, b.dims("Sub", dims[axis], high), 1) for axis, (low, high) in enumerate(pairs) if low or high
    }
    total = b.slices(total, cut) if cut else total
    return total if t.number(start) == 0 else b.binary("AddV2", total, t.value(start))


def _never_chosen(t: Translation, choice: ir.Block) -> float:
    """Returns the number around the image, by the comparison that keeps the first of two elements."""
    compare, *_ = choice.operations
    if compare.operation.name != "stablehlo.compare" or list(compare.operands) != list(choice.arguments):
        raise GraphError("choices by another function than a comparison are not supported")
    direction: str = t.dialect.ComparisonDirectionAttr(compare.attributes["comparison_direction"]).value
    return -math.inf if direction.startswith("G") else math.inf


def _part(
    t: Translation,
    image: ir.Value,
    offset: Sequence[int],
    dims: Sequence[MixedSize],
    sizes: Sequence[int],
    strides: Sequence[int],
) -> ir.Value:
    """Returns the elements of all windows at one place in them."""
    cut: dict[int, tuple[MixedSize, MixedSize | None, int]] = {}
    for axis, (begin, size, stride) in enumerate(zip(offset, sizes, strides, strict=True)):
        if size > 1 or stride > 1:
            cut[axis] = (begin, t.b.dims("Sub", dims[axis], size - 1 - begin), stride)
    return t.b.slices(image, cut) if cut else image


def _placed(
    t: Translation, share: ir.Value, offset: Sequence[int], dims: Sequence[MixedSize], strides: Sequence[int]
) -> ir.Value:
    """Returns the image with an element of each window at one place in them, and 0 elsewhere."""
    b = t.b
    for axis, stride in enumerate(strides):
        if stride > 1:
            share = spaced(t, share, axis, stride - 1, b.constant(0, b.dtype(share)))
    after = [
        b.dims("Sub", b.dims("Sub", dim, begin), size)
        for dim, begin, size in zip(dims, offset, b.sizes(share), strict=True)
    ]
    return b.pad(share, list(zip(offset, after, strict=True)))


RULES: Rules = {"stablehlo.select_and_scatter": _select_and_scatter}
