"""``ExtractImagePatches``: the windows of an image, laid out as channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.decompositions.carrier import carried, delivered
from litefuse.decompositions.decomposition import Decomposition, TensorFlowOp
from litefuse.decompositions.windows import image_axes, window_positions

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder
    from litefuse.engine.mlir import ir

__all__ = ["ExtractImagePatches"]


class ExtractImagePatches(Decomposition):
    """One strided slice of the padded image for each position in a window, one after the other as channels.

    Definition: https://www.tensorflow.org/api_docs/python/tf/image/extract_patches.
    """

    names = ("ExtractImagePatches",)
    composite = True

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0, 4)
        images = carried(b, op.operands[0])
        axes = image_axes(b, b.sizes(images), op.attributes, "ksizes")
        patches = b.concat(window_positions(b, images, axes, 0), 3)
        return delivered(b, patches, op.types[0].dtype)
