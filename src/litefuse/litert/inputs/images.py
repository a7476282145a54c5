"""Rules for ops that resize images, or move their blocks."""

from __future__ import annotations

from litefuse.litert.inputs.flow import Place, Results
from litefuse.litert.inputs.uses import Image, Limits

__all__ = ["blocks", "resized"]


def blocks(place: Place) -> Results:
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
    return [trace._replace(axes=None) for trace in place.traces()]


def resized(place: Place) -> Results:
    """Restricts sizes, and notes that what looks like an image is one."""
    place.restrict(1, Limits(1, 9))
    shape = place.kind(0).shape
    for trace in place.traces():
        if trace.is_plain and len(shape) == 4 and shape[-1] in {1, 3, 4}:
            place.flow.note(trace, Image())
    return [trace._replace(axes=None) for trace in place.traces()]
