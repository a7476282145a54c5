"""Gradients of pooling and convolutions, for on-device training."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, equal, maximum, minimum, select
from litefuse.passes.legalize.decomposition import decomposition
from litefuse.passes.legalize.windows.windows import WindowAxis, image_axes, window_positions

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize


@decomposition("AvgPool3DGrad", "AvgPoolGrad", "MaxPool3DGrad", "MaxPoolGrad")
def pooling_gradient(op: TensorFlowOp, b: Builder) -> Tensor:
    """Distributes each window's gradient in equal shares to all of its positions, or to its largest value.

    Among equal largest values, ``MaxPoolGrad`` takes the first, ``MaxPool3DGrad`` all of them.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/MaxPoolGrad, AvgPoolGrad.
    """
    _require_channels_last(op)
    rank = 5 if "3D" in op.name else 4
    op.require(len(op.operands) - 1, "float32")
    op.shape(len(op.operands) - 1, rank)
    if op.name.startswith("Max"):
        op.shape(0, rank)
        images, pooled, gradient = op.operands
        sizes = b.sizes(images)
        axes = image_axes(sizes, op.attributes)
        if rank == 4:  # TensorFlow's kernel ignores the pooled operand
            pooled = b.op("MaxPool", [images], gradient.shape, "float32", **b.options(op))
        windows = window_positions(b, images, axes, float("-inf"))
        parts = _parts_of_largest(windows, pooled, gradient, first_only=rank == 4)
    else:
        shape, gradient = op.operands
        sizes = b.sizes_in(shape, op.results[0].shape or (None,) * rank)
        axes = image_axes(sizes, op.attributes)
        numbers = [_counts(b, axis, size) for axis, size in zip(axes, sizes[1:-1], strict=True)]
        counts = functools.reduce(lambda a, c: b.expand(a, len(a.shape)) * c, numbers)
        share = gradient / b.expand(counts, len(axes))
        parts = [share] * _positions(axes)
    return _sum_of_windows(b, parts, axes, sizes)


@decomposition("Conv2DBackpropFilter", "Conv3DBackpropFilterV2")
def convolution_filter_gradient(op: TensorFlowOp, b: Builder) -> Tensor:
    """Multiplies each position of the windows by the gradient, over all windows, for each group of channels.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/Conv2DBackpropFilter, Conv3DBackpropFilterV2.
    """
    windows, (*window, depth, channels) = _windows_of_filter(op, b, 5 if "3D" in op.name else 4)
    images, _, gradient = op.operands
    all_depth = images.shape[-1]
    if all_depth is None:
        raise NotDecomposed("the number of channels is unknown")
    groups = all_depth // depth
    count, size = b.product(b.sizes(gradient)[:-1]), len(windows) * depth
    patches = b.stack([b.reshape(each, [count, groups, depth]) for each in windows], 2)
    factors = [
        b.reshape(b.transpose(patches, [1, 0, 2, 3]), [groups, count, size]),
        b.transpose(b.reshape(gradient, [count, groups, channels // groups]), [1, 0, 2]),
    ]
    shape = [groups, size, channels // groups]
    product = b.op("BatchMatMulV2", factors, shape, "float32", adj_x=True, adj_y=False)
    return b.reshape(b.transpose(product, [1, 0, 2]), [*window, depth, channels])


@decomposition("DepthwiseConv2dNativeBackpropFilter")
def depthwise_filter_gradient(op: TensorFlowOp, b: Builder) -> Tensor:
    """Multiplies each position of the windows by the gradients of its channel, summed over all windows.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/DepthwiseConv2dNativeBackpropFilter.
    """
    windows, (*window, depth, multiplier) = _windows_of_filter(op, b, 4)
    gradient = op.operands[2]
    count = b.product(b.sizes(gradient)[:3])
    gradients = b.reshape(gradient, [count, depth, multiplier])
    sums = [b.reduce("Sum", b.reshape(each, [count, depth, 1]) * gradients, 0) for each in windows]
    return b.reshape(b.stack(sums, 0), [*window, depth, multiplier])


@decomposition("DepthwiseConv2dNativeBackpropInput")
def depthwise_input_gradient(op: TensorFlowOp, b: Builder) -> Tensor:
    """Adds the gradients of each window's channels times the filter; overlapping windows add up.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/DepthwiseConv2dNativeBackpropInput.
    """
    _require_channels_last(op)
    op.require(1, "float32")
    *window, depth, multiplier = op.shape(1, 4)
    op.shape(2, 4)
    if None in window or depth is None or multiplier is None:
        raise NotDecomposed("the filter's size is unknown")
    shape, weights, gradient = op.operands
    sizes = b.sizes_in(shape, op.results[0].shape or (None,) * 4)
    axes = image_axes(sizes, _attributes_of_convolution(op, window))
    batch, rows, columns, _ = b.sizes(gradient)
    count = b.product([batch, rows, columns])
    gradients = b.reshape(gradient, [count, depth, multiplier])
    by_position = b.reshape(weights, [_positions(axes), depth, multiplier])
    parts: list[Tensor] = []
    for number in range(_positions(axes)):
        taken = b.slice(by_position, 0, number, number + 1)
        part = b.reduce("Sum", gradients * taken, 2)
        parts.append(b.reshape(part, [batch, rows, columns, depth]))
    return _sum_of_windows(b, parts, axes, sizes)


def _require_channels_last(op: TensorFlowOp) -> None:
    if not op.attributes.get("data_format", "NHWC").endswith("HWC"):
        raise NotDecomposed("its images have their channels first")


def _attributes_of_convolution(op: TensorFlowOp, window: Sequence[int | None]) -> dict[str, object]:
    """Renames a convolution's attributes to those of windows."""
    return {
        "ksize": [1, *window, 1],
        "strides": op.attributes["strides"],
        "rates": op.attributes.get("dilations", [1] * (len(window) + 2)),
        "padding": op.attributes["padding"],
    }


