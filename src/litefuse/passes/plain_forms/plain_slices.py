"""Slices that keep all axes, and no slices where everything is taken."""

from __future__ import annotations

from typing import NamedTuple

from litefuse.ir.litert_ops import MASKS, int32_vector, integers, strided_slice
from litefuse.ir.mlir import ir
from litefuse.ir.passes import module_pass, visit_ops
from litefuse.passes.plain_forms.reshapes import is_fixed, reshaped, resized, sliced


class _Range(NamedTuple):
    """Slice of an axis: ``length`` elements from ``begin`` on, ``stride`` apart."""

    begin: int
    stride: int
    length: int


@module_pass
def plain_slices(module: ir.Module) -> bool:
    """Takes STRIDED_SLICE apart, and drops what takes everything::

        tfl.strided_slice(%x : tensor<4x6x8xf32>, [0, 1, 0], [0, 2, 0], [1, 1, 2])
            {begin_mask = 5, end_mask = 5, shrink_axis_mask = 2} : tensor<4x4xf32>
        -->  %s = tfl.strided_slice(%x, [0, 1, 0], [4, 2, 8], [1, 1, 2]) : tensor<4x1x4xf32>
             tfl.reshape(%s, [4, 4])

    An axis that is dropped or added is a RESHAPE's, and a slice of neighbors is SLICE, whose version does not rise
    with booleans. Slices in backward order, or by places that are computed, stay.

    The masks are those of TensorFlow's ``tf.strided_slice``.
    """
    return visit_ops(module, {"tfl.strided_slice": _apart})


def _apart(op: ir.OpView) -> ir.Value | None:
    value, ranges = op.operands[0], _ranges(op)
    if ranges is None:
        return None
    shape = ir.RankedTensorType(value.type).shape
    begins = [range_.begin for range_ in ranges]
    counts = [range_.length for range_ in ranges]
    if counts == shape and not any(begins):
        taken = value
    elif all(range_.stride == 1 for range_ in ranges):
        taken = sliced(value, begins, counts)
    else:
        ends = [min(part.begin + part.stride * part.length, size) for part, size in zip(ranges, shape, strict=True)]
        vectors = [int32_vector(numbers) for numbers in (begins, ends, [range_.stride for range_ in ranges])]
        taken = strided_slice([value, *vectors], resized(value.type, counts))
    return reshaped(taken, ir.RankedTensorType(op.results[0].type).shape)


def _ranges(op: ir.OpView) -> list[_Range] | None:
    """Returns what is taken of each axis of the operand; None if that is not known, or backward."""
    value, *vectors = op.operands
    if not is_fixed(value, op.results[0]) or ir.BoolAttr(op.attributes["offset"]).value:
        return None
    numbers = [known for vector in vectors if (known := integers(vector)) is not None]
    if len(numbers) < 3:
        return None
    specs: list[tuple[int, int, int]] = [*zip(*numbers, strict=True)]
    masks = {name: ir.IntegerAttr(op.attributes[name]).value for name in MASKS}
    shape: list[int] = ir.RankedTensorType(value.type).shape
    new = masks["new_axis_mask"]
    ellipsis = next((place for place in range(len(specs)) if masks["ellipsis_mask"] >> place & 1), len(specs))
    # New axes behind the ellipsis count, those before it too; the rest is the ellipsis's.
    taken = sum(1 for place in range(len(specs)) if place != ellipsis and not new >> place & 1)
    ranges: list[_Range] = []
    for place, (begin, end, stride) in enumerate(specs):
        if place == ellipsis:
            ranges += [_Range(0, 1, size) for size in shape[len(ranges) : len(ranges) + len(shape) - taken]]
        elif not new >> place & 1:
            flags = {name: bool(mask >> place & 1) for name, mask in masks.items()}
            ranges.append(_range(begin, end, stride, shape[len(ranges)], flags))
    ranges += [_Range(0, 1, size) for size in shape[len(ranges) :]]
    return None if any(range_.stride < 1 or range_.length < 1 for range_ in ranges) else ranges


def _range(begin: int, end: int, stride: int, size: int, flags: dict[str, bool]) -> _Range:
    if flags["shrink_axis_mask"]:
        return _Range(begin % size, 1, int(-size <= begin < size))
    if stride < 1:
        return _Range(0, stride, 0)
    first = None if flags["begin_mask"] else begin
    last = None if flags["end_mask"] else end
    places = range(size)[first:last:stride]
    return _Range(places.start, stride, len(places))
