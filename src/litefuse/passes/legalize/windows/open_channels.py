"""Convolutions of images with a dynamic number of channels, which the filter determines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.passes.legalize.decomposition import Decomposition, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.tensors import Tensor

__all__ = ["OpenChannels"]


@decomposition("Conv2D", "Conv3D", "DepthwiseConv2dNative", order=1)
class OpenChannels(Decomposition):
    """Reshapes the image to the filter's number of channels, which changes only its type.

    A grouped convolution has a multiple of these channels: then the reshape fails at run time.

    Fault ``convolution-of-open-channels``.

    Definition: https://www.tensorflow.org/api_docs/python/tf/nn/conv2d, depthwise_conv2d, conv3d.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        image, filters = op.shape(0), op.shape(1)
        channels, made = filters[-2:]
        if image[-1] is not None or not str(op.attributes.get("data_format", "NHWC")).endswith("C"):
            raise NotDecomposed(f"LiteRT's {op.name} does not take {op.types[0].dtype} in this form")
        if channels is None or made is None:
            raise NotDecomposed("the number of channels is unknown")
        last = channels * made if op.name == "DepthwiseConv2dNative" else made
        shape = op.results[0].shape or (None,) * len(image)
        sizes = b.sizes(op.operands[0])[:-1]
        # If the reshape inferred a dynamic batch, it would turn groups into images.
        operands = [op.operands[0], b.vector([*sizes, channels])]
        closed = b.op("Reshape", operands, [*image[:-1], channels], op.types[0].dtype)
        return b.op(op.name, [closed, op.operands[1]], [*shape[:-1], last], op.results[0].dtype, **b.options(op))