def _windows_of_filter(op: TensorFlowOp, b: Builder, rank: int) -> tuple[list[Tensor], list[int]]:
    """Returns the images' pixels at each position of the filter's windows, and the filter's sizes."""
    _require_channels_last(op)
    op.require(0, "float32")
    op.shape(0, rank)
    op.shape(2, rank)
    images, sizes = op.operands[0], op.constant(1).tolist()
    axes = image_axes(b.sizes(images), _attributes_of_convolution(op, sizes[:-2]))
    return window_positions(b, images, axes, 0.0), sizes


def _positions(axes: Sequence[WindowAxis]) -> int:
    return math.prod(axis.size for axis in axes)


def _parts_of_largest(windows: Sequence[Tensor], pooled: Tensor, gradient: Tensor, *, first_only: bool) -> list[Tensor]:
    """Returns, for each position of the windows, the gradients of those with their largest value there."""
    if not first_only:
        return [select(equal(window, pooled), gradient, 0.0) for window in windows]
    parts: list[Tensor] = []
    free = equal(pooled, pooled)  # the windows whose largest value was not found yet
    for window in windows:
        largest = free & equal(window, pooled)
        parts.append(select(largest, gradient, 0.0))
        free = free & ~largest
    return parts


def _counts(b: Builder, axis: WindowAxis, image: MixedSize) -> Tensor:
    """Counts the positions of each window along an axis that are inside the image, as float32."""
    begin = b.range(axis.count) * axis.stride - b.scalar(axis.before)
    end = minimum(begin + axis.size, b.scalar(image))
    return b.cast(end - maximum(begin, 0), "float32")


def _sum_of_windows(
    b: Builder, parts: Sequence[Tensor], axes: Sequence[WindowAxis], sizes: Sequence[MixedSize]
) -> Tensor:
    """Sums the windows' parts, one for each position, into images."""
    for axis, windows in reversed(list(enumerate(axes, start=1))):
        groups = [parts[first : first + windows.size] for first in range(0, len(parts), windows.size)]
        parts = [
            _sum([_spread(b, part, axis, windows, number) for number, part in enumerate(group)]) for group in groups
        ]
    (padded,) = parts
    inside: dict[int, tuple[MixedSize, MixedSize | None, int]] = {
        axis: (windows.before, windows.before + sizes[axis], 1)
        for axis, windows in enumerate(axes, start=1)
        if windows.extent is not sizes[axis]
    }
    return b.slices(padded, inside) if inside else padded


def _sum(values: Sequence[Tensor]) -> Tensor:
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


def _spread(b: Builder, values: Tensor, axis: int, windows: WindowAxis, number: int) -> Tensor:
    """Scatters values of windows along an axis to position ``number`` of their windows in a padded image of zeros."""
    sizes = b.sizes(values)
    begin, end, stride = windows.positions(number)
    if stride > 1:
        around = [b.product(sizes[:axis]), sizes[axis], 1, b.product(sizes[axis + 1 :])]
        apart = b.pad(b.reshape(values, around), [(0, 0), (0, 0), (0, stride - 1), (0, 0)])
        sizes[axis] = sizes[axis] * stride
        apart = b.reshape(apart, sizes)
        values = b.slice(apart, axis, 0, end - begin)
    paddings: list[tuple[MixedSize, MixedSize]] = [(0, 0)] * len(sizes)
    paddings[axis] = (begin, windows.extent - end)
    return b.pad(values, paddings)
