"""``ExtractImagePatches``: the windows of an image, laid out as channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.decompositions.carrier import carried, delivered
from litefuse.decompositions.decomposition import Decomposition, TensorFlowOp
from litefuse.decompositions.windows import WindowAxis, image_axes

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder
    from litefuse.engine.mlir import ir

__all__ = ["ExtractImagePatches", "window_positions"]


class ExtractImagePatches(Decomposition):
    """One strided slice of the padded image for each position in a window, one after the other as channels.

    Definition: https://www.tensorflow.org/api_docs/python/tf/image/extract_patches.
    """

    names = ("ExtractImagePatches",)
    composite = True

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0, 4)
        images = carried(b, op.operands[0])
        rows, columns = image_axes(b, b.sizes(images), op.attributes, "ksizes")
        patches = b.concat(window_positions(b, images, rows, columns, 0), 3)
        return delivered(b, patches, op.types[0].dtype)


def window_positions(
    b: Builder, images: ir.Value, rows: WindowAxis, columns: WindowAxis, fill: float
) -> list[ir.Value]:
    """For each position in a window, row by row, the images' pixels there: ``[batch, windows, windows, channels]``."""
    padded = b.pad(images, [(0, 0), (rows.before, rows.after), (columns.before, columns.after), (0, 0)], fill)
    return [
        b.slices(padded, {1: rows.positions(b, row), 2: columns.positions(b, column)})
        for row in range(rows.size)
        for column in range(columns.size)
    ]
