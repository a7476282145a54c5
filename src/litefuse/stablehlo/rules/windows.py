"""Reductions over windows: poolings and cumulative sums."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from litefuse.errors import GraphError
from litefuse.ir.mlir import ir
from litefuse.stablehlo.paddings import padding_name, position_count
from litefuse.stablehlo.rules.reductions import COMBINING, combined, combining_op, is_neutral
from litefuse.stablehlo.rules.shapes import spaced
from litefuse.stablehlo.translation import Result, Rules, Translation
from litefuse.stablehlo.values import Pool, Value, dims_of, known_numbers

__all__ = ["RULES", "dynamic_reduce_window"]

# At most this many slices of the operand are combined one by one.
_MOST_SLICES = 256
# TensorFlow's op for each cumulative reduction.
_CUMULATIVE = {"Prod": "Cumprod", "Sum": "Cumsum"}


@dataclass(frozen=True)
class _Windows:
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    paddings: tuple[tuple[int, int], ...]

    @property
    def axes(self) -> list[int]:
        """The dimensions along which windows have several elements, a stride or padding."""
        each = zip(self.sizes, self.strides, self.paddings, strict=True)
        return [i for i, (size, stride, padding) in enumerate(each) if size > 1 or stride > 1 or padding != (0, 0)]

    @property
    def is_padded(self) -> bool:
        """Whether some windows reach over the border."""
        return any(padding != (0, 0) for padding in self.paddings)


def _reduce_window(op: Any, t: Translation) -> Result:
    """Translates a windowed reduction, https://openxla.org/stablehlo/spec#reduce_window."""
    if len(op.results) != 1:
        raise GraphError("windows of several tensors are not supported")
    operand, start = op.operands
    block = op.regions[0].blocks[0]
    name, dtype = COMBINING.get(combining_op(block) or ""), t.dtype(operand)
    rank = len(t.shape(operand))
    padding = np.zeros((rank, 2), int) if op.padding is None else np.array(op.padding).reshape(rank, 2)
    windows = _Windows(
        tuple(int(n) for n in op.window_dimensions),
        (1,) * rank if op.window_strides is None else tuple(int(n) for n in op.window_strides),
        (1,) * rank if op.window_dilations is None else tuple(int(n) for n in op.window_dilations),
        tuple((int(low), int(high)) for low, high in padding),
    )
    value, initial = t.value(operand), t.value(start)
    for axis, spacing in enumerate([] if op.base_dilations is None else op.base_dilations):
        if spacing > 1:
            value = spaced(t, value, axis, int(spacing) - 1, initial)
    if not windows.axes:
        return value
    neutral = name is not None and is_neutral(name, t.number(start), dtype)
    running = _running(t, value, windows, name if neutral else None, block, initial)
    if running is not None:
        return running
    if neutral and name in {"Sum", "Max", "Min"} and _is_pooling(t, value, windows):
        return _pooled(t, operand, value, windows, name)
    return _combined(t, value, windows, block, initial)


def dynamic_reduce_window(op: Any, t: Translation) -> Result:
    """Translates windows of dynamic sizes: a cumulative sum or product."""
    operand, start, *vectors = op.operands
    sizes, strides, spacing, dilations, padding = (t.elements(vector) for vector in vectors)
    symbol = ir.FlatSymbolRefAttr(ir.ArrayAttr(op.attributes["called_computations"])[0]).value
    name = COMBINING.get(combining_op(t.functions.program(symbol).entry_block) or "")
    dims = t.known_dims(operand)
    plain = [known_numbers(each) for each in (strides, spacing, dilations)]
    neutral = name in _CUMULATIVE and is_neutral(name, t.number(start), t.dtype(operand))
    if sizes is not None and padding is not None and name is not None and neutral:
        axes = [axis for axis, size in enumerate(dims_of(sizes)) if not (isinstance(size, int) and size == 1)]
        pairs = padding.tolist()
        others = all(pair == [0, 0] for axis, pair in enumerate(pairs) if axis not in axes)
        if len(axes) == 1 and others and all(each is not None and (each == 1).all() for each in plain):
            (axis,) = axes
            low, high = pairs[axis]
            whole = isinstance(dims[axis], ir.Value) and dims_of(sizes)[axis] == dims[axis]
            known = [pad for pad in (low, high) if isinstance(pad, int)]
            if whole and known == [0]:
                value, options = t.value(operand), {"exclusive": False, "reverse": isinstance(low, int)}
                operands = [value, t.b.constant(axis, "int32")]
                return t.b.op(_CUMULATIVE[name], operands, t.b.shape(value), t.b.dtype(value), **options)
    raise GraphError("windows of dynamic sizes are supported for cumulative sums and products only")


