"""Evaluation of the small integer tensors that shapes are built from."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import prod
from typing import Any, TypeAlias

import numpy as np

from litefuse.ir.ops.dims import Dim, Formula, broadcast_dims, is_size, maximum, minimum, product
from litefuse.ir.ops.facts import Op, Undecided, Values, array_of, normal_axis
from litefuse.ir.ops.rules.slicing import extents

MAX_ELEMENTS = 256
"""The largest number of elements: shapes are built from small tensors, and weights are not evaluated."""

ValueRule: TypeAlias = "Callable[[Op], Values | list[Values]]"
"""Computes the elements of an op's only result, or of each; raises Undecided, or exceptions of numpy."""

_RANGES = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}


def wrapped(values: Values, dtype: str) -> Values:
    """Wraps elements that are too large for an integer type, as TensorFlow does."""
    half = 1 << (_RANGES[dtype] - 1)

    def wrap(value: Dim) -> Dim:
        if isinstance(value, Formula):
            return value
        return int(bool(value)) if dtype == "i1" else (int(value) + half) % (2 * half) - half

    return _each(wrap, values)


def _each(compute: Callable[..., Any], *operands: Values) -> Values:
    """Applies a function to every element, with broadcasting."""
    result: Values = np.asarray(np.frompyfunc(compute, len(operands), 1)(*operands), object)
    return result


def _binary(compute: Callable[[Any, Any], Any]) -> ValueRule:
    def rule(op: Op) -> Values:
        return _each(compute, op.values(0), op.values(1))

    return rule


def _unary(compute: Callable[[Any], Any]) -> ValueRule:
    def rule(op: Op) -> Values:
        return _each(compute, op.values(0))

    return rule


def _floor_div(a: Dim, b: Dim) -> Dim:
    if b == 0:
        raise Undecided("a division by zero")  # it fails at run time as well
    return a // b


def _floor_mod(a: Dim, b: Dim) -> Dim:
    if b == 0:
        raise Undecided("a division by zero")
    return a % b


def _truncate_div(a: Dim, b: Dim) -> Dim:
    if isinstance(a, Formula) or isinstance(b, Formula) or b == 0:
        raise Undecided("the signs are not known")
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _power(a: Dim, b: Dim) -> Dim:
    if not isinstance(b, int) or not 0 <= b < 64:
        raise Undecided("the exponent is not known")
    return product([a] * b)


def _decided(a: Dim) -> int:
    if isinstance(a, Formula):
        raise Undecided("a number is not known")
    return a


def _is_true(a: Dim) -> int:
    return int(_decided(a) != 0)


def _comparison(compute: Callable[[int, int], bool]) -> ValueRule:
    """Compares two numbers whose difference is known."""

    def compare(a: Dim, b: Dim) -> int:
        difference = a - b
        if isinstance(difference, Formula):
            if difference.is_size and compute(0, 0) == compute(1, 0):  # a >= b is known, compared by a < b or a >= b
                return int(compute(0, 0))
            if is_size(-difference) and compute(0, 0) == compute(-1, 0):
                return int(compute(0, 0))
            raise Undecided("the difference is not known")
        return int(compute(difference, 0))

    return _binary(compare)


def _logical(compute: Callable[[bool, bool], bool]) -> ValueRule:
    return _binary(lambda a, b: int(compute(bool(_decided(a)), bool(_decided(b)))))


def _same(op: Op) -> Values:
    return op.values(0)


def _constant_like(number: int) -> ValueRule:
    def rule(op: Op) -> Values:
        shape = _static(op.shape(0))
        return array_of([number] * prod(shape), shape)

    return rule


def _static(shape: Sequence[Dim]) -> list[int]:
    """Returns a shape whose sizes are all known and whose elements are few."""
    sizes = [size for size in shape if isinstance(size, int)]
    if len(sizes) < len(shape) or not 0 <= prod(sizes) <= MAX_ELEMENTS:
        raise Undecided("the shape is not known, or large")
    return sizes


def _shape(op: Op) -> Values:
    shape = op.shape(0)
    return array_of(shape, [len(shape)])


def _cast(op: Op) -> Values:
    values = op.values(0)
    if op.results[0].dtype == "i1" != op.operands[0].dtype:
        return _each(_is_true, values)
    return values


def _to_bool(op: Op) -> Values:
    if op.operands[0].shape != ():
        raise Undecided("no scalar")
    return _each(_is_true, op.values(0))


def _reduction(combine: Callable[[Any, Any], Any], initial: int | None) -> ValueRule:
    def rule(op: Op) -> Values:
        values = op.values(0)
        axes = {normal_axis(axis, values.ndim) for axis in op.numbers(1)}
        combined = values
        for axis in sorted(axes, reverse=True):
            parts = [np.asarray(part, object) for part in np.moveaxis(combined, axis, 0)]
            if not parts and initial is None:
                raise Undecided("there is nothing to reduce")
            start = [] if initial is None else [np.full(np.delete(combined.shape, axis), initial, object)]
            combined = reduce(lambda a, b: _each(combine, a, b), [*start, *parts])
        if op.attribute("keep_dims", False):
            combined = combined.reshape([1 if axis in axes else size for axis, size in enumerate(values.shape)])
        return combined

    return rule


