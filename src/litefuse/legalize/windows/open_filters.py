"""Convolutions of images with filters of unknown size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.legalize.decomposition import Decomposition, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir

__all__ = ["OpenFilter"]


@decomposition("Conv2D", order=2)
class OpenFilter(Decomposition):
    """A convolution of volumes of depth 1, whose filter may have any size.

    A grouped convolution is refused at run time: only there is it known that the numbers of channels differ.

    Definition: https://www.tensorflow.org/api_docs/python/tf/nn/conv2d.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        image, filters = op.shape(0, 4), op.shape(1, 4)
        if None not in filters or op.attributes.get("data_format", "NHWC") != "NHWC":
            raise NotDecomposed(f"LiteRT's Conv2D does not take {op.types[0].dtype} in this form")
        op.require(0, "float32")
        if None not in (image[3], filters[2]) and image[3] != filters[2]:
            raise NotDecomposed("it has groups of channels, and a filter of unknown size")
        value, padding = op.operands[0], str(op.attributes["padding"])
        if padding == "EXPLICIT":
            amounts: list[int] = list(op.attributes["explicit_paddings"])
            value, padding = b.pad(value, list(zip(amounts[::2], amounts[1::2], strict=True))), "VALID"
        options = {key: [1, 1, *op.attributes.get(key, [1, 1, 1, 1])[1:3], 1] for key in ("strides", "dilations")}
        batch, *space, made = op.results[0].shape or (None,) * 4
        volumes = b.op(
            "Conv3D",
            [b.expand(value, 1), b.expand(op.operands[1], 0)],
            [image[0] if batch is None else batch, 1, *space, filters[3] if made is None else made],
            "float32",
            padding=padding,
            data_format="NDHWC",
            **options,
        )
        sizes = b.sizes(volumes)
        return b.reshape(volumes, [sizes[0], *sizes[2:]])
