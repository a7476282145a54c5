"""Slices along the last dimension, and what joins them again, in the ways in which models write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from litefuse.fusions.recognizers.layers.algebra import FORWARDED
from litefuse.ir.attributes import attribute_value
from litefuse.ir.constants import integer_constant
from litefuse.ir.defining_ops import source
from litefuse.ir.mlir import ir
from litefuse.ir.types import tensor_type_of

Pairs: TypeAlias = Literal["halves", "neighbors"]
"""Which features are a pair: one of each half, or two that are side by side."""


class Half(NamedTuple):
    """The first or the second feature of each pair, of x."""

    x: ir.Value
    number: int
    pairs: Pairs


class LastSlice(NamedTuple):
    """Some positions of a value along its last dimension, all of the others."""

    whole: ir.Value
    positions: range
    size: int


def last_slice(value: ir.Value) -> LastSlice | None:
    """Returns what a value is a slice of, or None; the size of the last dimension must be known."""
    op, half = value.owner, half_of(value)
    if half is not None:
        size = (tensor_type_of(half.x).sizes or (None,))[-1]
        if size is None or size % 2:
            return None
        positions = range(size)[half.number :: 2] if half.pairs == "neighbors" else range(size)[: size // 2]
        if half.pairs == "halves" and half.number:
            positions = range(size // 2, size)
        return LastSlice(half.x, positions, size)
    if isinstance(op, ir.Block) or op.name not in _SLICES:
        return None
    sizes = tensor_type_of(op.operands[0]).sizes
    if not sizes or sizes[-1] is None or (positions := _positions(op, sizes)) is None:
        return None
    return LastSlice(op.operands[0], positions, sizes[-1])


def part_of(value: ir.Value, first: int, end: int, count: int) -> ir.Value | None:
    """Returns the whole of which this is the parts ``first`` to ``end``, of ``count`` equal ones of the last axis."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    if owner.name == "tf.Split":
        axis, whole = integer_constant(source(owner.operands[0])), owner.operands[1]
        kind = ir.ShapedType(whole.type)
        position = ir.OpResult(value).result_number
        last = kind.has_rank and isinstance(axis, int) and axis % kind.rank == kind.rank - 1
        return whole if last and (position, position + 1, len(owner.results)) == (first, end, count) else None
    if owner.name not in _SLICES:
        return None
    whole = owner.operands[0]
    sizes = tensor_type_of(whole).sizes
    size = sizes[-1] if sizes else None
    if size is None or size % count or (positions := _positions(owner, sizes)) is None:
        return None
    step = size // count
    return whole if positions == range(first * step, end * step) else None


_SLICES = frozenset({"tf.Slice", "tf.StridedSlice"})


def _positions(op: ir.OpView, sizes: Sequence[int | None]) -> range | None:
    """Returns the positions along the last dimension, of known size, that a slice has; None if it cuts others, too."""
    taken = _bounds(op, len(sizes))
    if taken is None:
        return None
    *others, last = taken
    for bounds, size in zip(others, sizes, strict=False):
        is_whole = bounds.start in {None, 0} and bounds.stop is None and bounds.step in {None, 1}
        if not is_whole and (size is None or range(size)[bounds] != range(size)):
            return None
    return range(sizes[-1] or 0)[last]


def _bounds(op: ir.OpView, rank: int) -> list[slice] | None:
    """Returns what a slice takes of each dimension; None if that is not known, or if it adds or removes dimensions."""
    begin, end, *strides = (integer_constant(source(operand)) for operand in list(op.operands)[1:])
    if not isinstance(begin, list) or not isinstance(end, list):
        return None
    if op.name == "tf.Slice":  # the second is of sizes
        return [slice(at, None if count == -1 else at + count) for at, count in zip(begin, end, strict=True)]
    if not isinstance(strides[0], list) or _mask(op, "new_axis_mask") or _mask(op, "shrink_axis_mask"):
        return None
    bounds = [
        slice(
            None if _mask(op, "begin_mask") >> place & 1 else begin[place],
            None if _mask(op, "end_mask") >> place & 1 else end[place],
            stride,
        )
        for place, stride in enumerate(strides[0])
    ]
    missing = [slice(None)] * (rank - len(bounds))
    if place := _mask(op, "ellipsis_mask").bit_length():
        bounds[place - 1 : place] = [slice(None), *missing]
    else:
        bounds += missing
    return bounds if len(bounds) == rank else None