def _running(
    t: Translation, value: ir.Value, windows: _Windows, name: str | None, block: ir.Block, initial: ir.Value
) -> ir.Value | None:
    """Translates windows that hold everything up to, or from, an element: cumulative sums, products, maxima."""
    if len(windows.axes) != 1:
        return None
    (axis,), b = windows.axes, t.b
    size = windows.sizes[axis]
    forward = windows.paddings[axis] == (size - 1, 0)
    if windows.strides[axis] != 1 or windows.dilations[axis] != 1 or b.shape(value)[axis] != size:
        return None
    if not forward and windows.paddings[axis] != (0, size - 1):
        return None
    if name == "Sum":
        return b.cumsum(value, axis, reverse=not forward)
    reach = 1
    while reach < size:  # combines each element with the one ``reach`` places before, then with twice the reach
        pair = (reach, 0) if forward else (0, reach)
        longer = b.pad(value, [pair if i == axis else (0, 0) for i in range(len(windows.sizes))], initial)
        other = b.slice(longer, axis, 0 if forward else reach, size if forward else size + reach)
        (value,) = combined(t, block, [other], [value]) if forward else combined(t, block, [value], [other])
        reach *= 2
    return value


def _is_pooling(t: Translation, value: ir.Value, windows: _Windows) -> bool:
    """Whether the windows lie in images, ``[batch, height, width, channels]``, or in volumes."""
    dense = all(dilation == 1 for dilation in windows.dilations)
    inner = set(range(1, len(windows.sizes) - 1))
    return t.b.dtype(value) == "float32" and len(inner) in {2, 3} and set(windows.axes) <= inner and dense


def _pooled(t: Translation, operand: ir.Value, value: ir.Value, windows: _Windows, name: str) -> Result:
    if name == "Max":
        return _pool(t, "MaxPool", value, windows, -math.inf)
    if name == "Min":
        return t.b.unary("Neg", _pool(t, "MaxPool", t.b.unary("Neg", value), windows, -math.inf))
    count = math.prod(windows.sizes)

    def total() -> ir.Value:
        # Pads with zeros around the image, where AVERAGE_POOL_2D would only count the elements of the image.
        padded = t.b.pad(value, windows.paddings)
        inside = replace(windows, paddings=((0, 0),) * len(windows.sizes))
        return t.b.binary("Mul", _pool(t, "AvgPool", padded, inside, 0), count)

    if windows.is_padded and _padding(t.b.shape(value), windows) is None:
        return total()
    pool = Pool(operand, windows, lambda: _pool(t, "AvgPool", value, windows, 0), None if windows.is_padded else count)
    return Value(total, pool=pool)


def _pool(t: Translation, name: str, value: ir.Value, windows: _Windows, fill: float) -> ir.Value:
    b = t.b
    padding = _padding(b.shape(value), windows)
    if padding is None:
        value, padding = b.pad(value, windows.paddings, fill), "VALID"
    shape = list(b.shape(value))
    for axis in range(1, len(shape) - 1):
        shape[axis] = position_count(shape[axis], windows.sizes[axis], windows.strides[axis], padding)
    options: dict[str, Any] = {
        "ksize": list(windows.sizes),
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
    return padding_name(shape[inner], windows.sizes[inner], windows.strides[inner], windows.paddings[inner])


def _combined(t: Translation, value: ir.Value, windows: _Windows, block: ir.Block, initial: ir.Value) -> ir.Value:
    """Combines slices of the padded operand that hold the first elements of all windows, the second ones, and so on."""
    b = t.b
    if math.prod(windows.sizes) > _MOST_SLICES:
        raise GraphError(
            f"windows of more than {_MOST_SLICES} elements are supported for poolings and running sums only"
        )
    padded = b.pad(value, windows.paddings, initial)
    for axis in windows.axes:  # one dimension after the other: a window is a product of intervals
        size, stride, dilation = windows.sizes[axis], windows.strides[axis], windows.dilations[axis]
        extent = (size - 1) * dilation
        length = b.size(padded, axis)
        parts: list[ir.Value] = []
        for offset in itertools.islice(itertools.count(0, dilation), size):
            end = b.dims("Sub", length, extent - offset)
            parts.append(b.slice(padded, axis, offset, end, stride))
        result = parts[0]
        for part in parts[1:]:
            (result,) = combined(t, block, [result], [part])
        padded = result
    return padded


RULES: Rules = {"stablehlo.reduce_window": _reduce_window}