def _expand_dims(op: Op) -> Values:
    values = op.values(0)
    return np.expand_dims(values, op.axis(1, values.ndim + 1))


def _squeeze(op: Op) -> Values:
    values = op.values(0)
    axes = op.attribute("squeeze_dims", None) or op.attribute("axis", None)
    return np.squeeze(values, tuple(axes) if axes else None)


def _unpack(op: Op) -> list[Values]:
    values = op.values(0)
    return [np.asarray(part, values.dtype) for part in np.moveaxis(values, op.attribute("axis", 0), 0)]


def _concat(op: Op) -> Values:
    last = len(op.operands) - 1
    return np.concatenate([op.values(index) for index in range(last)], op.number(last))


def _concatenation(op: Op) -> Values:
    return np.concatenate([op.values(index) for index in range(len(op.operands))], op.attribute("axis"))


def _split_v(op: Op) -> list[Values]:
    values, sizes, axis = op.values(0), op.numbers(1), op.number(2)
    if -1 in sizes:
        sizes[sizes.index(-1)] = values.shape[axis] - sum(sizes) - 1
    return list(np.split(values, np.cumsum(sizes)[:-1].tolist(), axis))


def _tile(op: Op) -> Values:
    values, multiples = op.values(0), op.numbers(1)
    _static([size * times for size, times in zip(values.shape, multiples, strict=True)])
    return np.tile(values, multiples)


def _fill(op: Op) -> Values:
    shape = _static(op.vector(0))
    return array_of([op.scalar(1)] * prod(shape), shape)


def _range(op: Op) -> Values:
    start, limit, delta = op.number(0), op.number(1), op.number(2)
    if delta == 0:
        raise Undecided("a range in steps of 0")
    numbers = range(start, limit, delta)
    if len(numbers) > MAX_ELEMENTS:
        raise Undecided("the range is long")
    return array_of(numbers, [len(numbers)])


def _gather(op: Op) -> Values:
    values, indices = op.values(0), np.array(op.numbers(1), np.int64).reshape(op.values(1).shape)
    axis = op.number(2) if len(op.operands) > 2 else 0
    if op.attribute("batch_dims", 0) or (indices.size and not 0 <= indices.min() <= indices.max() < values.shape[axis]):
        raise Undecided("indices of batches, or out of range")
    return np.asarray(np.take(values, indices, axis), object)


def _slice(op: Op) -> Values:
    values, begins, sizes = op.values(0), op.numbers(1), op.numbers(2)
    index: list[slice] = []
    for extent, begin, size in zip(values.shape, begins, sizes, strict=True):
        end = extent if size == -1 else begin + size
        if not 0 <= begin <= end <= extent:
            raise Undecided("out of range")
        index.append(slice(begin, end))
    return values[tuple(index)]


def _strided_slice(op: Op) -> Values:
    values = op.values(0)
    begins, ends, strides = op.numbers(1), op.numbers(2), op.numbers(3)
    begin_mask, end_mask = op.attribute("begin_mask", 0), op.attribute("end_mask", 0)
    index: list[slice | int | None] = []
    for extent in extents(op, values.ndim, len(begins)):
        entry = extent.entry
        if extent.axis is None:
            index.append(None)
        elif entry is None:
            index.append(slice(None))
        elif extent.shrinks:
            index.append(begins[entry])
        else:
            start = None if begin_mask >> entry & 1 else begins[entry]
            stop = None if end_mask >> entry & 1 else ends[entry]
            index.append(slice(start, stop, strides[entry]))
    return np.asarray(values[tuple(index)], values.dtype)


def _select(op: Op) -> Values:
    def choose(condition: Dim, a: Dim, b: Dim) -> Dim:
        if a == b:
            return a
        return a if _decided(condition) else b

    if op.name == "Select" and op.operands[0].shape not in {op.operands[1].shape, ()}:
        raise Undecided("it chooses rows")
    return _each(choose, op.values(0), op.values(1), op.values(2))


def _cumsum(op: Op) -> Values:
    values = op.values(0)
    if values.ndim != 1:
        raise Undecided("no vector")
    numbers: list[Dim] = op.vector(0)
    if op.attribute("reverse", False):
        numbers.reverse()
    totals: list[Dim] = [0]
    for number in numbers:
        totals.append(totals[-1] + number)
    totals = totals[:-1] if op.attribute("exclusive", False) else totals[1:]
    if op.attribute("reverse", False):
        totals.reverse()
    return array_of(totals, values.shape)


def _invert_permutation(op: Op) -> Values:
    numbers = op.numbers(0)
    return array_of([numbers.index(position) for position in range(len(numbers))], [len(numbers)])


def _broadcast_args(op: Op) -> Values:
    a, b = op.vector(0), op.vector(1)
    count = max(len(a), len(b))
    sizes: list[Dim] = []
    for one, other in zip([1] * (count - len(a)) + a, [1] * (count - len(b)) + b, strict=True):
        size = broadcast_dims(one, other)
        if size is None:
            raise Undecided("they do not fit")
        sizes.append(size)
    return array_of(sizes, [count])


