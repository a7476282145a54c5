"""Reductions along dimensions, and running combinations: of each element with all before it, or after it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir
from litefuse.ir.tensors import Tensor
from litefuse.passes.legalize.arrays.loops import count_to
from litefuse.passes.stablehlo.translation import Result, Rules, Translation
from litefuse.passes.stablehlo.values import Reduction, Value

COMBINING = {"add": "Sum", "maximum": "Max", "minimum": "Min", "multiply": "Prod", "and": "All", "or": "Any"}
"""TensorFlow's reduction for each op that combines two elements."""

_OF_CONDITIONS = {"Sum": "Any", "Max": "Any", "Min": "All", "Prod": "All"}
# As many doublings of 1 reach over any dimension.
_DOUBLINGS = 31


def combined(t: Translation, block: ir.Block, first: Sequence[ir.Value], second: Sequence[ir.Value]) -> list[Tensor]:
    """Applies a region to the elements of tensors, pair by pair."""
    return [value.emit() for value in t.block(block, [*first, *second])]


def emit_captures(t: Translation, block: ir.Block) -> None:
    """Emits what a region uses from outside: once, before a loop whose body the region is translated in."""
    inside: set[ir.Value] = set(block.arguments)
    for op in block.operations:
        for value in op.operands:
            if value not in inside:
                captured = t.lazy(value)
                captured.emit()
                if captured.spread is not None:
                    captured.spread.small.emit()
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

    def once(reach: MixedSize, values: Sequence[ir.Value]) -> Sequence[ir.Value]:
        pair: tuple[MixedSize, MixedSize] = (reach, 0) if forward else (0, reach)
        paddings: list[tuple[MixedSize, MixedSize]] = [pair if i == axis else (0, 0) for i in range(rank)]
        longer = [b.pad(value, paddings, start) for value, start in zip(values, starts, strict=True)]
        begin, end = (0, size) if forward else (reach, size + reach)
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
    rounds = b.reduce("Sum", b.cast(powers < size, "int32"), 0)
    one = b.constant(1, "int32")

    def turn(_: ir.Value, variables: Sequence[Tensor]) -> Sequence[ir.Value]:
        reach, *values = variables
        return [reach + reach, *once(reach, values)]

    return list(count_to(b, rounds, [one, *values], turn)[1:])


def combining_op(block: ir.Block) -> str | None:
    """Returns the op, such as ``add``, if a region combines its two arguments by this alone; None otherwise."""
    first, *others = block.operations
    arguments = list(block.arguments)
    if len(others) != 1 or len(arguments) != 2 or list(first.operands) not in (arguments, arguments[::-1]):
        return None
    if list(others[0].operands) != list(first.results):
        return None
    return first.name.removeprefix("stablehlo.")


def is_neutral(name: str, number: float | None, dtype: str) -> bool:
    """Whether a number is the neutral element of a reduction; ``name`` is the reduction's, such as ``Sum``."""
    return number is not None and number == neutral_number(name, dtype)


def neutral_number(name: str, dtype: str) -> float:
    """Returns the neutral element of a reduction of numbers of a dtype."""
    if name in {"Max", "Min"} and "int" in dtype:
        bits = int(dtype.removeprefix("u").removeprefix("int"))
        least, most = (0, 2**bits - 1) if dtype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        return least if name == "Max" else most
    return {"Sum": 0, "Max": -math.inf, "Min": math.inf, "Prod": 1, "All": 1, "Any": 0}[name]


def _reduce(op: Any, t: Translation) -> Result | list[Result]:
    axes = tuple(op.attributes["dimensions"])
    count = len(op.results)
    block = op.regions[0].blocks[0]
    name = COMBINING.get(combining_op(block) or "") if count == 1 else None
    dtype = t.dtype(op.operands[0])
    if dtype == "bool":
        name = _OF_CONDITIONS.get(name or "", name)
    elif name in {"All", "Any"}:
        name = None  # bitwise
    elif "complex" in dtype and name != "Sum":
        name = None
    if not axes:
        return [t.lazy(operand) for operand in op.operands[:count]]
    if name is None:
        extremum = _extremum(op, t, axes, block) if count == 2 else None
        return _by_pairs(op, t, axes, block) if extremum is None else extremum
    operand, start = op.operands
    reduction = Reduction(name, t.value(operand), axes)
    if dtype.startswith("float8"):  # LiteRT only converts these
        wide = Reduction(name, t.b.cast(t.value(operand), "float32"), axes).emit(t.b)
        return combined(t, block, [t.b.cast(wide, dtype)], [t.value(start)])[0]
    if is_neutral(name, t.number(start), dtype):
        return Value(lambda: reduction.emit(t.b), reduction=reduction)
    return combined(t, block, [reduction.emit(t.b)], [t.value(start)])[0]


