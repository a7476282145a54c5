"""Merging and broadcasting of partially known shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

from litefuse.ir.ops.dims import Dim, Formula, broadcast_dims
from litefuse.ir.ops.facts import PartialDims, ShapeError, text

__all__ = ["broadcast_shapes", "meet", "meet_dims"]

SizeT = TypeVar("SizeT", bound="Dim | None")


def meet_dims(a: Dim | None, b: Dim | None) -> Dim | None:
    """Merges two facts about one size; a number is preferred to a formula, else the first wins.

    Raises:
        ShapeError: They contradict each other.
    """
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, Formula):
        return a if isinstance(b, Formula) else b
    if isinstance(b, int) and a != b:
        raise ShapeError(f"a size is both {a} and {b}")
    return a


def meet(a: PartialDims, b: PartialDims) -> PartialDims:
    """Merges two facts about one shape.

    Raises:
        ShapeError: They contradict each other.
    """
    if a is None or b is None:
        return b if a is None else a
    if len(a) != len(b):
        raise ShapeError(f"the shapes {text(a)} and {text(b)} differ in rank")
    try:
        return tuple(map(meet_dims, a, b))
    except ShapeError:
        raise ShapeError(f"the shapes {text(a)} and {text(b)} contradict each other") from None


def broadcast_shapes(shapes: Sequence[tuple[SizeT, ...]]) -> tuple[SizeT, ...]:
    """Returns the broadcast shape; None for an unknown dimension.

    Raises:
        ShapeError: They cannot be broadcast to each other.
    """
    result: list[Dim | None] = list(shapes[0])
    for shape in shapes[1:]:
        if len(shape) > len(result):
            result[:0] = shape[: len(shape) - len(result)]
        for back in range(1, len(shape) + 1):
            size, other = result[-back], shape[-back]
            if size is None or other is None:
                size = other if size is None else size
                # An unknown dimension is this size or 1, which gives the same; next to 1 it may be any size.
                result[-back] = size if isinstance(size, int) and size != 1 else None
                continue
            result[-back] = broadcast_dims(size, other)
            if result[-back] is None:
                raise ShapeError(f"the shapes {' and '.join(map(text, shapes))} cannot be broadcast to each other")
    return cast("tuple[SizeT, ...]", tuple(result))