def _dynamic_stitch(op: Op) -> Values:
    count = len(op.operands) // 2
    items_at: dict[int, Values] = {}
    for number in range(count):
        indices, data = op.numbers(number), op.values(count + number)
        items = data.reshape((len(indices), *data.shape[op.values(number).ndim :]))
        items_at |= {index: np.asarray(item, object) for index, item in zip(indices, items, strict=True)}
    if len(items_at) < max(items_at, default=-1) + 1:
        raise Undecided("what stands at some place is not defined")
    return np.asarray([items_at[place] for place in range(len(items_at))], object)


def _band_part(op: Op) -> Values:
    values, lower, upper = op.values(0), op.number(1), op.number(2)
    count = values.shape[-2:]
    kept = np.ones(count, bool)
    if lower >= 0:
        kept &= ~np.tri(*count, k=-lower - 1, dtype=bool)
    if upper >= 0:
        kept &= np.tri(*count, k=upper, dtype=bool)
    return np.asarray(np.where(kept, values, 0), object)


def _where(op: Op) -> Values:
    places = np.argwhere(np.array(op.numbers(0), bool).reshape(op.values(0).shape))
    if not places.size:
        raise Undecided("LiteRT has no constants without elements")
    return places.astype(object)


VALUES: Mapping[str, ValueRule] = {
    "Abs": _unary(lambda value: abs(_decided(value))),
    "Add": _binary(operator.add),
    "AddV2": _binary(operator.add),
    "All": _reduction(lambda a, b: int(bool(_decided(a) and _decided(b))), 1),
    "Any": _reduction(lambda a, b: int(bool(_decided(a) or _decided(b))), 0),
    "BroadcastArgs": _broadcast_args,
    "BroadcastTo": lambda op: np.broadcast_to(op.values(0), _static(op.vector(1))),
    "Cast": _cast,
    "ConcatV2": _concat,
    "Cumsum": _cumsum,
    "Div": _binary(_truncate_div),
    "DynamicStitch": _dynamic_stitch,
    "EnsureShape": _same,
    "Equal": _comparison(operator.eq),
    "ExpandDims": _expand_dims,
    "Fill": _fill,
    "FloorDiv": _binary(_floor_div),
    "FloorMod": _binary(_floor_mod),
    "Gather": _gather,
    "GatherV2": _gather,
    "Greater": _comparison(operator.gt),
    "GreaterEqual": _comparison(operator.ge),
    "Identity": _same,
    "IdentityN": lambda op: [op.values(index) for index in range(len(op.operands))],
    "InvertPermutation": _invert_permutation,
    "Less": _comparison(operator.lt),
    "LessEqual": _comparison(operator.le),
    "LogicalAnd": _logical(lambda a, b: a and b),
    "LogicalNot": _unary(lambda value: int(not _decided(value))),
    "LogicalOr": _logical(lambda a, b: a or b),
    "MatrixBandPart": _band_part,
    "Max": _reduction(maximum, None),
    "Maximum": _binary(maximum),
    "Min": _reduction(minimum, None),
    "Minimum": _binary(minimum),
    "Mul": _binary(operator.mul),
    "Neg": _unary(operator.neg),
    "NotEqual": _comparison(operator.ne),
    "OnesLike": _constant_like(1),
    "Pack": lambda op: np.stack([op.values(index) for index in range(len(op.operands))], op.attribute("axis", 0)),
    "Pow": _binary(_power),
    "PreventGradient": _same,
    "Prod": _reduction(operator.mul, 1),
    "Range": _range,
    "Rank": lambda op: array_of([len(op.shape(0))], []),
    "Reshape": lambda op: op.values(0).reshape(op.numbers(1)),
    "ReverseV2": lambda op: np.flip(op.values(0), tuple(op.numbers(1))),
    "Select": _select,
    "SelectV2": _select,
    "Shape": _shape,
    "ShapeN": lambda op: [array_of(op.shape(index), [len(op.shape(index))]) for index in range(len(op.operands))],
    "Size": lambda op: array_of([product(op.shape(0))], []),
    "Slice": _slice,
    "Snapshot": _same,
    "Split": lambda op: list(np.split(op.values(1), len(op.results), op.number(0))),
    "SplitV": _split_v,
    "Square": _unary(lambda value: value * value),
    "Squeeze": _squeeze,
    "StopGradient": _same,
    "StridedSlice": _strided_slice,
    "Sub": _binary(operator.sub),
    "Sum": _reduction(operator.add, 0),
    "Tile": _tile,
    "ToBool": _to_bool,
    "Transpose": lambda op: np.transpose(op.values(0), op.numbers(1)),
    "TruncateDiv": _binary(_truncate_div),
    "Unpack": _unpack,
    "Where": _where,
    "ZerosLike": _constant_like(0),
    "tfl.concatenation": _concatenation,
    "tfl.shape": _shape,
    "tfl.slice": _slice,
}
"""The rules by op name, TensorFlow's without the dialect."""