def row_of(value: ir.Value, index: int, count: int) -> ir.Value | None:
    """Returns the matrix of ``count`` rows of which this is a row, as a vector or as a matrix of one row."""
    owner = value.owner
    if not isinstance(owner, ir.Block) and owner.name in {"tf.Reshape", "tf.Squeeze"}:
        before, after = (ir.ShapedType(tensor.type) for tensor in (owner.operands[0], value))
        if not before.has_static_shape or not after.has_static_shape or list(before.shape) != [1, *after.shape]:
            return None
        value = source(owner.operands[0])
        owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    position = ir.OpResult(value).result_number
    if owner.name == "tf.Split" and integer_constant(source(owner.operands[0])) == 0:
        return owner.operands[1] if (position, len(owner.results)) == (index, count) else None
    if owner.name == "tf.Unpack" and ir.IntegerAttr(owner.attributes["axis"]).value == 0:
        return owner.operands[0] if (position, len(owner.results)) == (index, count) else None
    if owner.name == "tf.StridedSlice":
        whole = owner.operands[0]
        kind = ir.ShapedType(whole.type)
        if not kind.has_static_shape or kind.rank != 2 or kind.shape[0] != count:
            return None
        begin = integer_constant(source(owner.operands[1]))
        one_row = begin == [index] and _mask(owner, "shrink_axis_mask") == 1 and not _mask(owner, "begin_mask")
        return whole if one_row else None
    return None


def _mask(op: ir.OpView, name: str) -> int:
    return ir.IntegerAttr(op.attributes[name]).value


def joined(op: ir.Operation | ir.OpView | ir.Block) -> tuple[tuple[ir.Value, ir.Value], Pairs, ir.Value] | None:
    """Returns the two values that an op joins, how, and the whole: joined halves, or pairs of neighbors."""
    if isinstance(op, ir.Block) or not op.results:
        return None
    result = op.results[0]
    kind = tensor_type_of(result)
    if kind.rank is None:
        return None
    if op.name == "tf.ConcatV2" and len(op.operands) == 3:
        axis = integer_constant(source(op.operands[2]))
        if not isinstance(axis, int) or tensor_type_of(op.operands[0]).shape != tensor_type_of(op.operands[1]).shape:
            return None
        axis %= kind.rank
        whole = _merged(result)
        if kind.sizes[axis] == 2 and axis >= kind.rank - 2 and whole is not None:
            stacked = [_squeezed(operand, axis) for operand in list(op.operands)[:2]]
            return (stacked[0], stacked[1]), "neighbors" if axis == kind.rank - 1 else "halves", whole
        return ((op.operands[0], op.operands[1]), "halves", result) if axis == kind.rank - 1 else None
    if op.name == "tf.Pack" and len(op.operands) == 2:
        axis = attribute_value(op.attributes["axis"]) % kind.rank
        whole = _merged(result)
        if whole is None or axis < kind.rank - 2:
            return None
        return (op.operands[0], op.operands[1]), "neighbors" if axis == kind.rank - 1 else "halves", whole
    return None


def _squeezed(value: ir.Value, axis: int) -> ir.Value:
    """Returns what an axis of size 1 was added to."""
    op = value.owner
    if isinstance(op, ir.Block) or op.name not in {"tf.ExpandDims", "tf.Reshape"}:
        return value
    sizes = tensor_type_of(value).sizes
    return op.operands[0] if tensor_type_of(op.operands[0]).sizes == (*sizes[:axis], *sizes[axis + 1 :]) else value


def _merged(value: ir.Value) -> ir.Value | None:
    """Returns a value whose last two axes have become one, if that is its use."""
    sizes = tensor_type_of(value).sizes
    if None in sizes[-2:]:
        return None
    for use in value.uses:
        op = use.owner
        if op.name == "tf.Reshape" and tensor_type_of(op.results[0]).sizes == (*sizes[:-2], _times(sizes[-2:])):
            return op.results[0]
    return None


def _times(sizes: Sequence[int | None]) -> int:
    return (sizes[0] or 0) * (sizes[1] or 0)


def half_of(value: ir.Value) -> Half | None:
    """Returns the half of each pair that a value is."""
    value = plain(value)
    for index in (0, 1):
        whole = part_of(value, index, index + 1, 2)
        if whole is not None:
            return Half(plain(whole), index, "halves")
    op = value.owner
    if isinstance(op, ir.Block):
        return None
    if op.name == "tf.StridedSlice":
        return _sliced(op, value) or _strided(op)
    if op.name in {"tf.Reshape", "tf.Squeeze"}:  # of one of the two that an axis of pairs is split into
        inner = op.operands[0]
        part = _half_of_axis(inner)
        return (
            part if part is not None and tensor_type_of(value).rank == (tensor_type_of(inner).rank or 0) - 1 else None
        )
    if op.name == "tf.Unpack":
        rank = tensor_type_of(op.operands[0]).rank
        axis = attribute_value(op.attributes["axis"])
        if rank is None or len(op.results) != 2:
            return None
        return _of_pairs(op.operands[0], axis % rank, ir.OpResult(value).result_number)
    return None


