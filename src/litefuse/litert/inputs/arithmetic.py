"""Rules for arithmetic: how operations with constants change the values that flow into them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.litert.inputs.flow import Place, Results, Trace
from litefuse.litert.inputs.random_values import distinct
from litefuse.litert.inputs.uses import Limits, Meaning, Range

#: More columns than this, each with a constant of its own, are not distinguished.
MOST_COLUMNS = 64
_PIXEL_SCALES = (1 / 300, 1 / 100)
_PIXEL_MEANS = (100.0, 140.0)


def arithmetic(place: Place) -> Results:
    """Maps the traces of a sum, difference, product or quotient with a constant."""
    name = place.op.name
    dtype = place.kind(0).dtype
    whole = dtype is not None and dtype.kind in "iu"
    if name == "DIV" and whole:
        place.restrict(1, Limits(1, 9))
    for operand, other in ((0, 1), (1, 0)):
        constant = place.constant(other)
        if constant is None or not place.traces(operand) or constant.dtype.kind not in "iuf":
            continue
        values = distinct(constant)
        if not whole:
            _note_pixels(place, operand, values)
        if name == "SUB" and operand == 1 and values.tolist() == [1.0]:
            place.use(operand, Meaning.MASK)  # 1 - mask: the complement
        return [
            made
            for trace in place.traces(operand)
            for made in _mapped(trace, name, constant, place, reverse=operand == 1)
            if made is not None
        ]
    return ()


def _note_pixels(place: Place, operand: int, values: npt.NDArray[Any]) -> None:
    """Notes that values are pixels: they are scaled by 1/255 or the like, or their mean is subtracted."""
    name = place.op.name
    low, high = _PIXEL_SCALES if name == "MUL" else tuple(1 / scale for scale in reversed(_PIXEL_SCALES))
    is_scale = (name in {"MUL", "DIV"} and operand == 0) or name == "MUL"
    for trace in place.traces(operand):
        if (is_scale and trace.scale == 1 and all(low <= abs(value) <= high for value in values)) or (
            name in {"SUB", "ADD"}
            and trace.is_plain
            and all(_PIXEL_MEANS[0] <= abs(value) <= _PIXEL_MEANS[1] for value in values)
        ):
            place.flow.note(trace, Meaning.IMAGE)


def _mapped(
    trace: Trace, name: str, constant: npt.NDArray[Any], place: Place, *, reverse: bool
) -> Sequence[Trace | None]:
    """Returns the traces of a result: one for each column where the constant is a row of different numbers."""
    values = constant.astype(np.float64).reshape(-1)
    if (values == values[0]).all() if values.size else False:
        return [_with_constant(trace, name, float(values[0]), reverse=reverse)]
    rank = len(place.result().shape)
    (axis,) = [axis for axis, size in enumerate(constant.shape) if size != 1][:1] or (0,)
    column = trace.axis(axis - constant.ndim, rank)
    if column is None or values.size > MOST_COLUMNS or values.size != constant.shape[axis]:
        return [None]
    return [
        _with_constant(trace.cut(column, index, index + 1), name, float(value), reverse=reverse)
        for index, value in enumerate(values)
    ]


def _with_constant(trace: Trace, name: str, number: float, *, reverse: bool) -> Trace | None:
    if not math.isfinite(number):
        return None
    if name in {"ADD", "SUB"}:
        sign = -1.0 if name == "SUB" and reverse else 1.0
        return trace._replace(
            scale=sign * trace.scale,
            offset=sign * trace.offset + (-number if name == "SUB" and not reverse else number),
        )
    if (name == "DIV" and (reverse or not number)) or not number:
        return None
    factor = 1 / number if name == "DIV" else number
    return trace._replace(scale=trace.scale * factor, offset=trace.offset * factor)


def clip(place: Place) -> Results:
    """Marks values as limited, perhaps by a faulty model: they keep their meaning, and none of them is illegal."""
    both = [*place.traces(0), *place.traces(1)]
    if place.constant(0) is None and place.constant(1) is None:
        return both
    return [trace._replace(limited=True) for trace in both]


def modulo(place: Place) -> Results:
    """Marks operands of a remainder as limited: any number is legal before it."""
    divisor = place.constant(1)
    if divisor is None:
        place.restrict(1, Limits(1, 9))
        return ()
    return [trace._replace(limited=True) for trace in place.traces()]


def power(place: Place) -> Results:
    """Restricts the exponent of an integer power: it must not be negative."""
    dtype = place.kind(0).dtype
    if dtype is not None and dtype.kind in "iu":
        place.restrict(1, Limits(0, 3))
    return ()


def quantize(place: Place) -> Results:
    """Notes the range of the numbers that are quantized: what is beyond it is lost."""
    made = place.result()
    if made.scale and made.dtype is not None and made.dtype.kind in "iu":
        limits = np.iinfo(made.dtype)
        ends = [(int(limit) - made.zero) * made.scale for limit in (limits.min, limits.max)]
        for trace in place.traces():
            low, high = sorted((end - trace.offset) / trace.scale for end in ends)
            place.flow.note(trace, Range(low, high))
    return place.traces()
