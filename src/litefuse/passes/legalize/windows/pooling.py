"""Pooling in three dimensions, of integers and with other paddings, and ``Dilation2D``: a largest sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, maximum
from litefuse.passes.legalize.decomposition import decomposition
from litefuse.passes.legalize.windows.windows import WindowAxis, image_axes, padded_images, window_positions

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.tensors import Tensor


@decomposition("MaxPool3D", "AvgPool3D")
def pool3_d(op: TensorFlowOp, b: Builder) -> Tensor:
    """Pools the rows and columns of every plane first, then the depth.

    A window is a box, so its maximum is the maximum of the planes' maxima. Its average, without the padding, is the
    average of the planes' averages, as every plane of a window has the same number of positions in the image.

    SAME windows with gaps between them start at the image's first position, as in the documentation and TensorFlow's
    oneDNN kernels; its Eigen kernels center them.

    Definition: https://www.tensorflow.org/api_docs/python/tf/nn/max_pool3d, avg_pool3d.
    """
    op.shape(0, 5)
    op.require(0, "float32")
    channels_first = op.attributes.get("data_format", "NDHWC") == "NCDHW"
    order = [0, 2, 3, 4, 1] if channels_first else [0, 1, 2, 3, 4]
    ksize: list[int] = [op.attributes["ksize"][axis] for axis in order]
    strides: list[int] = [op.attributes["strides"][axis] for axis in order]
    if any(values[axis] != 1 for values in (ksize, strides) for axis in (0, 4)):
        raise NotDecomposed("its windows reach over batch or channels")
    pool, padding = op.name.removesuffix("3D"), op.attributes["padding"]
    images = b.transpose(op.operands[0], order) if channels_first else op.operands[0]

    batch, depth, rows, columns, channels = b.sizes(images)
    planes = b.reshape(images, [b.product([batch, depth]), rows, columns, channels])
    planes = _pool(b, pool, planes, (ksize[2], ksize[3]), (strides[2], strides[3]), padding)
    _, rows, columns, _ = b.sizes(planes)
    stacks = b.reshape(planes, [batch, depth, b.product([rows, columns]), channels])
    stacks = _pool(b, pool, stacks, (ksize[1], 1), (strides[1], 1), padding)
    pooled = b.reshape(stacks, [batch, b.size(stacks, 1), rows, columns, channels])
    return b.transpose(pooled, [0, 4, 1, 2, 3]) if channels_first else pooled


def _pool(
    b: Builder, name: str, images: Tensor, size: tuple[int, int], strides: tuple[int, int], padding: str
) -> Tensor:
    shape = list(images.shape)
    for axis in (1, 2):
        extent = shape[axis]
        if extent is not None:
            taken = extent - size[axis - 1] + 1 if padding == "VALID" else extent
            if taken < 1:
                raise NotDecomposed(f"a window of {size[axis - 1]} positions does not fit into {extent}")
            shape[axis] = -(-taken // strides[axis - 1])
    attributes = {"ksize": [1, *size, 1], "strides": [1, *strides, 1], "padding": padding, "data_format": "NHWC"}
    return b.op(name, [images], shape, images.dtype, **attributes)


_CHANNELS_LAST, _CHANNELS_FIRST = (0, 2, 3, 1), (0, 3, 1, 2)


@decomposition("MaxPool", "MaxPoolV2", order=1)
def integer_max_pool(op: TensorFlowOp, b: Builder) -> Tensor:
    """Takes the maximum of the positions of the windows, along rows first, then along columns.

    LiteRT's op is of float32, which does not hold all integers.

    Definition: https://www.tensorflow.org/api_docs/python/tf/nn/max_pool2d.
    """
    op.shape(0, 4)
    dtype = op.types[0].dtype
    if not dtype.startswith(("int", "uint")):
        raise NotDecomposed("it is not of integers")
    lowest = int(np.iinfo(dtype).min)
    images, attributes = op.operands[0], _attributes(op)
    first = attributes.get("data_format", "NHWC") == "NCHW"
    if attributes["padding"] == "EXPLICIT":
        paddings: list[int] = list(attributes["explicit_paddings"])
        images = b.pad(images, list(zip(paddings[::2], paddings[1::2], strict=True)), lowest)
        attributes["padding"] = "VALID"
    if first:
        images = b.transpose(images, _CHANNELS_LAST)
        for name in ("ksize", "strides"):
            attributes[name] = [attributes[name][axis] for axis in _CHANNELS_LAST]
    axes = image_axes(b.sizes(images), attributes)
    pooled = _largest(b, padded_images(b, images, axes, lowest), axes)
    return b.transpose(pooled, _CHANNELS_FIRST) if first else pooled


def _attributes(op: TensorFlowOp) -> dict[str, Any]:
    attributes: Mapping[str, Any] = op.attributes
    found = {name: attributes[name] for name in ("padding", "data_format", "explicit_paddings") if name in attributes}
    sizes = ("ksize", "strides")
    if op.name == "MaxPoolV2":
        return found | {name: op.constant(at).tolist() for at, name in enumerate(sizes, start=1)}
    return found | {name: list(attributes[name]) for name in sizes}


def _largest(b: Builder, padded: Tensor, axes: Sequence[WindowAxis]) -> Tensor:
    for dimension, axis in enumerate(axes, start=1):
        taken = [b.slice(padded, dimension, *axis.positions(number)) for number in range(axis.size)]
        padded = reduce(maximum, taken)
    return padded


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
