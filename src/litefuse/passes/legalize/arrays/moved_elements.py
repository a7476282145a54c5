"""Ops that move elements: ``Roll``, open ``Tile``, and those of dtypes that LiteRT's ops do not support."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, maximum
from litefuse.passes.legalize.arrays.carrier import carried, delivered
from litefuse.passes.legalize.arrays.loops import around_axis
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize
    from litefuse.ir.tensors import Tensor


# Dtypes whose elements are carried as bits and are not integers.
_OF_BITS = frozenset({"bfloat16", "complex64", "float16", "float64"})


@decomposition(
    *("BatchToSpaceND", "BroadcastTo", "ConcatV2", "DepthToSpace", "ExpandDims", "Fill", "GatherNd", "GatherV2"),
    *("MirrorPad", "Pack", "Pad", "PadV2", "Reshape", "ReverseSequence", "ReverseV2", "ScatterNd", "Select"),
    *("SelectV2", "Slice", "SpaceToBatchND", "SpaceToDepth", "Squeeze", "TensorScatterUpdate", "Tile"),
    *("Transpose", "MatrixBandPart", "MatrixDiag", "Unpack", "ZerosLike"),
    order=2,
)
# Fault `unsigned-band`.
@before_engine("MatrixBandPart", dtypes=("uint32", "uint64"))
def moved_elements(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """The op on a carrier dtype, which represents the elements by their bits or values."""
    if op.name == "MirrorPad":
        raise NotDecomposed("LiteRT's MirrorPad takes few dtypes")
    dtype = op.results[0].dtype
    if op.name == "ScatterNd" and dtype in _OF_BITS:
        raise NotDecomposed("it adds up what falls on one place, and bits cannot be added")
    pairs = list(zip(op.operands, op.types, strict=True))
    moved = [carried(b, value) if each.dtype == dtype else value for value, each in pairs]
    alike = [value.dtype for value, (_, each) in zip(moved, pairs, strict=True) if each.dtype == dtype]
    carrier = alike[0] if alike else dtype
    if carrier == dtype:
        raise NotDecomposed(f"LiteRT's {op.name} does not take {dtype} in this form")
    attributes = b.options(op)
    results = b.ops(op.name, moved, [(result.shape, carrier) for result in op.results], **attributes)
    return [delivered(b, value, dtype) for value in results]


@decomposition("Split", "SplitV", "Unpack")
# Fault `split-of-seven-dimensions`.
@before_engine("Split", dtypes=("bfloat16", "float16", "float32"), above_rank=6, operand=1)
@before_engine("SplitV", dtypes=("bfloat16", "float16", "float32"), above_rank=6)
def pieces(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """Slices along the axis.

    Definition: https://www.tensorflow.org/api_docs/python/tf/split, unstack.
    """
    operand = 1 if op.name == "Split" else 0
    rank = len(op.shape(operand))
    dtype = op.types[operand].dtype
    if op.name == "Unpack":
        axis = int(op.attributes.get("axis", 0)) % rank
    else:
        axis = op.axis(0 if op.name == "Split" else 2, rank)
    rows, sizes = around_axis(b, carried(b, op.operands[operand]), axis)
    count = len(op.results)
    lengths: list[MixedSize] = [1 if op.name == "Unpack" else sizes[axis] // count] * count
    if op.name == "SplitV":
        given: list[int] = op.constant(1).reshape(-1).tolist()
        rest = sizes[axis] - (sum(given) + 1)
        lengths = [rest if length == -1 else length for length in given]
    pieces: list[Tensor] = []
    begin: MixedSize = 0
    for length in lengths:
        end = begin + length
        piece = b.slice(rows, 1, begin, end)
        inner = [] if op.name == "Unpack" else [length]
        pieces.append(delivered(b, b.reshape(piece, [*sizes[:axis], *inner, *sizes[axis + 1 :]]), dtype))
        begin = end
    return pieces


@decomposition("InvertPermutation")
def invert_permutation(op: TensorFlowOp, b: Builder) -> Tensor:
    """Scatters position i to the position that is the i-th number.

    Definition: https://www.tensorflow.org/api_docs/python/tf/math/invert_permutation.
    """
    shape = op.shape(0, 1)
    op.require(0, "int32", "int64")
    numbers = b.cast(op.operands[0], "int32")
    count = b.size(numbers, 0)
    scattered = b.op("ScatterNd", [b.expand(numbers, 1), b.range(count), b.vector([count])], shape, "int32")
    return b.cast(scattered, op.types[0].dtype)


@decomposition("Reverse", "ReverseV2")
# Faults `reversal-of-nothing` and `reversal-of-dimensions-apart`.
@before_engine("ReverseV2")
class Reverse(Decomposition):
    """Reverses one dimension after the other, if they are not adjacent; ``Reverse`` has a mask of them.

    Definition: https://www.tensorflow.org/api_docs/python/tf/reverse.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        if op.constants[1] is None:
            return op.types[1].shape != (1,)
        axes = _reversed_axes(op)
        return not axes or axes != list(range(axes[0], axes[-1] + 1))

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        axes = _reversed_axes(op)
        if op.name == "ReverseV2" and not self.before_lowering(op):
            raise NotDecomposed("LiteRT's ReverseV2 does not take it in this form")
        return b.reverse(op.operands[0], axes) if axes else op.operands[0]


