"""``Dilation2D``: the largest sum of a window and a filter; and pooling with windows that are operands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, maximum
from litefuse.passes.legalize.decomposition import decomposition
from litefuse.passes.legalize.windows.windows import image_axes, window_positions

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder


@decomposition("Dilation2D")
def dilation(op: TensorFlowOp, b: Builder) -> Tensor:
    """Takes the maximum over the positions of the windows, each plus its element of the filter.

    Definition: https://www.tensorflow.org/api_docs/python/tf/nn/dilation2d.
    """
    op.shape(0, 4)
    op.require(0, "float32")
    rows, columns, channels = op.shape(1, 3)
    if rows is None or columns is None or channels is None:
        raise NotDecomposed("the filter's size is unknown")
    images, filters = op.operands
    attributes = {
        "ksize": [1, rows, columns, 1],
        "strides": op.attributes["strides"],
        "rates": op.attributes["rates"],
        "padding": op.attributes["padding"],
    }
    windows = window_positions(b, images, image_axes(b.sizes(images), attributes), float("-inf"))
    weights = b.reshape(filters, [rows * columns, channels])
    sums = [
        window + b.reshape(b.slice(weights, 0, index, index + 1), [channels]) for index, window in enumerate(windows)
    ]
    largest = sums[0]
    for each in sums[1:]:
        largest = maximum(largest, each)
    return largest


@decomposition("MaxPoolV2")
def max_pool_v2(op: TensorFlowOp, b: Builder) -> Tensor:
    """Emits ``MaxPool``, with the constant operands as attributes."""
    op.shape(0, 4)
    op.require(0, "float32")
    shape = op.results[0].shape
    if shape is None:
        raise NotDecomposed("the result's shape is unknown")
    attributes = {
        "ksize": op.constant(1).tolist(),
        "strides": op.constant(2).tolist(),
        "padding": op.attributes["padding"],
        "data_format": op.attributes.get("data_format", "NHWC"),
    }
    return b.op("MaxPool", [op.operands[0]], shape, "float32", **attributes)


@decomposition("MaxPool")
def padded_max_pool(op: TensorFlowOp, b: Builder) -> Tensor:
    """Emits ``MaxPool`` without explicit paddings, on an image that is padded with the lowest value.

    Definition: https://www.tensorflow.org/api_docs/python/tf/nn/max_pool2d.
    """
    op.shape(0, 4)
    op.require(0, "float32")
    shape = op.results[0].shape
    layout = op.attributes.get("data_format", "NHWC")  # the engine has put channels last
    if op.attributes["padding"] != "EXPLICIT" or layout != "NHWC" or shape is None:
        raise NotDecomposed("LiteRT's MaxPool does not take it in this form")
    attributes: dict[str, Any] = b.options(op) | {"padding": "VALID", "explicit_paddings": []}
    paddings: list[int] = list(op.attributes["explicit_paddings"])
    pairs = list(zip(paddings[::2], paddings[1::2], strict=True))
    padded = b.pad(op.operands[0], pairs, float("-inf"))
    return b.op("MaxPool", [padded], shape, "float32", **attributes)
