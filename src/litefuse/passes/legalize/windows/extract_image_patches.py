"""``ExtractImagePatches``: the windows of an image, as channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.passes.legalize.arrays.carrier import carried, delivered
from litefuse.passes.legalize.decomposition import Decomposition, decomposition
from litefuse.passes.legalize.windows.windows import WindowAxis, image_axes, padded_images, window_positions

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize
    from litefuse.ir.tensors import Tensor

__all__ = ["ExtractImagePatches"]


@decomposition("ExtractImagePatches")
class ExtractImagePatches(Decomposition):
    """Emits one strided slice of the padded image for each position in a window, concatenated as channels.

    Adjacent square windows, as in vision transformers, become ``SpaceToDepth`` of the image, padded or cropped to whole
    windows.

    Definition: https://www.tensorflow.org/api_docs/python/tf/image/extract_patches.
    """

    composite = True

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        op.shape(0, 4)
        images = carried(b, op.operands[0])
        axes = image_axes(b.sizes(images), op.attributes, "ksizes")
        patches = _tiles(b, images, axes) or b.concat(window_positions(b, images, axes, 0), 3)
        return delivered(b, patches, op.types[0].dtype)


def _tiles(b: Builder, images: Tensor, axes: Sequence[WindowAxis]) -> Tensor | None:
    """Returns the windows if they form a grid of squares with a known size; else None."""
    size = axes[0].size
    cropped: dict[int, tuple[MixedSize, MixedSize | None, int]] = {}
    counts: list[int] = []
    for number, axis in enumerate(axes, start=1):
        if (axis.size, axis.stride, axis.rate) != (size, size, 1) or not isinstance(axis.count, int) or size == 1:
            return None
        counts.append(axis.count)
        if axis.count * size != axis.extent:
            cropped[number] = (0, axis.count * size, 1)
    padded = padded_images(b, images, axes, 0)
    tiled = b.slices(padded, cropped) if cropped else padded
    batch, _, _, channels = tiled.shape
    shape = (batch, *counts, None if channels is None else channels * size * size)
    return b.op("SpaceToDepth", [tiled], shape, images.dtype, block_size=size, data_format="NHWC")
