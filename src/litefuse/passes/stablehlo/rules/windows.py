"""Reductions over windows: poolings and their gradients, and cumulative sums."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from litefuse.errors import GraphError
from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir
from litefuse.ir.tensors import Tensor, equal, select
from litefuse.passes.stablehlo.rules.reductions import (
    COMBINING,
    combined,
    combining_op,
    is_neutral,
    neutral_number,
    running,
)
from litefuse.passes.stablehlo.rules.shapes import spaced
from litefuse.passes.stablehlo.translation import Result, Rules, Translation
from litefuse.passes.stablehlo.values import Pool, Value, dims_of

# At most this many slices of the operand are combined one by one.
_MOST_SLICES = 256
# TensorFlow's op for each cumulative reduction.
_CUMULATIVE = {"Prod": "Cumprod", "Sum": "Cumsum"}
# At most this many elements of each window are looked at, one by one.
_MOST_ELEMENTS = 256


def _is_zero(pair: tuple[MixedSize, MixedSize]) -> bool:
    return all(isinstance(n, int) and n == 0 for n in pair)


def padding_name(
    sizes: Sequence[int | None],
    extents: Sequence[int],
    strides: Sequence[int],
    paddings: Sequence[tuple[MixedSize, MixedSize]],
) -> str | None:
    """Returns ``VALID`` or ``SAME``; None if it is neither, or not known to be.

    Args:
        sizes: The sizes of the dimensions that the windows move along; None if dynamic.
        extents: How many positions a window spans in each, dilation included.
        strides: The stride in each.
        paddings: How much is added before and after each.
    """
    if all(map(_is_zero, paddings)):
        return "VALID"
    for size, extent, stride, pair in zip(sizes, extents, strides, paddings, strict=True):
        if size is None:
            # With a stride of 1, the padding does not depend on the size.
            if stride != 1 or pair != ((extent - 1) // 2, extent // 2):
                return None
            continue
        total = max((-(-size // stride) - 1) * stride + extent - size, 0)
        if pair != (total // 2, total - total // 2):
            return None
    return "SAME"


def position_count(size: int | None, extent: int, stride: int, padding: str) -> int | None:
    """Returns how many windows there are along a dimension; None if its size is dynamic."""
    if size is None:
        return None
    return -(-size // stride) if padding == "SAME" else (size - extent) // stride + 1


@dataclass(frozen=True)
class _Windows:
    sizes: tuple[MixedSize, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    paddings: tuple[tuple[MixedSize, MixedSize], ...]

    @property
    def axes(self) -> list[int]:
        """The dimensions along which windows have several elements, a stride or padding."""
        windows = enumerate(zip(self.sizes, self.strides, self.paddings, strict=True))
        return [axis for axis, (size, stride, pair) in windows if size != 1 or stride > 1 or not _is_zero(pair)]

    @property
    def is_padded(self) -> bool:
        """Whether some windows reach over the border."""
        return not all(map(_is_zero, self.paddings))

    @property
    def counts(self) -> list[int]:
        """How many elements windows have in each dimension.

        Raises:
            GraphError: They are not known.
        """
        known = [size for size in self.sizes if isinstance(size, int)]
        if len(known) < len(self.sizes):
            raise GraphError(
                "windows of dynamic sizes are supported for running sums, products and the like",
                hint="Export the function with fixed sizes there.",
            )
        return known


class _Reduction(NamedTuple):
    """Reduction over windows; the name is None for a program that TensorFlow has no op for."""

    operand: ir.Value
    values: Sequence[Tensor]
    name: str | None
    block: ir.Block
    starts: Sequence[ir.Value]


def _reduce_window(op: Any, t: Translation) -> Result | list[Result]:
    """Translates a windowed reduction, https://openxla.org/stablehlo/spec#reduce_window."""
    rank = len(t.shape(op.operands[0]))
    padding = np.zeros((rank, 2), int) if op.padding is None else np.array(op.padding).reshape(rank, 2)
    windows = _Windows(
        tuple(int(n) for n in op.window_dimensions),
        (1,) * rank if op.window_strides is None else tuple(int(n) for n in op.window_strides),
        (1,) * rank if op.window_dilations is None else tuple(int(n) for n in op.window_dilations),
        tuple((int(low), int(high)) for low, high in padding),
    )
    spacing = [1] * rank if op.base_dilations is None else [int(n) for n in op.base_dilations]
    return _reduced(t, list(op.operands), windows, spacing, op.regions[0].blocks[0])


