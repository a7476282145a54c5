"""Image resizing: of integers, and by filters that LiteRT lacks, as products with a matrix; and colors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.ir.builder import Builder, MixedSize
from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, equal, floor, maximum, minimum, select
from litefuse.passes.legalize.arrays.numpy_formulas import Array, number, positions
from litefuse.passes.legalize.decomposition import decomposition
from litefuse.passes.legalize.images.resizing_weights import (
    FILTERS,
    Line,
    area,
    bicubic,
    bilinear,
    filtered,
    nearest,
    scale,
)

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder


@decomposition("ResizeBilinear", "ResizeNearestNeighbor")
def resize_integers(op: TensorFlowOp, b: Builder) -> Tensor:
    """Emits the op between casts: float32 represents 16-bit integers.

    ``ResizeBilinear`` always returns float32, and makes that of each pixel first.
    Definition: tensorflow/core/kernels/image/resize_bilinear_op.cc.
    """
    op.shape(0, 4)
    wide = ("int32", "int64") if op.name == "ResizeBilinear" else ()
    op.require(0, "int8", "int16", "uint8", "uint16", *wide)
    attributes = b.options(op)
    operands = [b.cast(op.operands[0], "float32"), op.operands[1]]
    (resized,) = b.ops(op.name, operands, [(op.results[0].shape, "float32")], **attributes)
    return b.cast(resized, op.results[0].dtype)


@decomposition("ResizeArea", "ResizeBicubic")
def resize_by_matrix(op: TensorFlowOp, b: Builder) -> Tensor:
    """Computes each row as a weighted sum of rows; for a dynamic size, the model computes the weights.

    Definition: tensorflow/core/kernels/image, resize_bicubic_op.cc, resize_area_op.cc.
    """
    op.shape(0, 4)
    corners = bool(op.attributes.get("align_corners", False))
    centers = bool(op.attributes.get("half_pixel_centers", False))
    images = b.cast(op.operands[0], "float32")
    for axis, line in zip((1, 2), _lines(b, b.sizes(images)[1:3], _sizes(op, b)), strict=True):
        step = scale(line, align_corners=corners)
        matrix = area(line, step) if op.name == "ResizeArea" else bicubic(line, step, half_pixel_centers=centers)
        images = _multiplied(b, images, axis, np.transpose(matrix))
    return images


@decomposition("ResizeBicubicGrad", "ResizeBilinearGrad", "ResizeNearestNeighborGrad")
def resize_gradient(op: TensorFlowOp, b: Builder) -> Tensor:
    """Multiplies the gradient by the transposed matrices of the resizing; for a dynamic size, the model computes them.

    Definition: tensorflow/core/kernels/image, resize_bilinear_op.cc, resize_nearest_neighbor_op.cc.
    """
    op.shape(0, 4)
    corners = bool(op.attributes.get("align_corners", False))
    centers = bool(op.attributes.get("half_pixel_centers", False))
    gradient = b.cast(op.operands[0], "float32")
    before = _sizes(op, b) if op.name == "ResizeNearestNeighborGrad" else b.sizes(op.operands[1])[1:3]
    for axis, line in zip((1, 2), _lines(b, before, b.sizes(gradient)[1:3]), strict=True):
        step = scale(line, align_corners=corners)
        if op.name == "ResizeNearestNeighborGrad":
            matrix = nearest(line, step, align_corners=corners, half_pixel_centers=centers)
        elif op.name == "ResizeBilinearGrad":
            matrix = bilinear(line, step, half_pixel_centers=centers)
        else:
            matrix = bicubic(line, step, half_pixel_centers=centers)
        gradient = _multiplied(b, gradient, axis, matrix)
    return b.cast(gradient, op.results[0].dtype)


@decomposition("ScaleAndTranslate")
def scale_and_translate(op: TensorFlowOp, b: Builder) -> Tensor:
    """Computes each row as a sum of rows under a filter; the model computes what depends on dynamic values.

    ``tf.image.resize`` emits it with ``antialias``, and for the filters that LiteRT lacks.

    Definition: tensorflow/core/kernels/image, scale_and_translate_op.cc and sampling_kernels.h.
    """
    op.shape(0, 4)
    kind = str(op.attributes.get("kernel_type", "lanczos3"))
    if kind not in FILTERS:
        raise NotDecomposed(f"the filter {kind!r} is not known")
    antialias = bool(op.attributes.get("antialias", True))
    images = b.cast(op.operands[0], "float32")
    lines = _lines(b, b.sizes(images)[1:3], _sizes(op, b))
    scales, offsets = (_numbers(op, b, operand) for operand in (2, 3))
    for axis, (line, factor, offset) in enumerate(zip(lines, scales, offsets, strict=True), start=1):
        matrix = filtered(line, factor, offset, *FILTERS[kind], antialias=antialias)
        images = _multiplied(b, images, axis, np.transpose(matrix))
    return images


def _sizes(op: TensorFlowOp, b: Builder) -> list[MixedSize]:
    """Returns the rows and columns that the second operand states."""
    known = op.constants[1]
    shape = op.results[0].shape
    sizes = shape[1:3] if shape is not None else (None, None)
    return b.sizes_in(op.operands[1], sizes if known is None else known.reshape(-1).tolist())


def _numbers(op: TensorFlowOp, b: Builder, operand: int) -> list[Any]:
    """Returns the two elements of a vector, each ``[1, 1]``."""
    known = op.constants[operand]
    if known is not None:
        return [np.full((1, 1), each, np.float32) for each in known.reshape(-1).tolist()]
    return [Array(b, b.reshape(b.element(op.operands[operand], index), [1, 1])) for index in range(2)]


def _lines(b: Builder, before: list[MixedSize], after: list[MixedSize]) -> list[Line]:
    return [
        Line(number(b, old), number(b, new), positions(b, old, [1, old]), positions(b, new, [new, 1]))
        for old, new in zip(before, after, strict=True)
    ]


def _multiplied(b: Builder, images: Tensor, axis: int, matrix: Any) -> Tensor:
    """Multiplies one dimension of the images by a matrix, which has a row for each of its positions."""
    weights = matrix.value if isinstance(matrix, Array) else b.constant(matrix, "float32")
    order = [0, 3, 3 - axis, axis]
    moved = b.transpose(images, order)
    shape = (*moved.shape[:3], weights.shape[1])
    product = b.op("BatchMatMulV2", [moved, weights], shape, "float32", adj_x=False, adj_y=False)
    return b.transpose(product, [order.index(each) for each in range(4)])


@decomposition("HSVToRGB", "RGBToHSV")
def color_space(op: TensorFlowOp, b: Builder) -> Tensor:
    """Converts the three channels of the last dimension.

    Definition: https://www.tensorflow.org/api_docs/python/tf/image/rgb_to_hsv, hsv_to_rgb.
    """
    op.require(0, "float32")
    channels = _channels(b, op.operands[0])
    return _together(b, _rgb(*channels) if op.name == "HSVToRGB" else _hsv(*channels))


@decomposition("AdjustHue", "AdjustSaturation")
def adjust_colors(op: TensorFlowOp, b: Builder) -> Tensor:
    """Changes hue or saturation, in HSV.

    Definition: https://www.tensorflow.org/api_docs/python/tf/image/adjust_hue, adjust_saturation.
    """
    op.require(0, "float32")
    hue, saturation, value = _hsv(*_channels(b, op.operands[0]))
    change = op.operands[1]
    if op.name == "AdjustHue":
        turned = hue + change
        hue = turned - floor(turned)
    else:
        scaled = saturation * change
        saturation = minimum(maximum(scaled, 0.0), 1.0)
    return _together(b, _rgb(hue, saturation, value))


@decomposition("AdjustContrastv2")
def adjust_contrast(op: TensorFlowOp, b: Builder) -> Tensor:
    """Scales the distances from each channel's mean.

    Definition: https://www.tensorflow.org/api_docs/python/tf/image/adjust_contrast.
    """
    rank = len(op.shape(0))
    op.require(0, "float32")
    images, factor = op.operands
    mean = images
    for axis in (rank - 3, rank - 2):
        mean = b.reduce("Mean", mean, axis, keep_dims=True)
    return (images - mean) * factor + mean


def _channels(b: Builder, images: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    axis = len(images.shape) - 1
    first, second, third = (b.slice(images, axis, index, index + 1) for index in range(3))
    return first, second, third


def _together(b: Builder, channels: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    return b.concat(list(channels), len(channels[0].shape) - 1)


def _hsv(red: Tensor, green: Tensor, blue: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    value = maximum(maximum(red, green), blue)
    lowest = minimum(minimum(red, green), blue)
    span = value - lowest
    saturation = select(value > 0.0, span / value, 0.0)
    sixth = 1 / 6 / span

    def sector(first: Tensor, second: Tensor, begin: float) -> Tensor:
        return sixth * (first - second) + begin

    by_green = select(equal(green, value), sector(blue, red, 2 / 6), sector(red, green, 4 / 6))
    hue = select(equal(red, value), sector(green, blue, 0.0), by_green)
    hue = select(span > 0.0, hue, 0.0)
    hue = select(hue < 0.0, hue + 1.0, hue)
    return hue, saturation, value


def _rgb(hue: Tensor, saturation: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    chroma = saturation * value
    lowest = value - chroma
    angle = hue * 6.0

    def channel(scale: float, offset: float) -> Tensor:
        distance = abs(angle - offset)
        ramp = distance * scale + (-1.0 if scale > 0 else 2.0)
        part = minimum(maximum(ramp, 0.0), 1.0)
        return part * chroma + lowest

    return channel(1.0, 3.0), channel(-1.0, 2.0), channel(-1.0, 4.0)
