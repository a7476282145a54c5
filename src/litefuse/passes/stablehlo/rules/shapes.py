"""Constants, sizes, and ops that arrange elements in another shape."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from litefuse.errors import GraphError
from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir
from litefuse.ir.tensors import Tensor, maximum
from litefuse.passes.stablehlo.translation import Result, Rules, Translation
from litefuse.passes.stablehlo.values import (
    MOST_ELEMENTS,
    Elements,
    Spread,
    Value,
    constant_numbers,
    constant_value,
    elements_of,
    elements_value,
    spread,
)
from litefuse.support.options.limits import check_constant


def _is_followed(t: Translation, value: ir.Value) -> bool:
    """Whether a value is a small tensor of integers or conditions, whose elements are tracked."""
    sizes, dtype = [size for size in t.shape(value) if size is not None], t.dtype(value)
    known = len(sizes) == len(t.shape(value)) and math.prod(sizes) <= MOST_ELEMENTS
    return known and ("int" in dtype or dtype == "bool")


def _constant(op: Any, t: Translation) -> Result:
    result = op.results[0]
    if "complex" in t.dtype(result):
        return Value(lambda: _of_parts(t, complex_numbers(op, t.dtype(result))))
    attribute = op.attributes["value"]
    if _is_followed(t, result):
        numbers = constant_numbers(result)
        if numbers is not None and not (numbers > np.iinfo(np.int64).max).any():  # uint64 has such
            return elements_value(t.b, _objects(numbers), t.dtype(result))
    if isinstance(attribute, ir.DenseElementsAttr) and attribute.is_splat and t.shape(result):
        kind = ir.RankedTensorType.get([], ir.ShapedType(result.type).element_type)
        small = ir.DenseElementsAttr.get_splat(kind, attribute.get_splat_value())
        return spread(t.b, constant_value(small), t.dims(result))
    return constant_value(attribute)


def _of_parts(t: Translation, numbers: npt.NDArray[Any]) -> ir.Value:
    """Emits complex numbers by their parts: the bindings cannot read complex constants."""
    dtype = "float32" if numbers.dtype == np.complex64 else "float64"
    parts = [t.b.constant(part, dtype) for part in (np.real(numbers), np.imag(numbers))]
    return t.b.op("Complex", parts, numbers.shape, str(numbers.dtype))


_NUMBER = re.compile(r"\(([^,()]+),([^,()]+)\)")


def complex_numbers(op: Any, dtype: str) -> npt.NDArray[Any]:
    """Returns the value of a constant of complex numbers, which the bindings can only print."""
    text = str(op).partition("dense<")[2]
    shape = ir.ShapedType(op.results[0].type).shape
    if text.startswith('"0x'):
        raw = bytes.fromhex(text[3:].partition('"')[0])
        return np.frombuffer(raw, dtype).reshape(shape)
    numbers = [complex(float(real), float(imaginary)) for real, imaginary in _NUMBER.findall(text.partition(">")[0])]
    array = np.array(numbers, dtype)
    return np.broadcast_to(array[0], shape) if len(numbers) == 1 else array.reshape(shape)


def _objects(numbers: Any) -> Elements:
    return elements_of((int(number) for number in np.ravel(numbers)), np.shape(numbers))


def _iota(op: Any, t: Translation) -> Result:
    return _counted(t, op.results[0], int(op.iota_dimension), t.dims_of_type(op.results[0]))


def _dynamic_iota(op: Any, t: Translation) -> Result:
    return _counted(t, op.results[0], int(op.iota_dimension), t.sizes(op.operands[0]))


def _counted(t: Translation, result: ir.Value, axis: int, dims: Sequence[MixedSize]) -> Result:
    b, dtype, size = t.b, t.dtype(result), dims[axis]
    if len(dims) == 1 and isinstance(size, int) and _is_followed(t, result):
        return elements_value(b, _objects(np.arange(size)), dtype)
    after = len(dims) - axis - 1

    def emit() -> ir.Value:
        if isinstance(size, int):
            check_constant(8 * size, 0, "an iota")
            return b.constant(np.arange(size).reshape([size] + [1] * after), dtype)
        return b.reshape(b.cast(b.range(size), dtype), [size] + [1] * after)

    return Value(emit) if len(dims) == 1 else spread(b, Value(emit), dims)


def _broadcast_in_dim(op: Any, t: Translation) -> Result:
    return _repeated(op, t, t.dims_of_type(op.results[0]))


def _dynamic_broadcast_in_dim(op: Any, t: Translation) -> Result:
    return _repeated(op, t, t.sizes(op.operands[1]))


def _repeated(op: Any, t: Translation, dims: Sequence[MixedSize]) -> Result:
    operand, axes = op.operands[0], [int(axis) for axis in op.broadcast_dimensions]
    value, shape = t.lazy(operand), list(t.shape(operand))
    if axes != sorted(axes):  # the dimensions are permuted as well
        order = sorted(range(len(axes)), key=axes.__getitem__)
        value, shape, axes = Value(t.b.transpose(value.emit(), order)), [shape[i] for i in order], sorted(axes)
    if value.elements is not None and _is_followed(t, op.results[0]):
        arranged: Elements = value.elements.reshape(_placed(value.elements.shape, axes, len(dims)))
        whole = cast("Elements", np.broadcast_to(arranged, cast("list[int]", list(dims))).copy())
        return elements_value(t.b, whole, t.dtype(operand))
    if value.spread is not None and axes == list(range(len(dims) - len(axes), len(dims))):
        return spread(t.b, value.spread.small, dims)  # a broadcast of a broadcast
    # JAX repeats dimensions that are known to be of size 1, never dynamic ones.
    sizes: list[MixedSize] = [dims[axis] if size is None else size for axis, size in zip(axes, shape, strict=True)]
    placed = _placed(sizes, axes, len(dims))
    # Leading dimensions of size 1 are left to broadcasting.
    aligned = axes == list(range(len(dims) - len(axes), len(dims)))
    kept = _kept(t, value, placed)
    small = kept or (value if aligned else _reshaped(t, value, placed[axes[0] :]))
    if not all(_same(mine, whole) for mine, whole in zip(placed, dims, strict=True)):
        return spread(t.b, small, dims)
    if len(placed) == len(shape) or kept is not None:
        return small
    return Value(lambda: t.b.reshape(value.emit(), placed), spread=Spread(small, tuple(dims)))


def _reshaped(t: Translation, value: Value, dims: Sequence[MixedSize]) -> Value:
    return Value(lambda: t.b.reshape(value.emit(), dims))


def _placed(sizes: Sequence[Any], axes: Sequence[int], rank: int) -> list[Any]:
    """Returns the sizes at the given dimensions of a tensor of the given rank, and 1 at the others."""
    placed: list[Any] = [1] * rank
    for axis, size in zip(axes, sizes, strict=True):
        placed[axis] = size
    return placed


def _same(a: MixedSize, b: MixedSize) -> bool:
    return isinstance(a, int) == isinstance(b, int) and a == b


def _kept(t: Translation, value: Value, dims: Sequence[MixedSize]) -> Value | None:
    """Returns a reduction with keep_dims, if that has these sizes."""
    reduction = value.reduction
    if reduction is None or reduction.keep_dims:
        return None
    shape = list(t.b.shape(reduction.operand))
    for axis in reduction.axes:
        shape[axis] = 1
    if shape != t.b.known(dims):
        return None
    kept = reduction.kept()
    return Value(lambda: kept.emit(t.b), reduction=kept)


def _is_unchanged(shape: Sequence[int | None], sizes: Sequence[int | None]) -> bool:
    """Whether a value of a shape has these sizes because their product is that of the shape.

    A size that is open in the program may be known by the shapes that were set for the inputs.
    """
    if list(shape) == list(sizes):
        return sizes.count(None) <= 1
    agree = len(shape) == len(sizes) and all(one in (None, other) for one, other in zip(shape, sizes, strict=True))
    return agree and list(shape).count(None) == 1 and None not in sizes and 0 not in sizes


def reshaped(t: Translation, operand: ir.Value, dims: Sequence[MixedSize], dtype: str) -> Result:
    """Returns the elements of a value of the program in another shape."""
    value = t.lazy(operand)
    if value.elements is not None and all(isinstance(dim, int) for dim in dims):
        return elements_value(t.b, value.elements.reshape(cast("list[int]", list(dims))), dtype)
    shape = t.shape(operand)
    sizes = t.b.known(dims)
    if _is_unchanged(shape, sizes):
        return value
    if value.expanded is not None and (sizes == list(shape[1:]) or _is_unchanged(shape[1:], sizes)):
        return value.expanded
    kept = _kept(t, value, dims)
    if kept is not None:
        return kept
    if value.spread is not None and not t.b.shape(value.spread.small.emit()):
        return spread(t.b, value.spread.small, dims)
    before = len(dims) - len(shape)
    if before > 0 and sizes[before:] == list(shape) and all(size == 1 for size in sizes[:before]):
        # Broadcasting adds leading dimensions of size 1 itself.
        small = value if value.spread is None else value.spread.small
        return Value(lambda: t.b.reshape(value.emit(), dims), spread=Spread(small, tuple(dims)))
    return Value(lambda: t.b.reshape(value.emit(), dims))


def _reshape(op: Any, t: Translation) -> Result:
    return reshaped(t, op.operands[0], t.dims_of_type(op.results[0]), t.dtype(op.operands[0]))


def _dynamic_reshape(op: Any, t: Translation) -> Result:
    declared = t.shape(op.results[0])
    sizes = t.sizes(op.operands[1])
    dims = [size if known is None else known for size, known in zip(sizes, declared, strict=True)]
    return reshaped(t, op.operands[0], dims, t.dtype(op.operands[0]))


def _transpose(op: Any, t: Translation) -> Result:
    permutation = [int(axis) for axis in op.permutation]
    value = t.lazy(op.operands[0])
    if permutation == sorted(permutation):
        return value
    if value.elements is not None:
        turned: Elements = np.transpose(value.elements, permutation)
        return elements_value(t.b, turned, t.dtype(op.operands[0]))
    return t.b.transpose(value.emit(), permutation)


def _get_dimension_size(op: Any, t: Translation) -> Result:
    return elements_value(t.b, elements_of([t.dims(op.operands[0])[int(op.dimension)]], []), "int32")


def _concatenate(op: Any, t: Translation) -> Result:
    axis = int(op.dimension)
    parts = [t.elements(operand) for operand in op.operands]
    known = [part for part in parts if part is not None]
    if len(known) == len(parts) and _is_followed(t, op.results[0]):
        joined: Elements = np.concatenate(known, axis)
        return elements_value(t.b, joined, t.dtype(op.results[0]))
    return t.b.concat([t.value(operand) for operand in op.operands if t.shape(operand)[axis] != 0], axis)


def _reverse(op: Any, t: Translation) -> Result:
    axes = tuple(int(axis) for axis in op.attributes["dimensions"])
    operand = t.lazy(op.operands[0])
    if operand.elements is not None:
        return elements_value(t.b, np.flip(operand.elements, axes), t.dtype(op.operands[0]))
    value = operand.emit()
    return t.b.reverse(value, axes) if axes else value


def _pad(op: Any, t: Translation) -> Result:
    return _padded(op, t, list(op.edge_padding_low), list(op.edge_padding_high), list(op.interior_padding))


def _dynamic_pad(op: Any, t: Translation) -> Result:
    low, high, interior = (t.sizes(operand) for operand in op.operands[2:])
    if not all(isinstance(size, int) for size in interior):
        raise GraphError("paddings between elements must be known")
    return _padded(op, t, low, high, cast("list[int]", interior))


def _padded(
    op: Any, t: Translation, low: Sequence[MixedSize], high: Sequence[MixedSize], interior: Sequence[int]
) -> Result:
    """Translates a pad, https://openxla.org/stablehlo/spec#pad: interior first; a negative padding cuts."""
    b, fill = t.b, t.number(op.operands[1])
    value = t.value(op.operands[0])
    filler = t.value(op.operands[1])
    for axis, count in enumerate(interior):
        if count:
            value = spaced(t, value, axis, count, filler)
    paddings: list[tuple[MixedSize, MixedSize]] = []
    cut: dict[int, tuple[MixedSize, MixedSize | None, int]] = {}
    for axis, (before, after) in enumerate(zip(low, high, strict=True)):
        (more_before, begin), (more_after, less) = _more_or_less(before), _more_or_less(after)
        paddings.append((more_before, more_after))
        if begin != 0 or less != 0:
            cut[axis] = (begin, None if less == 0 else b.size(value, axis) - less, 1)
    if cut:
        value = b.slices(value, cut)
    return b.pad(value, paddings, filler if fill is None else fill)