def _sliced(op: ir.Operation | ir.OpView, value: ir.Value) -> Half | None:
    """Returns half of the features of which the other sizes are the same, though known only in a call."""
    whole = op.operands[0]
    sizes, sliced = tensor_type_of(whole).sizes, tensor_type_of(value).sizes
    begin, strides = (integer_constant(source(op.operands[index])) for index in (1, 3))
    if any(attribute_value(op.attributes[f"{name}_mask"]) for name in ("new_axis", "shrink_axis")):
        return None
    if not isinstance(begin, list) or strides != [1] * len(begin) or not sizes or sizes[:-1] != sliced[:-1]:
        return None
    if attribute_value(op.attributes["ellipsis_mask"]) != (1 if len(begin) == 2 < len(sizes) else 0):
        return None
    half = sliced[-1]
    first = begin[-1] * (not attribute_value(op.attributes["begin_mask"]) >> (len(begin) - 1) & 1)
    if half is None or sizes[-1] != 2 * half or any(begin[:-1]) or first not in {0, half}:
        return None
    return Half(plain(whole), int(first == half), "halves")


def _strided(op: ir.Operation | ir.OpView) -> Half | None:
    """Returns every second feature, or an axis of pairs at one index."""
    whole = op.operands[0]
    sizes = tensor_type_of(whole).sizes
    begin, end, strides = (integer_constant(source(operand)) for operand in list(op.operands)[1:])
    if not (isinstance(begin, list) and isinstance(end, list) and isinstance(strides, list)) or not sizes:
        return None
    masks = {
        name: attribute_value(op.attributes[f"{name}_mask"]) for name in ("begin", "end", "ellipsis", "shrink_axis")
    }
    if attribute_value(op.attributes["new_axis_mask"]):
        return None
    places = len(begin)
    if masks["ellipsis"] not in {0, 1} or (masks["ellipsis"] == 0 and places != len(sizes)):
        return None
    last = places - 1
    if masks["ellipsis"] == 0 and any(
        strides[axis] != 1 or not _is_whole(axis, begin, end, masks, sizes) for axis in range(last)
    ):
        return None
    first = 0 if masks["begin"] >> last & 1 else begin[last]
    if masks["shrink_axis"] == 1 << last:
        return _of_pairs(whole, len(sizes) - 1, first % 2) if sizes[-1] == 2 else None
    stop = sizes[-1] if masks["end"] >> last & 1 else end[last]
    if (
        masks["shrink_axis"]
        or strides[last] != 2
        or first not in {0, 1}
        or sizes[-1] is None
        or (stop or 0) < sizes[-1] - 1
    ):
        return None
    return Half(plain(whole), first, "neighbors")


def _is_whole(
    axis: int, begin: list[int], end: list[int], masks: Mapping[str, int], sizes: Sequence[int | None]
) -> bool:
    from_start = bool(masks["begin"] >> axis & 1) or begin[axis] == 0
    size = sizes[axis]
    return from_start and (bool(masks["end"] >> axis & 1) or (size is not None and end[axis] >= size))


def _half_of_axis(value: ir.Value) -> Half | None:
    op = value.owner
    if isinstance(op, ir.Block):
        return None
    for index in (0, 1):
        whole = part_of(value, index, index + 1, 2)
        if whole is not None and tensor_type_of(whole).sizes[-1:] == (2,):
            return _of_pairs(whole, len(tensor_type_of(whole).sizes) - 1, index)
    return None


def _of_pairs(whole: ir.Value, axis: int, index: int) -> Half | None:
    """Returns the halves of pairs that an axis of size 2 was split off for."""
    op = plain(whole).owner
    rank = len(tensor_type_of(whole).sizes)
    if isinstance(op, ir.Block) or op.name != "tf.Reshape" or tensor_type_of(whole).sizes[axis] != 2:
        return None
    x = op.operands[0]
    sizes = tensor_type_of(whole).sizes
    if tensor_type_of(x).sizes != (*sizes[:-2], _times(sizes[-2:])):
        return None
    if axis == rank - 1:
        return Half(plain(x), index, "neighbors")
    return Half(plain(x), index, "halves") if axis == rank - 2 else None


def plain(value: ir.Value) -> ir.Value:
    """Returns the value behind ops that change its dtype at most."""
    while not isinstance(value.owner, ir.Block) and value.owner.name in FORWARDED - {
        *("tf.BroadcastTo", "tf.ExpandDims", "tf.Reshape", "tf.Squeeze")
    }:
        value = value.owner.operands[0]
    return value