def _by_pairs(op: Any, t: Translation, axes: tuple[int, ...], block: ir.Block) -> list[Result]:
    """Combines neighbors, then their results, and so on: the order is kept, as StableHLO demands."""
    b, count = t.b, len(op.results)
    values, starts = t.values(op.operands[:count]), t.values(op.operands[count:])
    for axis in sorted(axes, reverse=True):
        size = b.shape(values[0])[axis]
        if size is None or size == 0:  # the last of the running combinations, which begin with the first values
            paddings: list[tuple[MixedSize, MixedSize]] = [(int(i == axis), 0) for i in range(len(b.shape(values[0])))]
            longer = [b.pad(value, paddings, start) for value, start in zip(values, starts, strict=True)]
            ends = [b.size(value, axis) for value in values]
            combinations = running(t, longer, axis, block, starts)
            values = [b.slice(value, axis, end, None) for value, end in zip(combinations, ends, strict=True)]
            size = 1
        while size > 1:
            even = size - size % 2
            first, second = ([b.slice(value, axis, i, even, 2) for value in values] for i in (0, 1))
            pairs = combined(t, block, first, second)
            if size > even:
                pairs = [
                    b.concat([pair, b.slice(value, axis, even, size)], axis)
                    for pair, value in zip(pairs, values, strict=True)
                ]
            values, size = pairs, size // 2 + size % 2
        dims = [b.sizes(value) for value in values]
        without = [[*sizes[:axis], *sizes[axis + 1 :]] for sizes in dims]
        values = [b.reshape(value, sizes) for value, sizes in zip(values, without, strict=True)]
    return list(combined(t, block, starts, values))


def _extremum(op: Any, t: Translation, axes: tuple[int, ...], block: ir.Block) -> list[Result] | None:
    """Returns the largest or least element and its position, as ``jnp.argmax`` reduces pairs of the two."""
    values, positions = op.operands[:2]
    direction = _direction(t, block)
    if direction is None or len(axes) != 1 or not counts(positions, axes[0]):
        return None
    b, (axis,), dtype = t.b, axes, t.dtype(positions)
    value = t.value(values)
    shape = [size for i, size in enumerate(b.shape(value)) if i != axis]
    index = "int64" if dtype == "int64" else "int32"
    name, reduction = ("ArgMax", "Max") if direction == "GT" else ("ArgMin", "Min")
    place = b.op(name, [value, b.constant(axis, "int32")], shape, index)
    return [Value(lambda: b.reduce(reduction, value, axis)), b.cast(place, dtype)]


def _direction(t: Translation, block: ir.Block) -> str | None:
    """Returns ``GT`` if a region chooses the larger of two elements, ``LT`` if the lesser one."""
    if len(block.arguments) != 4:
        return None
    mine, _, other, _ = block.arguments
    for op in block.operations:
        if op.name == "stablehlo.compare" and list(op.operands) == [mine, other]:
            direction = t.direction(op)
            if direction in {"GT", "GE"}:
                return "GT"
            if direction in {"LT", "LE"}:
                return "LT"
    return None


def counts(value: ir.Value, axis: int) -> bool:
    """Whether a value's elements are its positions along a dimension."""
    owner: Any = value.owner
    while not isinstance(owner, ir.Block) and owner.name in {"stablehlo.broadcast_in_dim", "stablehlo.convert"}:
        if owner.name == "stablehlo.broadcast_in_dim":
            axes = list(owner.broadcast_dimensions)
            if axis not in axes:
                return False
            axis = axes.index(axis)
        owner = owner.operands[0].owner
    if isinstance(owner, ir.Block) or owner.name not in {"stablehlo.iota", "stablehlo.dynamic_iota"}:
        return False
    return int(owner.iota_dimension) == axis


RULES: Rules = {"stablehlo.reduce": _reduce}
