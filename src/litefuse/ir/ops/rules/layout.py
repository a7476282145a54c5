"""Ops that change the shape or order of elements."""

from __future__ import annotations

from math import prod

from litefuse.ir.ops.dims import Dim, Formula, is_size, product
from litefuse.ir.ops.facts import (
    Answer,
    Dims,
    Op,
    PartialDims,
    Rule,
    ShapeError,
    Undecided,
    meet,
    normal_axis,
    size_or_none,
    text,
)


def stated_shape(op: Op, index: int) -> PartialDims:
    """Returns the shape that an operand states; None for a size that may be negative.

    Raises:
        Undecided: Not even its rank is known.
    """
    operand = op.operands[index]
    if operand.values is None:
        (count,) = op.ranked(index, 1)
        if isinstance(count, Formula):
            raise Undecided("the rank of the result is not known")
        return (None,) * count
    if operand.values.ndim != 1:
        raise ShapeError(f"a shape must be a vector, not of rank {operand.values.ndim}")
    return tuple(map(size_or_none, op.vector(index)))


def _reshape(op: Op) -> Answer:
    stated = stated_shape(op, 1)
    assert stated is not None
    source = op.operands[0].shape
    if source is None:
        return stated
    open_axes = [axis for axis, size in enumerate(stated) if size is None]
    total = product(source)
    others = product(size for size in stated if size is not None)
    if not open_axes:
        if isinstance(total, int) and isinstance(others, int) and total != others:
            raise ShapeError(f"{text(source)} has {total} elements, {text(stated)} has {others}")
        return stated
    if len(open_axes) > 1 or others == 0:
        return stated
    if isinstance(total, int) and isinstance(others, int) and total % others:
        raise ShapeError(f"the {total} elements of {text(source)} do not fill {text(stated)}")
    (axis,) = open_axes
    return (*stated[:axis], total // others, *stated[axis + 1 :])


def _expand_dims(op: Op) -> Answer:
    shape = op.shape(0)
    try:
        axis = op.axis(1, len(shape) + 1)
    except Undecided:
        return (None,) * (len(shape) + 1)
    return (*shape[:axis], 1, *shape[axis:])


def _squeeze(op: Op) -> Answer:
    shape = op.shape(0)
    given: list[int] = op.attribute("squeeze_dims", None) or op.attribute("axis", None) or []
    removed = {normal_axis(axis, len(shape)) for axis in given}
    if not removed:
        if any(isinstance(size, Formula) for size in shape):
            raise Undecided("a size that is not known may be 1")
        removed = {axis for axis, size in enumerate(shape) if size == 1}
    for axis in removed:
        size = shape[axis]
        if isinstance(size, int) and size != 1:
            raise ShapeError(f"dimension {axis} of {text(shape)} is not 1")
    return tuple(size for axis, size in enumerate(shape) if axis not in removed)


def _transpose(op: Op) -> Answer:
    try:
        permutation = op.numbers(1)
    except Undecided:
        shape = op.operands[0].shape
        return None if shape is None else (None,) * len(shape)
    shape = op.ranked(0, len(permutation))
    axes = [normal_axis(axis, len(shape)) for axis in permutation]
    if len(set(axes)) < len(axes):
        raise ShapeError(f"{permutation} is not a permutation")
    return tuple(shape[axis] for axis in axes)


def _pack(op: Op) -> Answer:
    shape: PartialDims = None
    for operand in op.operands:
        shape = meet(shape, operand.shape)
    if shape is None:
        raise Undecided("no operand's rank is known")
    axis = normal_axis(op.attribute("axis", 0), len(shape) + 1)
    return (*shape[:axis], len(op.operands), *shape[axis:])


def _unpack(op: Op) -> Answer:
    shape = op.shape(0)
    axis = normal_axis(op.attribute("axis", 0), len(shape))
    size = shape[axis]
    if isinstance(size, int) and size != len(op.results):
        raise ShapeError(f"dimension {axis} of {text(shape)} does not have {len(op.results)} parts")
    return [(*shape[:axis], *shape[axis + 1 :]) for _ in op.results]


def _concat(op: Op) -> Answer:
    first = op.name == "Concat"
    position = 0 if first else len(op.operands) - 1
    parts = [operand.shape for operand in (op.operands[1:] if first else op.operands[:-1])]
    ranks = {len(part) for part in parts if part is not None}
    if not ranks:
        raise Undecided("no operand's rank is known")
    if len(ranks) > 1:
        raise ShapeError(f"the shapes {' and '.join(map(text, parts))} differ in rank")
    (rank,) = ranks
    try:
        axis = op.axis(position, rank)
    except Undecided:
        return (None,) * rank
    total: Dim | None = 0
    result: PartialDims = (None,) * rank
    for part in parts:
        total = None if total is None or part is None else total + part[axis]
        rest = None if part is None else (*part[:axis], None, *part[axis + 1 :])
        result = meet(result, rest)
    assert result is not None
    return (*result[:axis], total, *result[axis + 1 :])


def _split(op: Op) -> Answer:
    shape = op.shape(1)
    count = len(op.results)
    try:
        axis = op.axis(0, len(shape))
    except Undecided:
        return [(None,) * len(shape) for _ in op.results]
    size = shape[axis]
    if isinstance(size, int) and size % count:
        raise ShapeError(f"dimension {axis} of {text(shape)} cannot be split into {count} equal parts")
    return [(*shape[:axis], size // count, *shape[axis + 1 :]) for _ in op.results]


def _split_v(op: Op) -> Answer:
    shape = op.shape(0)
    try:
        axis = op.axis(2, len(shape))
    except Undecided:
        return [(None,) * len(shape) for _ in op.results]
    try:
        sizes = op.vector(1)
    except Undecided:
        return [(*shape[:axis], None, *shape[axis + 1 :]) for _ in op.results]
    rest = [index for index, size in enumerate(sizes) if size == -1]
    if len(rest) == 1:
        sizes[rest[0]] = shape[axis] - sum(size for size in sizes if size != -1)
    elif isinstance(shape[axis], int) and all(isinstance(size, int) for size in sizes) and sum(sizes) != shape[axis]:
        raise ShapeError(f"the sizes {sizes} do not add up to dimension {axis} of {text(shape)}")
    return [(*shape[:axis], size_or_none(size), *shape[axis + 1 :]) for size in sizes]


def _tile(op: Op) -> Answer:
    shape = op.operands[0].shape
    if op.operands[1].values is None:
        return None if shape is None else (None,) * len(shape)
    multiples = op.vector(1)
    shape = op.ranked(0, len(multiples))
    return tuple(size * times if is_size(times) else None for size, times in zip(shape, multiples, strict=True))


def _pad(op: Op) -> Answer:
    shape = op.operands[0].shape
    if op.operands[1].values is None:
        return None if shape is None else (None,) * len(shape)
    amounts = op.values(1).reshape(-1, 2).tolist()
    shape = op.ranked(0, len(amounts))
    return tuple(size_or_none(size + before + after) for size, (before, after) in zip(shape, amounts, strict=True))


def _blocks(op: Op) -> Answer:
    """Moves spatial blocks into or out of the channels."""
    batch, rows, columns, channels = op.ranked(0, 4)
    if op.attribute("data_format", "NHWC") != "NHWC":
        raise Undecided("only NHWC is known")
    block: int = op.attribute("block_size")
    if op.name == "SpaceToDepth":
        _divisible(op, (rows, columns), block)
        return (batch, rows // block, columns // block, channels * block * block)
    _divisible(op, (channels,), block * block)
    return (batch, rows * block, columns * block, channels // (block * block))


def _divisible(op: Op, sizes: Dims, block: int) -> None:
    for size in sizes:
        if isinstance(size, int) and size % block:
            raise ShapeError(f"the size {size} in {text(op.operands[0].shape)} is not divisible by {block}")


def _batches(op: Op) -> Answer:
    """Moves spatial blocks into or out of the batch."""
    shrink = op.name == "SpaceToBatchND"
    shape, (count,) = op.shape(0), op.ranked(1, 1)
    if isinstance(count, Formula):
        raise Undecided("the number of dimensions in blocks is not known")
    space: list[Dim | None] = [None] * count
    amounts = op.operands[2].values
    try:
        blocks = op.numbers(1)
    except Undecided:
        return (None, *space, *shape[count + 1 :])
    total = prod(blocks)
    if not shrink:
        _divisible(op, shape[:1], total)
    batch = shape[0] * total if shrink else shape[0] // total
    if amounts is not None:
        for axis, (size, block, (before, after)) in enumerate(
            zip(shape[1 : count + 1], blocks, amounts.reshape(-1, 2).tolist(), strict=True)
        ):
            if shrink:
                _divisible(op, (size + before + after,), block)
            space[axis] = (size + before + after) // block if shrink else size * block - before - after
    return (batch, *space, *shape[count + 1 :])


def _broadcast_to(op: Op) -> Answer:
    stated, shape = stated_shape(op, 1), op.operands[0].shape
    if stated is None or shape is None:
        return stated
    if len(shape) > len(stated):
        raise ShapeError(f"{text(shape)} cannot be broadcast to {text(stated)}")
    result = list(stated)
    for axis, size in enumerate(shape, len(stated) - len(shape)):
        wanted = result[axis]
        if isinstance(size, int) and size != 1:
            if isinstance(wanted, int) and wanted != size:
                raise ShapeError(f"{text(shape)} cannot be broadcast to {text(stated)}")
            result[axis] = size
    return tuple(result)


RULES: dict[str, Rule] = {
    "BatchToSpaceND": _batches,
    "BroadcastTo": _broadcast_to,
    "Concat": _concat,
    "ConcatV2": _concat,
    "DepthToSpace": _blocks,
    "ExpandDims": _expand_dims,
    "MirrorPad": _pad,
    "Pack": _pack,
    "Pad": _pad,
    "PadV2": _pad,
    "Reshape": _reshape,
    "SpaceToBatchND": _batches,
    "SpaceToDepth": _blocks,
    "Split": _split,
    "SplitV": _split_v,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "ConjugateTranspose": _transpose,
    "Transpose": _transpose,
    "Unpack": _unpack,
}
