"""Positions of sliding windows: TensorFlow's padding, for sizes that may be dynamic."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from litefuse.ir.tensorflow_op import NotDecomposed
from litefuse.ir.tensors import Tensor, maximum

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize

__all__ = ["WindowAxis", "image_axes", "padded_images", "window_positions"]


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
