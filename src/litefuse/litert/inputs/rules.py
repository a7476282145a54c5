"""Rules for LiteRT's ops: which values they forward, and to which values they give a meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.litert.inputs.arithmetic import MOST_COLUMNS, arithmetic, clip, modulo, power, quantize
from litefuse.litert.inputs.flow import Place, Results, Rule, Trace
from litefuse.litert.inputs.random_values import distinct
from litefuse.litert.inputs.row_rules import embedding_lookup, gather, gather_nd, one_hot, scatter_nd, segments
from litefuse.litert.inputs.uses import Count, Limits, Meaning, Near, Padding, Rows, Use, Words
from litefuse.litert.runtime.model_reader import Op


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
        place.restrict(operand, Meaning.SMALL)
    return ()


def _same(place: Place) -> Results:
    return place.traces()


def _reshape(place: Place) -> Results:
    place.restrict(1, Meaning.SMALL)
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
        return trace._replace(axes=tuple(axes[places[axis]] if axis in places else None for axis in range(len(made))))

    return [moved(trace) for trace in place.traces()]


def _expand_dims(place: Place) -> Results:
    place.restrict(1, Limits(0, 0))
    return _reshaped(place)


def _transpose(place: Place) -> Results:
    place.restrict(1, Meaning.SMALL)
    order = place.constant(1)

    def moved(trace: Trace) -> Trace:
        if order is None or trace.axes is None or len(trace.axes) != order.size:
            return trace._replace(axes=None)
        return trace._replace(axes=tuple(trace.axes[int(axis)] for axis in order.reshape(-1)))

    return [moved(trace) for trace in place.traces()]


def _cast(place: Place) -> Results:
    given, made = place.kind(0).dtype, place.result().dtype
    if given is not None and made is not None:
        if made.kind == "b":
            place.use(0, Meaning.MASK)
        elif given.kind == "f" and made.kind in "iu":
            place.use(0, Meaning.WHOLE)
    return place.traces()


def _without_axes(place: Place) -> Results:
    for operand in range(1, len(place.values)):
        place.restrict(operand, Meaning.SMALL)
    return place.traces_without_axes()


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
        return cut._replace(axes=trace.without(rank, {along}))

    return {index: [piece(trace, index) for trace in place.traces()] for index in range(len(place.op.outputs))}


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
        return place.traces_without_axes()

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
        place.restrict(operand, Meaning.SMALL)
    first, last, step = (place.constant(operand) for operand in (1, 2, 3))
    option = place.op.option
    masks = [option(field) for field in range(5)]  # begin, end, ellipsis, new axis, shrink
    shape = place.kind(0).shape
    if first is None or last is None or step is None or masks[2] or masks[3] or (step != 1).any():
        return place.traces_without_axes()
    gone = {axis for axis in range(first.size) if masks[4] >> axis & 1}

    def cut(trace: Trace) -> Trace:
        part = trace
        for axis in range(first.size):
            size = shape[axis]
            begin, end = 0 if masks[0] >> axis & 1 else int(first[axis]), int(last[axis])
            if begin < 0:
                if size is None:
                    continue  # counted from the end of a dynamic dimension
                begin += size
            if axis in gone:
                end = begin + 1
            elif masks[1] >> axis & 1 or end < 0 or (size is not None and end > size):
                if size is None:
                    continue
                end = size + end if end < 0 and not masks[1] >> axis & 1 else size
            if begin or end != size:
                part = part.cut(trace.axis(axis, len(shape)), begin, end)
        return part._replace(axes=trace.without(len(shape), gone))

    return [cut(trace) for trace in place.traces()]


def _select(place: Place) -> Results:
    place.use(0, Meaning.MASK)
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


def _reverse_sequence(place: Place) -> Results:
    axis = place.op.option(0)
    shape = place.kind(0).shape
    place.restrict(1, Limits(0, shape[axis] if shape else None))
    return place.traces_without_axes()


def _find(place: Place) -> Results:
    keys = place.flow.keys.get(place.values[0].table or 0, ())
    for trace in place.traces(1):
        place.flow.note(trace, Words(keys, trace.delimiter))
    return ()


def _restricted(uses: Mapping[int, Use]) -> Rule:
    """Returns a rule that restricts operands by their positions."""

    def rule(place: Place) -> Results:
        for operand, use in uses.items():
            place.restrict(operand, use)
        return ()

    return rule


def _small_operands(*operands: int) -> Rule:
    return _restricted(dict.fromkeys(operands, Meaning.SMALL))


def _top_k(place: Place) -> Results:
    last = place.kind(0).shape[-1] if place.kind(0).shape else None
    place.restrict(1, Limits(1, last))
    return ()


def _logical(place: Place) -> Results:
    for operand in range(len(place.values)):
        place.use(operand, Meaning.MASK)
    return ()


def _blocks(place: Place) -> Results:
    """Restricts blocks to those that fit any size, and paddings to what given blocks need."""
    place.restrict(1, Limits(1, 1))
    known, sizes = place.constant(1), place.kind(0).shape[1:-1]
    if place.op.name == "BATCH_TO_SPACE_ND" or known is None or None in sizes:
        place.restrict(2, Limits(0, 0))
    else:
        for trace in place.traces(2):
            for axis, (block, size) in enumerate(zip(known.tolist(), sizes, strict=True)):
                row = trace.cut(trace.axis(0, 2), axis, axis + 1)
                for column, padding in enumerate((0, -(size or 0) % block)):
                    place.flow.note(row.cut(trace.axis(1, 2), column, column + 1), Limits(padding, padding))
    return place.traces_without_axes()


def _resized(place: Place) -> Results:
    """Restricts sizes, and notes that what looks like an image is one."""
    place.restrict(1, Limits(1, 9))
    shape = place.kind(0).shape
    for trace in place.traces():
        if trace.is_plain and len(shape) == 4 and shape[-1] in {1, 3, 4}:
            place.flow.note(trace, Meaning.IMAGE)
    return place.traces_without_axes()


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
    **dict.fromkeys(["BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND"], _blocks),
    **dict.fromkeys(["CONCATENATION", "PACK"], _joined),
    "UNPACK": _unpack,
    **dict.fromkeys(["SPLIT", "SPLIT_V"], _split),
    "SLICE": _slice,
    "STRIDED_SLICE": _strided_slice,
    **dict.fromkeys(["ADD", "SUB", "MUL", "DIV"], arithmetic),
    **dict.fromkeys(["MINIMUM", "MAXIMUM"], clip),
    "FLOOR_MOD": modulo,
    "FLOOR_DIV": _restricted({1: Limits(1, 9)}),
    "POW": power,
    **dict.fromkeys(["SELECT", "SELECT_V2"], _select),
    **dict.fromkeys(["EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"], _compare),
    "GATHER": gather,
    "EMBEDDING_LOOKUP": embedding_lookup,
    "GATHER_ND": gather_nd,
    "SCATTER_ND": scatter_nd,
    "ONE_HOT": one_hot,
    **dict.fromkeys(("SEGMENT_SUM", *(f"UNSORTED_SEGMENT_{kind}" for kind in ("SUM", "MAX", "MIN", "PROD"))), segments),
    "REVERSE_SEQUENCE": _reverse_sequence,
    **dict.fromkeys(["RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"], _resized),
    "HASHTABLE_FIND": _find,
    "HASHTABLE_LOOKUP": _small_operands(0),
    "TOPK_V2": _top_k,
    "RIGHT_SHIFT": _restricted({1: Limits(0, 7)}),
    **dict.fromkeys(["LOGICAL_AND", "LOGICAL_OR", "LOGICAL_NOT", "WHERE"], _logical),
    "FILL": _small_operands(0),
    "RANGE": _restricted({0: Limits(0, 3), 1: Limits(4, 9), 2: Limits(1, 3)}),
    "SPARSE_TO_DENSE": _small_operands(0, 1),
    "DYNAMIC_UPDATE_SLICE": _small_operands(2),
    **dict.fromkeys(["CUMSUM", "ARG_MAX", "ARG_MIN"], _small_operands(1)),
    "BROADCAST_ARGS": _restricted(dict.fromkeys((0, 1), Limits(1, 1))),  # shapes that broadcast with any
    **dict.fromkeys(["RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL", "MULTINOMIAL"], _small_operands(0)),
    **dict.fromkeys(
        ["SUM", "MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "REDUCE_ANY", "REDUCE_ALL"], _small_operands(1)
    ),
}
