"""``MaxPoolWithArgmax``: the maximum of each window, and its position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.passes.legalize.decomposition import Decomposition, decomposition
from litefuse.passes.legalize.windows.windows import WindowAxis, image_axes, window_positions

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir

__all__ = ["MaxPoolWithArgmax"]


@decomposition("MaxPoolWithArgmax")
class MaxPoolWithArgmax(Decomposition):
    """Stacks all positions of a window; among equal values, ARG_MAX takes the first, as TensorFlow does.

    The index of pixel [n, y, x, c] is ``(y * columns + x) * channels + c``, with ``include_batch_in_index``
    ``((n * rows + y) * columns + x) * channels + c``.

    Definition: https://www.tensorflow.org/api_docs/python/tf/nn/max_pool_with_argmax.
    """

    composite = True

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[ir.Value]:
        op.shape(0, 4)
        op.require(0, "float32")
        images = op.operands[0]
        batch, height, width, channels = b.sizes(images)
        rows, columns = image_axes(b, [batch, height, width, channels], op.attributes)
        windows = b.stack(window_positions(b, images, (rows, columns), float("-inf")), 4)
        largest = b.reduce("Max", windows, 4)
        position = b.op("ArgMax", [windows, b.constant(4, "int32")], b.shape(largest), "int32")

        row = b.binary("AddV2", _first(b, rows, 1), b.binary("FloorDiv", position, columns.size))
        column = b.binary("AddV2", _first(b, columns, 2), b.binary("FloorMod", position, columns.size))
        if op.attributes.get("include_batch_in_index", False):
            image = b.reshape(b.binary("Mul", b.range(batch), b.scalar(height)), [batch, 1, 1, 1])
            row = b.binary("AddV2", row, image)
        pixel = b.binary("AddV2", b.binary("Mul", row, b.scalar(width)), column)
        index = b.binary("AddV2", b.binary("Mul", pixel, b.scalar(channels)), b.range(channels))
        return largest, b.cast(index, op.results[1].dtype)


def _first(b: Builder, axis: WindowAxis, dimension: int) -> ir.Value:
    """Returns the first position of each window, to be broadcast along a dimension."""
    begin = b.binary("Sub", b.binary("Mul", b.range(axis.count), axis.stride), b.scalar(axis.before))
    return b.reshape(begin, [axis.count if each == dimension else 1 for each in range(4)])
