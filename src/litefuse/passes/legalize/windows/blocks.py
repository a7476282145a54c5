"""Spatial blocks that are moved into or out of the batch, images with channels first, and biases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.passes.legalize.arrays.carrier import carried, delivered
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition
from litefuse.passes.legalize.windows.dilated_convolution import phases_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litefuse.ir.builder import Builder, MixedSize
    from litefuse.ir.tensors import Tensor


# The ranks that LiteRT's kernels support, with blocks of all dimensions except batch and channels.
_RANKS = (3, 4)


@decomposition("BatchToSpaceND", "SpaceToBatchND", order=4)
# Faults `paddings-of-a-dilated-convolution`, `strides-of-a-dilated-convolution`, `blocks-of-some-dimensions`.
@before_engine("BatchToSpaceND")
@before_engine("SpaceToBatchND", last=True)
class Blocks(Decomposition):
    """Splits one dimension after the other into blocks, and moves the position in a block to the batch.

    ::

        [batch, a, size, z]  -->  [batch, a, size / block, block, z]  -->  [block, batch, a, size / block, z]

    Definition: https://www.tensorflow.org/api_docs/python/tf/space_to_batch, batch_to_space.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        rank = len(op.shape(0))
        if rank not in _RANKS or op.types[1].shape != (rank - 2,):
            return True
        # With constant operands, the engine fuses a convolution between blocks, for any paddings and strides.
        return op.name == "BatchToSpaceND" and op.constants[2] is not None and phases_of(op) is not None

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        rank = len(op.shape(0))
        (count,) = op.shape(1, 1)
        if count is None or count >= rank:
            raise NotDecomposed("how many dimensions are in blocks is not known")
        value, dtype = carried(b, op.operands[0]), op.types[0].dtype
        blocks = b.numbers(op, 1, count)
        amounts = b.numbers(op, 2, 2 * count)
        pairs = list(zip(amounts[::2], amounts[1::2], strict=True))
        if op.name == "SpaceToBatchND":
            value = b.pad(value, [(0, 0), *pairs, *[(0, 0)] * (rank - 1 - count)])
            for axis in range(count, 0, -1):
                value = _into_batch(b, value, axis, blocks[axis - 1])
        else:
            for axis in range(1, count + 1):
                value = _out_of_batch(b, value, axis, blocks[axis - 1])
            ends = [size - after for size, (_, after) in zip(b.sizes(value)[1:], pairs, strict=False)]
            # One after the other: LiteRT's slice supports few dimensions.
            for axis, ((before, after), end) in enumerate(zip(pairs, ends, strict=True), start=1):
                value = value if before == 0 and after == 0 else _cropped(b, value, axis, before, end)
        return delivered(b, value, dtype)


@decomposition("BatchToSpace", "SpaceToBatch")
def legacy_blocks(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """``SpaceToBatch`` and ``BatchToSpace`` with square blocks."""
    op.shape(0, 4)
    size = int(op.attributes["block_size"])
    operands = [op.operands[0], b.constant([size, size], "int32"), op.operands[1]]
    return b.ops(f"{op.name}ND", operands, [(op.results[0].shape, op.types[0].dtype)])


def _into_batch(b: Builder, value: Tensor, axis: int, block: MixedSize) -> Tensor:
    if block == 1:
        return value
    sizes = b.sizes(value)
    batch, size = sizes[0], sizes[axis]
    before, after = b.product(sizes[1:axis]), b.product(sizes[axis + 1 :])
    rows = size // block
    apart = b.transpose(b.reshape(value, [batch, before, rows, block, after]), [3, 0, 1, 2, 4])
    return b.reshape(apart, [block * batch, *sizes[1:axis], rows, *sizes[axis + 1 :]])


def _out_of_batch(b: Builder, value: Tensor, axis: int, block: MixedSize) -> Tensor:
    if block == 1:
        return value
    sizes = b.sizes(value)
    batch, size = sizes[0] // block, sizes[axis]
    before, after = b.product(sizes[1:axis]), b.product(sizes[axis + 1 :])
    together = b.transpose(b.reshape(value, [block, batch, before, size, after]), [1, 2, 3, 0, 4])
    return b.reshape(together, [batch, *sizes[1:axis], size * block, *sizes[axis + 1 :]])


def _cropped(b: Builder, value: Tensor, axis: int, begin: MixedSize, end: MixedSize) -> Tensor:
    sizes = b.sizes(value)
    rows = b.reshape(value, [b.product(sizes[:axis]), sizes[axis], b.product(sizes[axis + 1 :])])
    taken = b.slice(rows, 1, begin, end)
    return b.reshape(taken, [*sizes[:axis], end - begin, *sizes[axis + 1 :]])


_TO_LAST, _TO_FIRST = [0, 2, 3, 1], [0, 3, 1, 2]
_INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))


@decomposition("DepthToSpace", "DepthwiseConv2dNative", "SpaceToDepth")
def channels_first(op: TensorFlowOp, b: Builder) -> Tensor:
    """Emits the op with channels last between two transpositions.

    Definition: the ops' documentation, for ``data_format`` ``NCHW``:
    https://www.tensorflow.org/api_docs/python/tf/raw_ops/DepthwiseConv2dNative and those of the others.
    """
    if op.attributes.get("data_format") != "NCHW":
        raise NotDecomposed(f"LiteRT's {op.name} does not take its layout")
    op.shape(0, 4)
    shape = op.results[0].shape
    if shape is None:
        raise NotDecomposed("the result's shape is unknown")
    attributes = b.options(op) | {"data_format": "NHWC"}
    for name in ("strides", "dilations"):
        if name in attributes:
            attributes[name] = [op.attributes[name][axis] for axis in _TO_LAST]
    paddings: Sequence[int] = op.attributes.get("explicit_paddings", ())
    if paddings:
        attributes["explicit_paddings"] = [paddings[2 * axis + side] for axis in _TO_LAST for side in (0, 1)]
    operands = [b.transpose(op.operands[0], _TO_LAST), *op.operands[1:]]
    last = b.op(op.name, operands, [shape[axis] for axis in _TO_LAST], op.results[0].dtype, **attributes)
    return b.transpose(last, _TO_FIRST)


@decomposition("DataFormatVecPermute")
def permuted_vector(op: TensorFlowOp, b: Builder) -> Tensor:
    """Permutes a vector, or pairs, to another data format: the engine emits this op for sizes.

    Fault ``permuted-sizes``.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/DataFormatVecPermute.
    """
    source: str = op.attributes.get("src_format", "NHWC")
    target: str = op.attributes.get("dst_format", "NCHW")
    if op.shape(0, 1, 2)[0] != len(source):
        raise NotDecomposed("it has no row for each dimension")
    return b.gather(op.operands[0], b.constant(np.array([source.index(each) for each in target]), "int32"))


@decomposition("BiasAdd")
# Fault `bias-of-channels-first`.
@before_engine("BiasAdd", other_than={"data_format": "NHWC"})
def bias(op: TensorFlowOp, b: Builder) -> Tensor:
    """A sum; with channels first, with the bias in the shape ``[channels, 1, ...]``.

    Definition: https://www.tensorflow.org/api_docs/python/tf/nn/bias_add.
    """
    rank = len(op.shape(0))
    op.shape(1, 1)
    value, bias = op.operands
    if op.attributes.get("data_format") != "NCHW":
        op.require(0, *_INTEGERS)
        return value + bias
    shaped = b.reshape(bias, [b.size(bias, 0), *[1] * (rank - 2)])
    return value + shaped
