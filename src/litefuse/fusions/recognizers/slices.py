"""Slices along the last dimension, and what joins them again, in the ways in which models write them."""

from __future__ import annotations

from collections.abc import Sequence
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

    def is_part(self, first: int, end: int, count: int) -> bool:
        """Whether these are the parts ``first`` to ``end``, of ``count`` equal ones."""
        step, rest = divmod(self.size, count)
        return not rest and self.positions == range(first * step, end * step)


def last_slice(value: ir.Value) -> LastSlice | None:
    """Returns what a value is a slice of, or None; the size of the last dimension must be known."""
    half = half_of(value)
    if half is None:
        return _slice(value.owner)
    size = (tensor_type_of(half.x).sizes or (None,))[-1]
    if size is None or size % 2:
        return None
    if half.pairs == "neighbors":
        return LastSlice(half.x, range(size)[half.number :: 2], size)
    begin = half.number * size // 2
    return LastSlice(half.x, range(begin, begin + size // 2), size)


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
    piece = _slice(owner)
    return piece.whole if piece is not None and piece.is_part(first, end, count) else None


def _slice(op: ir.OpView | ir.Block, *, drops: bool = False) -> LastSlice | None:
    """Returns the slice that an op takes along the last dimension; None if it cuts others. ``drops``: one position."""
    if isinstance(op, ir.Block) or op.name not in {"tf.Slice", "tf.StridedSlice"}:
        return None
    sizes = tensor_type_of(op.operands[0]).sizes
    bounds = _bounds(op, len(sizes), drops=drops)
    if not bounds or sizes[-1] is None:
        return None
    for taken, size in zip(bounds[:-1], sizes, strict=False):
        is_whole = taken.start in {None, 0} and taken.stop is None and taken.step in {None, 1}
        if not is_whole and (size is None or range(size)[taken] != range(size)):
            return None
    return LastSlice(op.operands[0], range(sizes[-1])[bounds[-1]], sizes[-1])


def _bounds(op: ir.OpView, rank: int, *, drops: bool) -> list[slice] | None:
    """Returns what a slice takes of each dimension; None if that is not known, or for other dropped dimensions."""
    begin, end, *strides = (integer_constant(source(operand)) for operand in list(op.operands)[1:])
    if not isinstance(begin, list) or not isinstance(end, list):
        return None
    if op.name == "tf.Slice":  # the second is of sizes
        bounds = [slice(at, None if count == -1 else at + count) for at, count in zip(begin, end, strict=True)]
        return None if drops else bounds
    dropped = 1 << len(begin) - 1 if drops else 0
    if not isinstance(strides[0], list) or _mask(op, "new_axis_mask") or _mask(op, "shrink_axis_mask") != dropped:
        return None
    bounds = [
        slice(
            None if _mask(op, "begin_mask") >> place & 1 else begin[place],
            None if _mask(op, "end_mask") >> place & 1 else end[place],
            stride,
        )
        for place, stride in enumerate(strides[0])
    ]
    if drops:
        bounds[-1] = slice(begin[-1], begin[-1] + 1 or None)
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


def _sliced(op: ir.OpView, value: ir.Value) -> Half | None:
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


def _strided(op: ir.OpView) -> Half | None:
    """Returns every second feature, or an axis of pairs at one index."""
    if (piece := _slice(op)) is not None:
        number = piece.positions.start
        every_second = number in {0, 1} and piece.positions == range(piece.size)[number::2]
        return Half(plain(piece.whole), number, "neighbors") if every_second and piece.size > 1 else None
    index = _slice(op, drops=True)
    if index is None or index.size != 2:
        return None
    return _of_pairs(index.whole, len(tensor_type_of(index.whole).sizes) - 1, index.positions.start)


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
