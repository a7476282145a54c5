"""Rules for ops that pick rows: of tables, of classes, of segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from litefuse.litert.inputs.flow import Place, Results, Trace
from litefuse.litert.inputs.uses import Limits, Meaning, Rows
from litefuse.litert.runtime.model_reader import Tensor


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
    """Notes that an operand picks rows of the named table.

    ``count`` is None if the number of rows is dynamic. If ``weighty``, each row matters; if ``free``, numbers that pick
    no row are legal.
    """
    legal: dict[tuple[str, Any], tuple[Trace, int | None, int | None]] = {}
    for trace in place.traces(operand):
        if abs(trace.scale) != 1 or trace.offset != round(trace.offset):
            place.flow.note(trace, Meaning.SMALL)
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
    place.restrict_roots(operand)


def _row(table: Tensor) -> tuple[int, ...] | None:
    sizes = tuple(size for size in table.shape[1:] if size is not None)
    return sizes if len(sizes) == len(table.shape) - 1 else None


def gather(place: Place) -> Results:
    """Notes that indices pick rows, or slices along another axis."""
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
        return cut._replace(axes=trace.without(rank, {axis % rank}) if not picked.ndim else trace.axes)

    return [piece(trace) for trace in place.traces(0)]


def embedding_lookup(place: Place) -> Results:
    """Notes that ids pick rows of a table."""
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
            place.flow.note(trace, Meaning.SMALL)
            continue
        for number, size in enumerate(axes):
            cut = trace.cut(column, number, number + 1) if len(axes) > 1 else trace
            first = round(-trace.offset / trace.scale)
            last = None if size is None else first + size - 1
            only = Rows(table, size, first, first, last, weighty and len(axes) == 1)
            place.flow.note(cut, only)
    place.restrict_roots(operand)


def gather_nd(place: Place) -> Results:
    """Notes that indices pick slices along the first axes."""
    table = place.kind(0)
    _coordinates(place, 1, table.shape, table.name, weighty=True)
    return place.traces_without_axes()


def scatter_nd(place: Place) -> Results:
    """Notes that indices pick the places of slices."""
    shape = place.constant(2)
    place.restrict(2, Meaning.SMALL)
    sizes: list[int | None] = [*shape.tolist()] if shape is not None else [None] * 8
    _coordinates(place, 0, sizes, "", weighty=False)
    return place.traces_without_axes(1)


def one_hot(place: Place) -> Results:
    """Notes that each number picks a class."""
    depth = place.constant(1)
    place.restrict(1, Limits(1, 9))
    count = None if depth is None else int(depth.reshape(-1)[0])
    _note_rows(place, 0, "", count, weighty=True, free=True)
    return ()


def segments(place: Place) -> Results:
    """Notes that ids pick the segments that rows are added up in."""
    if place.op.name == "SEGMENT_SUM":
        place.restrict(1, Meaning.SORTED)
        return ()
    place.restrict(2, Limits(1, 9))
    count = place.constant(2)
    _note_rows(place, 1, "", None if count is None else int(count.reshape(-1)[0]), weighty=False)
    return ()