def _more_or_less(padding: MixedSize) -> tuple[MixedSize, MixedSize]:
    """Returns how many elements a padding adds, and how many it cuts."""
    return maximum(padding, 0), maximum(0 - padding, 0)


def spaced(t: Translation, value: ir.Value, axis: int, count: int, filler: ir.Value) -> Tensor:
    """Inserts ``count`` fillers between neighbors along a dimension."""
    b = t.b
    dims = b.sizes(value)
    wide = b.reshape(value, [*dims[: axis + 1], 1, *dims[axis + 1 :]])
    paddings: list[tuple[MixedSize, MixedSize]] = [(0, 0)] * (len(dims) + 1)
    paddings[axis + 1] = (0, count)
    filled = b.pad(wide, paddings, filler)
    size = dims[axis] * (count + 1)
    together = b.reshape(filled, [*dims[:axis], size, *dims[axis + 1 :]])
    return b.slice(together, axis, 0, maximum(size - count, 0))


RULES: Rules = {
    "stablehlo.broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.constant": _constant,
    "stablehlo.dynamic_broadcast_in_dim": _dynamic_broadcast_in_dim,
    "stablehlo.dynamic_iota": _dynamic_iota,
    "stablehlo.dynamic_pad": _dynamic_pad,
    "stablehlo.dynamic_reshape": _dynamic_reshape,
    "stablehlo.get_dimension_size": _get_dimension_size,
    "stablehlo.iota": _iota,
    "stablehlo.pad": _pad,
    "stablehlo.reshape": _reshape,
    "stablehlo.reverse": _reverse,
    "stablehlo.transpose": _transpose,
}
