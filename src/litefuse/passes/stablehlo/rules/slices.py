"""Slices at known and at computed positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from litefuse.errors import GraphError
from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir
from litefuse.ir.tensors import Tensor, maximum, minimum
from litefuse.passes.stablehlo.rules.scans import get_item, set_item
from litefuse.passes.stablehlo.translation import Result, Rules, Translation
from litefuse.passes.stablehlo.values import dims_of, elements_value, spread


def _slice(op: Any, t: Translation) -> Result:
    begins, ends, strides = list(op.start_indices), list(op.limit_indices), list(op.strides)
    return _sliced(op, t, begins, ends, strides)


def _real_dynamic_slice(op: Any, t: Translation) -> Result:
    begins, ends, strides = (t.sizes(operand) for operand in op.operands[1:])
    if not all(isinstance(stride, int) for stride in strides):
        raise GraphError("the strides of a slice must be known")
    return _sliced(op, t, begins, ends, cast("list[int]", strides))


def _sliced(
    op: Any, t: Translation, begins: Sequence[MixedSize], ends: Sequence[MixedSize], strides: Sequence[int]
) -> Result:
    operand = op.operands[0]
    value, shape = t.lazy(operand), t.known_dims(operand)
    if value.listed is not None:
        return get_item(t, operand, value.listed)
    axes = list(zip(begins, ends, strides, strict=True))
    if value.elements is not None and all(isinstance(n, int) for axis in axes for n in axis):
        return elements_value(t.b, value.elements[tuple(slice(*axis) for axis in axes)], t.dtype(operand))
    if value.spread is not None and not t.b.shape(value.spread.small.emit()):  # all elements are equal
        declared = t.shape(op.results[0])
        if None not in declared:
            return spread(t.b, value.spread.small, cast("list[MixedSize]", list(declared)))
    cut: dict[int, tuple[MixedSize, MixedSize | None, int]] = {
        axis: (begin, end, stride)
        for axis, (begin, end, stride) in enumerate(axes)
        if not (_is(begin, 0) and _is(end, shape[axis]) and stride == 1)
    }
    return t.b.slices(value.emit(), cut) if cut else value


def _is(dim: MixedSize, size: MixedSize | None) -> bool:
    return size is not None and isinstance(dim, int) == isinstance(size, int) and dim == size


def _clamped_starts(
    t: Translation, starts: Sequence[ir.Value], sizes: Sequence[MixedSize], slice_sizes: Sequence[MixedSize]
) -> list[MixedSize]:
    """Returns the start of a slice in each dimension, moved so that it ends within the tensor, as StableHLO demands."""
    begins: list[MixedSize] = []
    for start, size, part in zip(starts, sizes, slice_sizes, strict=True):
        most = size - part
        elements = t.elements(start)
        dim = t.b.cast(t.value(start), "int32") if elements is None else dims_of(elements)[0]
        if isinstance(most, int) and most == 0:
            begins.append(0)
        elif isinstance(dim, int) and isinstance(most, ir.Value):
            begins.append(0 if dim <= 0 else minimum(dim, most))
        else:
            begins.append(maximum(minimum(dim, most), 0))
    return begins


def _dynamic_slice(op: Any, t: Translation) -> Result:
    operand, *starts = op.operands
    listed = t.lazy(operand).listed
    if listed is not None:
        return get_item(t, operand, listed)
    parts = list(op.slice_sizes)
    begins = _clamped_starts(t, starts, t.dims(operand), parts)
    known = t.elements(operand)
    if known is not None and all(isinstance(begin, int) for begin in begins):
        window = tuple(slice(begin, begin + part) for begin, part in zip(cast("list[int]", begins), parts, strict=True))
        return elements_value(t.b, known[window], t.dtype(operand))
    value = t.value(operand)
    if all(isinstance(begin, int) for begin in begins):
        shape = t.shape(operand)
        cut: dict[int, tuple[MixedSize, MixedSize | None, int]] = {
            axis: (begin, begin + part, 1)
            for axis, (begin, part) in enumerate(zip(cast("list[int]", begins), parts, strict=True))
            if not (begin == 0 and part == shape[axis])
        }
        return t.b.slices(value, cut) if cut else value
    sizes = t.b.constant(np.array(parts, np.int32), "int32")
    return t.b.op("Slice", [value, t.b.vector(begins), sizes], parts, t.b.dtype(value))


def _dynamic_update_slice(op: Any, t: Translation) -> Result:
    operand, update, *starts = op.operands
    listed = t.lazy(operand).listed
    if listed is not None:
        return set_item(t, update, listed)
    if list(t.shape(operand)) == list(t.shape(update)) and None not in t.shape(update):
        return t.lazy(update)
    begins = _clamped_starts(t, starts, t.dims(operand), t.dims(update))
    return updated(t, t.value(operand), t.value(update), t.b.vector(begins))


def updated(t: Translation, value: ir.Value, new: ir.Value, begins: ir.Value) -> ir.Value:
    """Writes a window that begins at the positions of a vector; of complex numbers, their parts."""
    b, shape, dtype = t.b, t.b.shape(value), t.b.dtype(value)
    if dtype != "complex64":
        return b.op("XlaDynamicUpdateSlice", [value, new, begins], shape, dtype)
    return by_parts(t, value, new, lambda whole, part: updated(t, whole, part, begins))


def by_parts(t: Translation, value: ir.Value, new: ir.Value, write: Callable[[Tensor, Tensor], ir.Value]) -> ir.Value:
    """Writes complex64 numbers into others: their real and their imaginary parts."""
    b = t.b
    parts = [[b.op(name, [tensor], b.shape(tensor), "float32") for tensor in (value, new)] for name in ("Real", "Imag")]
    return b.op("Complex", [write(*pair) for pair in parts], b.shape(value), b.dtype(value))


RULES: Rules = {
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.dynamic_update_slice": _dynamic_update_slice,
    "stablehlo.real_dynamic_slice": _real_dynamic_slice,
    "stablehlo.slice": _slice,
}
