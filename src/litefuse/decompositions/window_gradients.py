"""Gradients of poolings, and of a convolution's filter: what on-device training needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp
from litefuse.decompositions.extract_image_patches import window_positions
from litefuse.decompositions.windows import WindowAxis, image_axes

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder, Dim
    from litefuse.engine.mlir import ir

__all__ = ["ConvolutionFilterGradient", "PoolingGradient"]


class PoolingGradient(Decomposition):
    """Each window's gradient goes to the first of its largest values, or in equal shares to all of its positions.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/MaxPoolGrad, AvgPoolGrad.
    """

    names = ("AvgPoolGrad", "MaxPoolGrad")

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        _require_channels_last(op)
        op.require(len(op.operands) - 1, "float32")
        op.shape(len(op.operands) - 1, 4)
        if op.name == "MaxPoolGrad":
            op.shape(0, 4)
            images, _, gradient = op.operands
            attributes = b.options(op)
            pooled = b.op("MaxPool", [images], b.shape(gradient), "float32", **attributes)
            sizes = b.sizes(images)
            rows, columns = image_axes(b, sizes, op.attributes)
            parts: list[ir.Value] = []
            free = b.compare("Equal", pooled, pooled)  # the windows whose largest value was not met yet
            for window in window_positions(b, images, rows, columns, float("-inf")):
                largest = b.op("LogicalAnd", [free, b.compare("Equal", window, pooled)], b.shape(pooled), "bool")
                parts.append(b.select(largest, gradient, 0.0))
                free = b.op("LogicalAnd", [free, b.unary("LogicalNot", largest)], b.shape(pooled), "bool")
        else:
            shape, gradient = op.operands
            sizes = b.sizes_in(shape, op.results[0].shape or (None,) * 4)
            rows, columns = image_axes(b, sizes, op.attributes)
            counts = b.binary("Mul", b.expand(_counts(b, rows, sizes[1]), 1), _counts(b, columns, sizes[2]))
            share = b.binary("RealDiv", gradient, b.expand(counts, 2))
            parts = [share] * (rows.size * columns.size)
        return _sum_of_windows(b, parts, rows, columns, sizes)


class ConvolutionFilterGradient(Decomposition):
    """``Conv2DBackpropFilter``: the product of each position of the windows with the gradient, over all windows.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/Conv2DBackpropFilter.
    """

    names = ("Conv2DBackpropFilter",)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        _require_channels_last(op)
        op.require(0, "float32")
        op.shape(0, 4)
        op.shape(2, 4)
        images, _, gradient = op.operands
        rows, columns, depth, channels = op.constant(1).tolist()
        if b.shape(images)[3] != depth:
            raise NotDecomposed("its filter is one of groups of channels")
        attributes = {
            "ksize": [1, rows, columns, 1],
            "strides": op.attributes["strides"],
            "rates": op.attributes.get("dilations", [1, 1, 1, 1]),
            "padding": op.attributes["padding"],
        }
        windows = window_positions(b, images, *image_axes(b, b.sizes(images), attributes), 0.0)
        count = b.product(b.sizes(gradient)[:3])
        patches = b.reshape(b.concat(windows, 3), [count, rows * columns * depth])
        product = b.op(
            "MatMul",
            [patches, b.reshape(gradient, [count, channels])],
            [rows * columns * depth, channels],
            "float32",
            transpose_a=True,
            transpose_b=False,
        )
        return b.reshape(product, [rows, columns, depth, channels])


def _require_channels_last(op: TensorFlowOp) -> None:
    if op.attributes.get("data_format", "NHWC") != "NHWC":
        raise NotDecomposed("its images have their channels first")


def _counts(b: Builder, axis: WindowAxis, image: Dim) -> ir.Value:
    """How many positions of each window along an axis lie in the image, float32."""
    begin = b.binary("Sub", b.binary("Mul", b.range(axis.count), axis.stride), b.scalar(axis.before))
    end = b.binary("Minimum", b.binary("AddV2", begin, axis.size), b.scalar(image))
    return b.cast(b.binary("Sub", end, b.binary("Maximum", begin, 0)), "float32")


def _sum_of_windows(
    b: Builder, parts: Sequence[ir.Value], rows: WindowAxis, columns: WindowAxis, sizes: Sequence[Dim]
) -> ir.Value:
    """Images in which each window adds its parts, one for each of its positions, to what is there."""
    by_row: list[ir.Value] = []
    for row in range(rows.size):
        of_row = parts[row * columns.size : (row + 1) * columns.size]
        total = _sum(b, [_spread(b, part, 2, columns, number) for number, part in enumerate(of_row)])
        by_row.append(_spread(b, total, 1, rows, row))
    padded = _sum(b, by_row)
    inside: dict[int, tuple[Dim, Dim | None, int]] = {
        axis: (windows.before, b.dims("AddV2", windows.before, sizes[axis]), 1)
        for axis, windows in ((1, rows), (2, columns))
        if windows.extent is not sizes[axis]
    }
    return b.slices(padded, inside) if inside else padded


def _sum(b: Builder, values: Sequence[ir.Value]) -> ir.Value:
    total = values[0]
    for each in values[1:]:
        total = b.binary("AddV2", total, each)
    return total


def _spread(b: Builder, values: ir.Value, axis: int, windows: WindowAxis, number: int) -> ir.Value:
    """Values of windows, along an axis, at position ``number`` of their windows in the padded image, among zeros."""
    sizes = b.sizes(values)
    begin, end, stride = windows.positions(b, number)
    if stride > 1:
        around = [b.product(sizes[:axis]), sizes[axis], 1, b.product(sizes[axis + 1 :])]
        apart = b.pad(b.reshape(values, around), [(0, 0), (0, 0), (0, stride - 1), (0, 0)])
        sizes[axis] = b.dims("Mul", sizes[axis], stride)
        apart = b.reshape(apart, sizes)
        values = b.slice(apart, axis, 0, b.dims("Sub", end, begin))
    paddings: list[tuple[Dim, Dim]] = [(0, 0)] * 4
    paddings[axis] = (begin, b.dims("Sub", windows.extent, end))
    return b.pad(values, paddings)
