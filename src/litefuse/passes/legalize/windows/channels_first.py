"""Ops on images with channels first, and biases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.passes.legalize.decomposition import before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.tensors import Tensor

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