def dynamic_reduce_window(op: Any, t: Translation) -> Sequence[Result]:
    """Translates windows whose sizes or paddings the program computes."""
    *operands, sizes, strides, spacing, dilations, padding = op.operands
    symbol = ir.FlatSymbolRefAttr(ir.ArrayAttr(op.attributes["called_computations"])[0]).value
    known = [t.numbers(vector) for vector in (strides, spacing, dilations)]
    if any(numbers is None for numbers in known):
        raise GraphError("the strides and dilations of windows must be known")
    by_axis, between, within = (tuple(map(int, numbers)) for numbers in known if numbers is not None)
    amounts = t.elements(padding)
    if amounts is None:
        count = 2 * len(by_axis)
        flat = t.b.sizes_in(t.b.reshape(t.b.cast(t.value(padding), "int32"), [count]), [None] * count)
    else:
        flat = dims_of(amounts)
    pairs = tuple(zip(flat[::2], flat[1::2], strict=True))
    windows = _Windows(tuple(t.sizes(sizes)), by_axis, within, pairs)
    reduced = _reduced(t, operands, windows, between, t.functions.program(symbol).entry_block)
    return reduced if isinstance(reduced, list) else [reduced]


def _reduced(
    t: Translation, operands: Sequence[ir.Value], windows: _Windows, spacing: Sequence[int], block: ir.Block
) -> Result | list[Result]:
    """Reduces windows; what a program begins with takes part in each window once, and pads as a neutral element."""
    b, count = t.b, len(operands) // 2
    values, starts = t.values(operands[:count]), t.values(operands[count:])
    name, dtype = COMBINING.get(combining_op(block) or "") if count == 1 else None, t.dtype(operands[0])
    if dtype == "bool" or (name in {"All", "Any"}):
        name = None
    begin = starts
    if name is not None and not is_neutral(name, t.number(operands[-1]), dtype):
        starts = [b.constant(neutral_number(name, dtype), dtype)]
    for axis, space in enumerate(spacing):
        if space > 1:
            values = [spaced(t, value, axis, space - 1, start) for value, start in zip(values, starts, strict=True)]
    reduction = _Reduction(operands[0], values, name, block, starts)
    reduced = values if not windows.axes else _of_windows(t, reduction, windows)
    if begin is not starts:
        values = [result if isinstance(result, ir.Value) else result.emit() for result in reduced]
        reduced = combined(t, block, begin, values)
    return list(reduced) if count > 1 else reduced[0]


def _of_windows(t: Translation, reduction: _Reduction, windows: _Windows) -> Sequence[Result]:
    results = _running(t, reduction, windows)
    if results is not None:
        return results
    operand, values, name, block, starts = reduction
    if name in {"Sum", "Max", "Min"} and _is_pooling(t, values[0], windows):
        return [_pooled(t, operand, values[0], windows, name)]
    return _combined(t, values, windows, block, starts)


def _running(t: Translation, reduction: _Reduction, windows: _Windows) -> Sequence[ir.Value] | None:
    """Translates windows that hold everything up to, or from, an element: cumulative sums, products, maxima."""
    if len(windows.axes) != 1:
        return None
    operand, values, name, block, starts = reduction
    (axis,), b = windows.axes, t.b
    size, (low, high) = windows.sizes[axis], windows.paddings[axis]
    if windows.strides[axis] != 1 or windows.dilations[axis] != 1:
        return None
    if isinstance(size, int):
        if b.shape(values[0])[axis] != size or (low, high) not in {(size - 1, 0), (0, size - 1)}:
            return None
        forward = high == 0
    else:
        whole = t.known_dims(operand)[axis]
        if not isinstance(whole, ir.Value) or whole != size or [n for n in (low, high) if isinstance(n, int)] != [0]:
            return None
        forward = not isinstance(low, int)
    if name == "Sum" or (name == "Prod" and not isinstance(size, int)):
        operands, options = [values[0], b.constant(axis, "int32")], {"exclusive": False, "reverse": not forward}
        return [b.op(_CUMULATIVE[name], operands, b.shape(values[0]), b.dtype(values[0]), **options)]
    return running(t, values, axis, block, starts, forward=forward)


def _is_pooling(t: Translation, value: ir.Value, windows: _Windows) -> bool:
    """Whether the windows lie in images, ``[batch, height, width, channels]``, or in volumes."""
    dense = all(dilation == 1 for dilation in windows.dilations)
    inner = set(range(1, len(windows.sizes) - 1))
    known = all(isinstance(size, int) for size in windows.sizes)
    return known and t.b.dtype(value) == "float32" and len(inner) in {2, 3} and set(windows.axes) <= inner and dense


def _pooled(t: Translation, operand: ir.Value, value: Tensor, windows: _Windows, name: str) -> Result:
    if name == "Max":
        return _pool(t, "MaxPool", value, windows, -math.inf)
    if name == "Min":
        return -_pool(t, "MaxPool", -value, windows, -math.inf)
    count = math.prod(windows.counts)

    def total() -> Tensor:
        # Pads with zeros around the image, where AVERAGE_POOL_2D would only count the elements of the image.
        padded = t.b.pad(value, windows.paddings)
        inside = replace(windows, paddings=((0, 0),) * len(windows.sizes))
        return _pool(t, "AvgPool", padded, inside, 0) * count

    if windows.is_padded and _padding(t.b.shape(value), windows) is None:
        return total()
    pool = Pool(operand, windows, lambda: _pool(t, "AvgPool", value, windows, 0), None if windows.is_padded else count)
    return Value(total, pool=pool)


