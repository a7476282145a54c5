"""Colors: conversions between RGB and HSV, and adjustments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.ir.tensors import Tensor, equal, floor, maximum, minimum, select
from litefuse.passes.legalize.decomposition import decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder


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
