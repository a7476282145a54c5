"""Sliding windows: their positions, which may be dynamic, patches of images, and maxima with their positions."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, maximum
from litefuse.passes.legalize.arrays.carrier import carried, delivered
from litefuse.passes.legalize.decomposition import decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize


@dataclass(frozen=True)
class WindowAxis:
    """The windows along one dimension.

    Attributes:
        size: The number of positions in a window.
        stride: The distance between windows.
        rate: The distance between the positions in a window.
        count: The number of windows.
        before: The padding before the image.
        after: The padding after the image.
        extent: The size of the padded image.

    Source: https://www.tensorflow.org/api_docs/python/tf/nn#notes_on_padding_2.
    """

    size: int
    stride: int
    rate: int
    count: MixedSize
    before: MixedSize
    after: MixedSize
    extent: MixedSize

    @classmethod
    def of(cls, image: MixedSize, size: int, stride: int, rate: int, padding: str) -> WindowAxis:
        """Computes the windows from the image's size.

        Raises:
            NotDecomposed: No window fits, or the padding is neither SAME nor VALID.
        """
        effective = (size - 1) * rate + 1
        if padding == "VALID":
            count = (image + (stride - effective)) // stride
            if isinstance(count, int) and count < 1:
                raise NotDecomposed(f"a window of {effective} positions does not fit into {image}")
            return cls(size, stride, rate, count, 0, 0, image)
        if padding != "SAME":
            raise NotDecomposed(f"its padding is {padding}, not SAME or VALID")
        count = (image + (stride - 1)) // stride
        reach = (count + -1) * stride + effective
        total = maximum(reach - image, 0)
        before = total // 2
        return cls(size, stride, rate, count, before, total - before, image + total)

    def positions(self, number: int) -> tuple[MixedSize, MixedSize, int]:
        """Returns the slice of the padded image with position ``number`` of every window."""
        begin = number * self.rate
        last = (self.count + -1) * self.stride
        return begin, last + (begin + 1), self.stride


def image_axes(
    sizes: list[MixedSize], attributes: Mapping[str, Any], size_attribute: str = "ksize"
) -> tuple[WindowAxis, ...]:
    """Returns the windows along rows and columns of images ``[batch, rows, columns, channels]``, or also along depth.

    Raises:
        NotDecomposed: A window extends over batch or channels, or does not fit.
    """
    ksize, strides = list(attributes[size_attribute]), list(attributes["strides"])
    rates = list(attributes.get("rates", [1] * len(sizes)))
    for values in (ksize, strides, rates):
        if len(values) != len(sizes) or values[0] != 1 or values[-1] != 1:
            raise NotDecomposed("its windows reach over batch or channels")
    return tuple(
        WindowAxis.of(sizes[axis], ksize[axis], strides[axis], rates[axis], attributes["padding"])
        for axis in range(1, len(sizes) - 1)
    )


def padded_images(b: Builder, images: Tensor, axes: Sequence[WindowAxis], fill: float) -> Tensor:
    """Pads images by the extent to which windows exceed them."""
    return b.pad(images, [(0, 0), *((axis.before, axis.after) for axis in axes), (0, 0)], fill)


def window_positions(b: Builder, images: Tensor, axes: Sequence[WindowAxis], fill: float) -> list[Tensor]:
    """Returns the pixels at each position in a window, row by row: ``[batch, windows, windows, channels]`` each."""
    padded = padded_images(b, images, axes, fill)
    positions = [[axis.positions(number) for number in range(axis.size)] for axis in axes]
    return [b.slices(padded, dict(enumerate(taken, start=1))) for taken in itertools.product(*positions)]


@decomposition("ExtractImagePatches", composite=True)
def extract_image_patches(op: TensorFlowOp, b: Builder) -> Tensor:
    """Emits one strided slice of the padded image for each position in a window, concatenated as channels.

    Adjacent square windows, as in vision transformers, become ``SpaceToDepth`` of the image, padded or cropped to whole
    windows.

    Definition: https://www.tensorflow.org/api_docs/python/tf/image/extract_patches.
    """
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


@decomposition("MaxPoolWithArgmax", composite=True)
def max_pool_with_argmax(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """Stacks all positions of a window; among equal values, ARG_MAX takes the first, as TensorFlow does.

    The index of pixel [n, y, x, c] is ``(y * columns + x) * channels + c``, with ``include_batch_in_index``
    ``((n * rows + y) * columns + x) * channels + c``.

    Definition: https://www.tensorflow.org/api_docs/python/tf/nn/max_pool_with_argmax.
    """
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
