"""``MaxPool`` of integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, maximum
from litefuse.passes.legalize.decomposition import decomposition
from litefuse.passes.legalize.windows.windows import WindowAxis, image_axes, padded_images

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder

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
