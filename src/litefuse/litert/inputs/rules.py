"""Rules for LiteRT's ops: which values they forward, and to which values they give a meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.litert.inputs.arithmetic import MOST_COLUMNS, arithmetic, clip, floor_div, modulo, power, quantize
from litefuse.litert.inputs.flow import Place, Results, Rule, Trace
from litefuse.litert.inputs.images import blocks, resized
from litefuse.litert.inputs.random_values import distinct
from litefuse.litert.inputs.uses import Count, Limits, Mask, Near, Padding, Rows, Small, Sorted, Use, Whole, Words
from litefuse.litert.runtime.model_reader import Op, Tensor

__all__ = ["rule_of"]


def rule_of(op: Op) -> tuple[Rule | None, bool]:
    """Returns the rule of an op, if any, and whether the values of its results depend on those of its operands."""
    if op.custom:
        from litefuse.litert.inputs.custom_rules import CUSTOM_RULES  # few models have custom ops

        return CUSTOM_RULES.get(op.name, _unknown), True
    return _RULES.get(op.name), op.name not in _CUT


# The results of these depend on shapes alone.
_CUT = frozenset({"SHAPE", "RANK", "ZEROS_LIKE"})


def _unknown(place: Place) -> Results:
    """Restricts the operands of a custom op of which nothing is known."""
    for operand in range(len(place.values)):
        place.restrict(operand, Small())
    return ()


def _same(place: Place) -> Results:
    return place.traces()


def _reshape(place: Place) -> Results:
    place.restrict(1, Small())
    return _reshaped(place)


def _reshaped(place: Place) -> Results:
    """Maps axes across a reshape: axes of length 1 may come and go; if others change, no axis is known."""
    given, made = place.kind(0).shape, place.result().shape
    keep = [axis for axis, size in enumerate(given) if size != 1]
    into = [axis for axis, size in enumerate(made) if size != 1]
    # One dynamic dimension among others stays the same, whether it is annotated or not.
    alike = len(keep) == len(into) and all(given[a] == made[b] for a, b in zip(keep, into, strict=True))
    places = dict(zip(into, keep, strict=True)) if alike else {}

    def moved(trace: Trace) -> Trace:
        if not alike or trace.axes is None or len(trace.axes) != len(given):
            return trace._replace(axes=None)
        axes = trace.axes
        return trace._replace(axes=tuple(axes[places[each]] if each in places else None for each in range(len(made))))

    return [moved(trace) for trace in place.traces()]


def _expand_dims(place: Place) -> Results:
    place.restrict(1, Limits(0, 0))
    return _reshaped(place)


def _transpose(place: Place) -> Results:
    place.restrict(1, Small())
    order = place.constant(1)

    def moved(trace: Trace) -> Trace:
        if order is None or trace.axes is None or len(trace.axes) != order.size:
            return trace._replace(axes=None)
        return trace._replace(axes=tuple(trace.axes[int(each)] for each in order.reshape(-1)))

    return [moved(trace) for trace in place.traces()]


def _cast(place: Place) -> Results:
    given, made = place.kind(0).dtype, place.result().dtype
    if given is not None and made is not None:
        if made.kind == "b":
            place.use(0, Mask())
        elif given.kind == "f" and made.kind in "iu":
            place.use(0, Whole())
    return place.traces()


def _without_axes(place: Place) -> Results:
    for operand in range(1, len(place.values)):
        place.restrict(operand, Small())
    return [trace._replace(axes=None) for trace in place.traces()]


def _joined(place: Place) -> Results:
    """Maps axes across a concatenation or a stack: the place of a trace along the joined axis is lost."""
    along = place.op.option(0 if place.op.name == "CONCATENATION" else 1)
    rank = len(place.result().shape)
    stacks = place.op.name == "PACK"
    along = along + rank if along < 0 else along

    def joined(trace: Trace, given: int) -> Trace:
        axes = trace.axes
        if axes is None or len(axes) != given:
            return trace._replace(axes=None)
        behind = axes[along:] if stacks else axes[along + 1 :]
        return trace._replace(axes=(*axes[:along], None, *behind))

    return [
        joined(trace, rank - 1 if stacks else rank)
        for operand in range(len(place.values))
        for trace in place.traces(operand)
    ]


def _unpack(place: Place) -> Results:
    rank = len(place.kind(0).shape)
    along = place.op.option(1)
    along = along + rank if along < 0 else along

    def piece(trace: Trace, index: int) -> Trace:
        cut = trace.cut(trace.axis(along, rank), index, index + 1)
        return cut._replace(axes=_dropped(trace.axes, rank, {along}))

    return {index: [piece(trace, index) for trace in place.traces()] for index in range(len(place.op.outputs))}


def _dropped(axes: tuple[int | None, ...] | None, rank: int, gone: set[int]) -> tuple[int | None, ...] | None:
    if axes is None or len(axes) != rank:
        return None
    return tuple(each for axis, each in enumerate(axes) if axis not in gone)


def _split(place: Place) -> Results:
    by_sizes = place.op.name == "SPLIT_V"
    data, axis = (0, 2) if by_sizes else (1, 0)
    along = place.constant(axis)
    rank, count = len(place.kind(data).shape), len(place.op.outputs)
    if along is None:
        return place.traces(data)
    number = int(along.reshape(-1)[0])
    length = place.kind(data).shape[number]
    sizes = place.constant(1) if by_sizes else None
    if sizes is None and length is not None:
        sizes = np.full(count, length // count)
    if sizes is None or (sizes < 0).any():
        return place.traces(data)
    ends = np.cumsum(sizes.reshape(-1))
    return {
        index: [
            trace.cut(trace.axis(number, rank), int(ends[index] - sizes.reshape(-1)[index]), int(ends[index]))
            for trace in place.traces(data)
        ]
        for index in range(count)
    }


def _slice(place: Place) -> Results:
    for operand in (1, 2):
        _limit_start(place, operand)
    start, size = place.constant(1), place.constant(2)
    shape = place.kind(0).shape
    if start is None or size is None:
        return [trace._replace(axes=None) for trace in place.traces()]

    def cut(trace: Trace) -> Trace:
        for axis, (first, length) in enumerate(zip(start.tolist(), size.tolist(), strict=True)):
            whole = shape[axis]
            if (first or length != -1) and length != whole and (length > 0 or whole is not None):
                trace = trace.cut(trace.axis(axis, len(shape)), first, first + length if length > 0 else whole or 0)
        return trace

    return [cut(trace) for trace in place.traces()]


def _limit_start(place: Place, operand: int) -> None:
    """Restricts the start or the length of a slice to the sliced tensor."""
    sizes = place.kind(0).shape
    known = [size for size in sizes if size is not None]
    place.restrict(
        operand, Limits(1 if operand == 2 else 0, min(known) - 1 if known and len(known) == len(sizes) else 1)
    )


def _strided_slice(place: Place) -> Results:
    for operand in (1, 2, 3):
        place.restrict(operand, Small())
    first, last, step = (place.constant(operand) for operand in (1, 2, 3))
    option = place.op.option
    masks = [option(field) for field in range(5)]  # begin, end, ellipsis, new axis, shrink
    shape = place.kind(0).shape
    if first is None or last is None or step is None or masks[2] or masks[3] or (step != 1).any():
        return [trace._replace(axes=None) for trace in place.traces()]
    gone = {axis for axis in range(first.size) if masks[4] >> axis & 1}

    def cut(trace: Trace) -> Trace:
        found = trace
        for axis in range(first.size):
            size = shape[axis]
            begin, end = int(first[axis]), int(last[axis])
            if size is None and (begin < 0 or end < 0) and not masks[0] >> axis & 1:
                continue  # counted from the end of a dynamic dimension
            begin = 0 if masks[0] >> axis & 1 else begin + (size or 0) if begin < 0 else begin
            if axis in gone:
                end = begin + 1
            elif masks[1] >> axis & 1 or end < 0 or (size is not None and end > size):
                if size is None:
                    continue
                end = size + end if end < 0 and not masks[1] >> axis & 1 else size
            if begin or end != size:
                found = found.cut(trace.axis(axis, len(shape)), begin, end)
        return found._replace(axes=_dropped(trace.axes, len(shape), gone))

    return [cut(trace) for trace in place.traces()]


def _select(place: Place) -> Results:
    place.use(0, Mask())
    return [*place.traces(1), *place.traces(2)]


def _compare(place: Place) -> Results:
    for operand, other in ((0, 1), (1, 0)):
        constant = place.constant(other)
        dtype = place.kind(operand).dtype
        for trace in place.traces(operand):
            if constant is None:
                if dtype is not None and dtype.kind in "iu" and not place.traces(other):
                    place.flow.note(trace, Count(place.kind(other).shape[-1] if place.kind(other).shape else None))
            elif dtype is not None and dtype.kind in "iuf":
                _note_comparison(place, trace, constant)
    return ()


def _note_comparison(place: Place, trace: Trace, constant: npt.NDArray[Any]) -> None:
    numbers = distinct(constant)
    integers = constant.dtype.kind in "iu"
    if integers and numbers.size > 1 and np.array_equal(numbers, np.arange(numbers.size)):
        if place.op.name in {"EQUAL", "NOT_EQUAL"}:
            place.flow.note(trace, Rows("", int(numbers.size), *_first(trace), None, None, weighty=True))
        else:
            place.flow.note(trace, Count(int(numbers.size)))
        return
    for number in numbers[:MOST_COLUMNS].tolist():
        value = (number - trace.offset) / trace.scale
        if not trace.is_plain and not integers:
            continue  # rounding decides there
        place.flow.note(trace, Near(value))
        if integers and place.op.name in {"EQUAL", "NOT_EQUAL"} and not number:
            place.flow.note(trace, Padding(round(value)))


def _first(trace: Trace) -> tuple[int]:
    return (round(-trace.offset / trace.scale),)


def _note_rows(
    place: Place,
    operand: int,
    table: str,
    count: int | None,
    *,
    weighty: bool,
    free: bool = False,
    row: tuple[int, ...] | None = None,
) -> None:
    """Notes that an operand picks rows.

    Args:
        place: The op.
        operand: The operand.
        table: The name of the table that has the rows.
        count: How many rows there are; None if that is dynamic.
        weighty: Whether each row matters.
        free: Whether numbers that pick no row are legal.
        row: The shape of a row.
    """
    legal: dict[tuple[str, Any], tuple[Trace, int | None, int | None]] = {}
    for trace in place.traces(operand):
        if abs(trace.scale) != 1 or trace.offset != round(trace.offset):
            place.flow.note(trace, Small())
            continue
        first = round(-trace.offset / trace.scale)
        last = None if count is None else round((count - 1 - trace.offset) / trace.scale)
        low, high = (first, last) if trace.scale > 0 else (last, first)
        key, best = (trace.input, trace.box), trace
        before = legal.get(key)
        if before is not None:  # for example, where a negative number counts from the end
            low = None if low is None or before[1] is None else min(low, before[1])
            high = None if high is None or before[2] is None else max(high, before[2])
            best = trace if trace.is_plain else before[0]
        legal[key] = best, low, high
    for trace, low, high in legal.values():
        any_is = free or trace.limited
        first = round(-trace.offset / trace.scale)
        if trace.scale < 0 and count is not None:
            first = first - count + 1
        rows = Rows(table, count, first, None if any_is else low, None if any_is else high, weighty, row)
        place.flow.note(trace, rows)
    traced = {trace.input for trace in place.traces(operand)}
    for name in place.values[operand].roots - traced:
        place.flow.note_root(name, Small())


def _row(table: Tensor) -> tuple[int, ...] | None:
    sizes = tuple(size for size in table.shape[1:] if size is not None)
    return sizes if len(sizes) == len(table.shape) - 1 else None


def _gather(place: Place) -> Results:
    table = place.kind(0)
    axis = place.op.option(0)
    count = table.shape[axis] if table.shape else None
    _note_rows(place, 1, table.name, count, weighty=True, row=_row(table) if axis == 0 else None)
    picked = place.constant(1)
    rank = len(table.shape)

    def piece(trace: Trace) -> Trace:
        if picked is None or picked.size != 1:
            return trace._replace(axes=None)
        index = int(picked.reshape(-1)[0])
        cut = trace.cut(trace.axis(axis, rank), index, index + 1)
        return cut._replace(axes=_dropped(trace.axes, rank, {axis % rank}) if not picked.ndim else trace.axes)

    return [piece(trace) for trace in place.traces(0)]


def _embedding_lookup(place: Place) -> Results:
    table = place.kind(1)
    count = table.shape[0] if table.shape else None
    _note_rows(place, 0, table.name, count, weighty=True, row=_row(table))
    return ()


def _coordinates(place: Place, operand: int, shape: Sequence[int | None], table: str, *, weighty: bool) -> None:
    """Notes that each column of the operand picks along another axis."""
    indices = place.kind(operand).shape
    depth = indices[-1] if indices else 1
    axes = list(shape[: depth or 1])
    for trace in place.traces(operand):
        column = trace.axis(-1, len(indices))
        if abs(trace.scale) != 1:
            place.flow.note(trace, Small())
            continue
        for number, size in enumerate(axes):
            cut = trace.cut(column, number, number + 1) if len(axes) > 1 else trace
            first = round(-trace.offset / trace.scale)
            last = None if size is None else first + size - 1
            only = Rows(table, size, first, first, last, weighty and len(axes) == 1)
            place.flow.note(cut, only)
    traced = {trace.input for trace in place.traces(operand)}
    for name in place.values[operand].roots - traced:
        place.flow.note_root(name, Small())


def _gather_nd(place: Place) -> Results:
    table = place.kind(0)
    _coordinates(place, 1, table.shape, table.name, weighty=True)
    return [trace._replace(axes=None) for trace in place.traces(0)]


def _scatter_nd(place: Place) -> Results:
    shape = place.constant(2)
    place.restrict(2, Small())
    sizes: list[int | None] = [*shape.tolist()] if shape is not None else [None] * 8
    _coordinates(place, 0, sizes, "", weighty=False)
    return [trace._replace(axes=None) for trace in place.traces(1)]


def _one_hot(place: Place) -> Results:
    depth = place.constant(1)
    place.restrict(1, Limits(1, 9))
    count = None if depth is None else int(depth.reshape(-1)[0])
    _note_rows(place, 0, "", count, weighty=True, free=True)
    return ()


def _segments(place: Place) -> Results:
    if place.op.name == "SEGMENT_SUM":
        place.restrict(1, Sorted())
        return ()
    place.restrict(2, Limits(1, 9))
    count = place.constant(2)
    _note_rows(place, 1, "", None if count is None else int(count.reshape(-1)[0]), weighty=False)
    return ()


def _reverse_sequence(place: Place) -> Results:
    axis = place.op.option(0)
    shape = place.kind(0).shape
    place.restrict(1, Limits(0, shape[axis] if shape else None))
    return [trace._replace(axes=None) for trace in place.traces(0)]


def _find(place: Place) -> Results:
    keys = place.flow.keys.get(place.values[0].table or 0, ())
    for trace in place.traces(1):
        place.flow.note(trace, Words(keys, trace.delimiter))
    return ()


def _small_operands(*operands: int, use: Use = Small()) -> Rule:  # noqa: B008  it is frozen
    def rule(place: Place) -> Results:
        for operand in operands:
            place.restrict(operand, use)
        return ()

    return rule


def _range(place: Place) -> Results:
    for operand, limits in enumerate((Limits(0, 3), Limits(4, 9), Limits(1, 3))):
        place.restrict(operand, limits)
    return ()


def _top_k(place: Place) -> Results:
    last = place.kind(0).shape[-1] if place.kind(0).shape else None
    place.restrict(1, Limits(1, last))
    return ()


def _shift(place: Place) -> Results:
    place.restrict(1, Limits(0, 7))
    return ()


def _logical(place: Place) -> Results:
    for operand in range(len(place.values)):
        place.use(operand, Mask())
    return ()


def _hands_on_second(place: Place) -> Results:
    place.restrict(0, Small())
    return ()


_RULES: dict[str, Rule] = {
    **dict.fromkeys(["BITCAST", "DEQUANTIZE", "REVERSE_V2", "ABS", "ROUND", "FLOOR"], _same),
    "QUANTIZE": quantize,
    "RESHAPE": _reshape,
    "SQUEEZE": _reshaped,
    "EXPAND_DIMS": _expand_dims,
    "TRANSPOSE": _transpose,
    "CAST": _cast,
    **dict.fromkeys(["TILE", "BROADCAST_TO", "PAD", "PADV2", "MIRROR_PAD"], _without_axes),
    **dict.fromkeys(["SPACE_TO_DEPTH", "DEPTH_TO_SPACE"], _without_axes),
    **dict.fromkeys(["BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND"], blocks),
    **dict.fromkeys(["CONCATENATION", "PACK"], _joined),
    "UNPACK": _unpack,
    **dict.fromkeys(["SPLIT", "SPLIT_V"], _split),
    "SLICE": _slice,
    "STRIDED_SLICE": _strided_slice,
    **dict.fromkeys(["ADD", "SUB", "MUL", "DIV"], arithmetic),
    **dict.fromkeys(["MINIMUM", "MAXIMUM"], clip),
    "FLOOR_MOD": modulo,
    "FLOOR_DIV": floor_div,
    "POW": power,
    **dict.fromkeys(["SELECT", "SELECT_V2"], _select),
    **dict.fromkeys(["EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"], _compare),
    "GATHER": _gather,
    "EMBEDDING_LOOKUP": _embedding_lookup,
    "GATHER_ND": _gather_nd,
    "SCATTER_ND": _scatter_nd,
    "ONE_HOT": _one_hot,
    **dict.fromkeys(
        ("SEGMENT_SUM", *(f"UNSORTED_SEGMENT_{each}" for each in ("SUM", "MAX", "MIN", "PROD"))), _segments
    ),
    "REVERSE_SEQUENCE": _reverse_sequence,
    **dict.fromkeys(["RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"], resized),
    "HASHTABLE_FIND": _find,
    "HASHTABLE_LOOKUP": _small_operands(0),
    "TOPK_V2": _top_k,
    "RIGHT_SHIFT": _shift,
    **dict.fromkeys(["LOGICAL_AND", "LOGICAL_OR", "LOGICAL_NOT", "WHERE"], _logical),
    "FILL": _hands_on_second,
    "RANGE": _range,
    "SPARSE_TO_DENSE": _small_operands(0, 1),
    "DYNAMIC_UPDATE_SLICE": _small_operands(2),
    **dict.fromkeys(["CUMSUM", "ARG_MAX", "ARG_MIN"], _small_operands(1)),
    "BROADCAST_ARGS": _small_operands(0, 1, use=Limits(1, 1)),  # shapes that broadcast with any
    **dict.fromkeys(["RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL", "MULTINOMIAL"], _small_operands(0)),
    **dict.fromkeys(
        ["SUM", "MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "REDUCE_ANY", "REDUCE_ALL"], _small_operands(1)
    ),
}
