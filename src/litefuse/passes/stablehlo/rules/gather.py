"""Reads windows of a tensor at computed positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir
from litefuse.passes.stablehlo.rules.positions import Positions
from litefuse.passes.stablehlo.translation import Result, Rules, Translation
from litefuse.passes.stablehlo.values import elements_value

__all__ = ["RULES"]


def _gather(op: Any, t: Translation) -> Result:
    return _gathered(op, t, [int(size) for size in op.slice_sizes])


def _dynamic_gather(op: Any, t: Translation) -> Result:
    return _gathered(op, t, t.sizes(op.operands[2]))


def _gathered(op: Any, t: Translation, window: Sequence[MixedSize]) -> Result:
    """Translates a gather, https://openxla.org/stablehlo/spec#gather: positions outside are moved inside."""
    numbers = t.dialect.GatherDimensionNumbers(op.dimension_numbers)
    operand, indices = op.operands[:2]
    collapsed, batching = list(numbers.collapsed_slice_dims), list(numbers.operand_batching_dims)
    positions = Positions(
        t,
        indices,
        int(numbers.index_vector_dim),
        list(numbers.start_index_map),
        list(zip(batching, numbers.start_indices_batching_dims, strict=True)),
        t.dims(operand),
        window,
    )
    followed = _of_elements(op, t, positions)
    if followed is not None:
        return followed
    value = _within(t, t.value(operand), positions)
    offsets = list(numbers.offset_dims)
    shown = [axis for axis in range(len(window)) if axis not in collapsed and axis not in batching]
    rank = len(offsets) + len(positions.batch())
    # The origins of the result's dimensions: ("batch", i), or the dimension of the operand.
    waiting = iter(range(rank))
    wanted: list[tuple[str, int]] = [
        ("operand", shown[offsets.index(axis)]) if axis in offsets else ("batch", next(waiting)) for axis in range(rank)
    ]
    taken = _taken(t, value, positions)
    gathered, has = _gather_nd(t, value, positions) if taken is None else taken
    order = [has.index(origin) for origin in wanted if origin in has]
    rest = [origin for origin in has if origin not in wanted]  # of size 1, to be dropped
    gathered = t.b.transpose(gathered, [*order, *(has.index(origin) for origin in rest)])
    if len(order) == rank and not rest:
        return gathered
    dims = iter(t.b.sizes(gathered))
    return t.b.reshape(gathered, [next(dims) if origin in has else 1 for origin in wanted])


def _of_elements(op: Any, t: Translation, positions: Positions) -> Result | None:
    """Takes elements of a vector that is tracked, as shapes are read."""
    elements, numbers = t.elements(op.operands[0]), positions.numbers()
    if elements is None or numbers is None or elements.ndim != 1 or len(numbers) != 1 or positions.batching:
        return None
    if not (isinstance(positions.window[0], int) and positions.window[0] == 1):
        return None
    chosen = elements[np.clip(numbers[0], 0, len(elements) - 1).astype(int).reshape(-1)]
    shape = t.shape(op.results[0])
    if None in shape:
        return None
    return elements_value(t.b, chosen.reshape(cast("tuple[int, ...]", shape)), t.dtype(op.results[0]))


def _within(t: Translation, value: ir.Value, positions: Positions) -> ir.Value:
    """Cuts the tensor to the part that windows reach, in the dimensions in which they all begin at 0."""
    cut: dict[int, tuple[MixedSize, MixedSize | None, int]] = {}
    for axis, (size, part) in enumerate(zip(positions.sizes, positions.window, strict=True)):
        if axis not in positions.indexed and isinstance(part, int) and part != size:
            cut[axis] = (0, part, 1)
    return t.b.slices(value, cut) if cut else value


_Named = tuple[ir.Value, list[tuple[str, int]]]


def _taken(t: Translation, value: ir.Value, positions: Positions) -> _Named | None:
    """Takes whole slices along one dimension: GATHER."""
    b, batching = t.b, list(positions.batching)
    count = len(batching)
    together = all(pair == (i, i) for i, pair in enumerate(sorted(batching)))
    if len(positions.axes) != 1 or positions.wide or not together or positions.vector_axis < count:
        return None
    (axis,) = positions.axes
    if axis < count:
        return None
    (indices,) = positions.clamped()
    shape, of_indices = b.shape(value), b.shape(indices)
    result = [*shape[:axis], *of_indices[count:], *shape[axis + 1 :]]
    operands = [value, indices, b.constant(axis, "int32")]
    gathered = b.op("GatherV2", operands, result, b.dtype(value), batch_dims=count)
    has = [("batch", i) for i in range(count)] + [("operand", i) for i in range(count, axis)]
    has += [("batch", i) for i in range(count, len(of_indices))]
    return gathered, has + [("operand", i) for i in range(axis + 1, len(shape))]


def _gather_nd(t: Translation, value: ir.Value, positions: Positions) -> _Named:
    b, indexed = t.b, positions.indexed
    others = [axis for axis in range(len(positions.sizes)) if axis not in indexed]
    value = b.transpose(value, [*indexed, *others])
    vectors = positions.vectors(positions.clamped())
    shape = [*b.shape(vectors)[:-1], *b.shape(value)[len(indexed) :]]
    gathered = b.op("GatherNd", [value, vectors], shape, b.dtype(value), bad_indices_policy="")
    has = [("batch", i) for i in range(len(positions.batch()))]
    return gathered, has + [("operand", axis) for axis in (*positions.wide, *others)]


RULES: Rules = {"stablehlo.dynamic_gather": _dynamic_gather, "stablehlo.gather": _gather}