def _reversed_axes(op: TensorFlowOp) -> list[int]:
    given: list[int] = op.constant(1).reshape(-1).tolist()
    if op.name == "Reverse":
        return [axis for axis, marked in enumerate(given) if marked]
    rank = len(op.shape(0))
    return sorted(axis % rank for axis in given)


@decomposition("ParallelConcat")
def parallel_concat(op: TensorFlowOp, b: Builder) -> Tensor:
    """A concatenation along the first dimension."""
    return b.concat(list(op.operands), 0)


@decomposition("Roll")
# Fault `int64-axes-of-roll`.
@before_engine("Roll", dtypes=("int64",), operand=2)
def roll(op: TensorFlowOp, b: Builder) -> Tensor:
    """For each axis in turn, a concatenation of the part that is shifted past the end and the other.

    Definition: https://www.tensorflow.org/api_docs/python/tf/roll.
    """
    rank = len(op.shape(0))
    axes = [int(axis) for axis in op.constant(2).reshape(-1)]
    if not all(-rank <= axis < rank for axis in axes):
        raise NotDecomposed(f"{axes} are not axes of rank {rank}")
    value = carried(b, op.operands[0])
    for axis, shift in zip(axes, _shifts(op, b, len(axes)), strict=True):
        rows, sizes = around_axis(b, value, axis % rank)
        size = sizes[axis % rank]
        # The begin of the part that comes first; an empty dimension must not be a divisor.
        begin = (0 - shift) % maximum(size, 1)
        parts = [b.slice(rows, 1, begin, None), b.slice(rows, 1, 0, begin)]
        value = b.reshape(b.concat(parts, 1), sizes)
    return delivered(b, value, op.types[0].dtype)


def _shifts(op: TensorFlowOp, b: Builder, count: int) -> list[MixedSize]:
    known = op.constants[1]
    if known is not None:
        return [int(shift) for shift in known.reshape(-1)]
    shifts = b.cast(op.operands[1], "int32")
    if not op.shape(1, 0, 1):
        return [shifts]
    return [b.element(shifts, index) for index in range(count)]


# Up to this many copies are concatenated.
_FEW = 4


@decomposition("Tile")
# Fault `tile-of-an-open-size`.
@before_engine("Tile")
class OpenTile(Decomposition):
    """Concatenates copies along dynamic dimensions; if they are many, tiles a new dimension and merges it.

    Definition: https://www.tensorflow.org/api_docs/python/tf/tile.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return bool(_repeated(op))

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        repeated = _repeated(op)
        if not repeated:
            raise NotDecomposed("LiteRT's Tile does not take it in this form")
        value = op.operands[0]
        for axis, count in repeated.items():
            value = b.concat([value] * count, axis) if count <= _FEW else _copied(b, value, axis, count)
        others = [1 if axis in repeated else int(multiple) for axis, multiple in enumerate(op.constant(1))]
        return value if set(others) == {1} else _tiled(b, value, others)


def _repeated(op: TensorFlowOp) -> dict[int, int]:
    """Returns the repeats of each dynamic dimension; none for dtypes without arithmetic."""
    shape, multiples = op.types[0].shape, op.constants[1]
    if shape is None or multiples is None or op.types[0].dtype in {"bool", "string"}:
        return {}
    counts = {axis: int(count) for axis, count in enumerate(multiples.reshape(-1))}
    return {axis: count for axis, count in counts.items() if shape[axis] is None and count > 1}


def _copied(b: Builder, value: Tensor, axis: int, count: int) -> Tensor:
    sizes = b.sizes(value)
    multiples = [1] * (len(sizes) + 1)
    multiples[axis] = count
    apart = _tiled(b, b.expand(value, axis), multiples)
    merged: list[MixedSize] = list(sizes)
    merged[axis] = sizes[axis] * count
    return b.reshape(apart, merged)


def _tiled(b: Builder, value: Tensor, multiples: list[int]) -> Tensor:
    shape = [None if size is None else size * n for size, n in zip(value.shape, multiples, strict=True)]
    return b.op("Tile", [value, b.constant(np.array(multiples), "int32")], shape, value.dtype)