def _pool(t: Translation, name: str, value: Tensor, windows: _Windows, fill: float) -> Tensor:
    b = t.b
    padding = _padding(b.shape(value), windows)
    if padding is None:
        value, padding = b.pad(value, windows.paddings, fill), "VALID"
    shape = list(b.shape(value))
    for axis in range(1, len(shape) - 1):
        shape[axis] = position_count(shape[axis], windows.counts[axis], windows.strides[axis], padding)
    options: dict[str, Any] = {
        "ksize": windows.counts,
        "strides": list(windows.strides),
        "padding": padding,
        "data_format": "NHWC" if len(shape) == 4 else "NDHWC",
    }
    if len(shape) == 5:
        name += "3D"
    elif name == "MaxPool":
        options["explicit_paddings"] = []
    return b.op(name, [value], shape, "float32", **options)


def _padding(shape: Sequence[int | None], windows: _Windows) -> str | None:
    """Returns TensorFlow's name of an image's padding; None if it has none."""
    inner = slice(1, -1)
    return padding_name(shape[inner], windows.counts[inner], windows.strides[inner], windows.paddings[inner])


def _combined(
    t: Translation, values: Sequence[ir.Value], windows: _Windows, block: ir.Block, starts: Sequence[ir.Value]
) -> Sequence[ir.Value]:
    """Combines slices of the padded operand that hold the first elements of all windows, the second ones, and so on."""
    b, counts = t.b, windows.counts
    if sum(counts[axis] for axis in windows.axes) > _MOST_SLICES:
        raise GraphError(
            f"windows of more than {_MOST_SLICES} elements are supported for poolings and running sums only"
        )
    combinations = [b.pad(value, windows.paddings, start) for value, start in zip(values, starts, strict=True)]
    # One dimension after the other, the last one first: a window is a product of intervals.
    for axis in reversed(windows.axes):
        stride, dilation = windows.strides[axis], windows.dilations[axis]
        extent = (counts[axis] - 1) * dilation
        length = b.size(combinations[0], axis)
        parts: list[list[ir.Value]] = []
        for offset in range(0, extent + 1, dilation):
            end = length - (extent - offset)
            parts.append([b.slice(value, axis, offset, end, stride) for value in combinations])
        combinations = parts[0]
        for part in parts[1:]:
            combinations = combined(t, block, combinations, part)
    return combinations


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
    best, places = _elements_at(t, image, offsets[0], dims, sizes, strides), None
    for number, offset in enumerate(offsets[1:], 1):
        part = _elements_at(t, image, offset, dims, sizes, strides)
        (kept,) = combined(t, choice, [best], [part])
        best = select(kept, best, part)
        places = select(kept, b.constant(0, "int32") if places is None else places, b.constant(number, "int32"))
    total: Tensor | None = None
    for number, offset in enumerate(offsets):
        share = new if places is None else select(equal(places, number), new, 0)
        spread = _placed(t, share, offset, dims, strides)
        total = spread if total is None else total + spread
    assert total is not None
    cut: dict[int, tuple[MixedSize, MixedSize | None, int]] = {
        axis: (low, dims[axis] - high, 1) for axis, (low, high) in enumerate(pairs) if low or high
    }
    total = b.slices(total, cut) if cut else total
    return total if t.number(start) == 0 else total + t.value(start)


def _never_chosen(t: Translation, choice: ir.Block) -> float:
    """Returns the number around the image, by the comparison that keeps the first of two elements."""
    compare, *_ = choice.operations
    if compare.operation.name != "stablehlo.compare" or list(compare.operands) != list(choice.arguments):
        raise GraphError("choices by another function than a comparison are not supported")
    direction = t.direction(compare)
    return -math.inf if direction.startswith("G") else math.inf


def _elements_at(
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
            cut[axis] = (begin, dims[axis] - (size - 1 - begin), stride)
    return t.b.slices(image, cut) if cut else image


def _placed(
    t: Translation, share: ir.Value, offset: Sequence[int], dims: Sequence[MixedSize], strides: Sequence[int]
) -> Tensor:
    """Returns the image with an element of each window at one place in them, and 0 elsewhere."""
    b = t.b
    for axis, stride in enumerate(strides):
        if stride > 1:
            share = spaced(t, share, axis, stride - 1, b.constant(0, b.dtype(share)))
    after = [dim - begin - size for dim, begin, size in zip(dims, offset, b.sizes(share), strict=True)]
    return b.pad(share, list(zip(offset, after, strict=True)))


RULES: Rules = {"stablehlo.reduce_window": _reduce_window, "stablehlo.select_and_scatter": _select_and_scatter}
