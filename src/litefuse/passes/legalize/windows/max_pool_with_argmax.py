"""``MaxPoolWithArgmax``: the maximum of each window, and its position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.passes.legalize.decomposition import Decomposition, decomposition
from litefuse.passes.legalize.windows.windows import WindowAxis, image_axes, window_positions

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.tensors import Tensor

__all__ = ["MaxPoolWithArgmax"]


@decomposition("MaxPoolWithArgmax")
class MaxPoolWithArgmax(Decomposition):
    """Stacks all positions of a window; among equal values, ARG_MAX takes the first, as TensorFlow does.

    The index of pixel [n, y, x, c] is ``(y * columns + x) * channels + c``, with ``include_batch_in_index``
    ``((n * rows + y) * columns + x) * channels + c``.

    Definition: https://www.tensorflow.org/api_docs/python/tf/nn/max_pool_with_argmax.
    """

    composite = True

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
        op.shape(0, 4)
        op.require(0, "float32")
        images = op.operands[0]
        batch, height, width, channels = b.sizes(images)
        rows, columns = image_axes([batch, height, width, channels], op.attributes)
        windows = b.stack(window_positions(b, images, (rows, columns), float("-inf")), 4)
        largest = b.reduce("Max", windows, 4)
        position = b.op("ArgMax", [windows, b.constant(4, "int32")], largest.shape, "int32")

        row = _first(b, rows, 1) + position // columns.size
        column = _first(b, columns, 2) + position % columns.size
        if op.attributes.get("include_batch_in_index", False):
            image = b.reshape(b.range(batch) * b.scalar(height), [batch, 1, 1, 1])
            row = row + image
        pixel = row * b.scalar(width) + column
        index = pixel * b.scalar(channels) + b.range(channels)
        return largest, b.cast(index, op.results[1].dtype)


def _first(b: Builder, axis: WindowAxis, dimension: int) -> Tensor:
    """Returns the first position of each window, to be broadcast along a dimension."""
    begin = b.range(axis.count) * axis.stride - b.scalar(axis.before)
    return b.reshape(begin, [axis.count if each == dimension else 1 for each in range(4)])
