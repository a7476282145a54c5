"""Colors: conversions between RGB and HSV, and adjustments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.passes.legalize.decomposition import Decomposition, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir

__all__ = ["AdjustColors", "AdjustContrast", "ColorSpace"]


@decomposition("HSVToRGB", "RGBToHSV")
class ColorSpace(Decomposition):
    """Converts the three channels of the last dimension.

    Definition: https://www.tensorflow.org/api_docs/python/tf/image/rgb_to_hsv, hsv_to_rgb.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.require(0, "float32")
        channels = _channels(b, op.operands[0])
        return _together(b, _rgb(b, *channels) if op.name == "HSVToRGB" else _hsv(b, *channels))


@decomposition("AdjustHue", "AdjustSaturation")
class AdjustColors(Decomposition):
    """Changes hue or saturation, in HSV.

    Definition: https://www.tensorflow.org/api_docs/python/tf/image/adjust_hue, adjust_saturation.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.require(0, "float32")
        hue, saturation, value = _hsv(b, *_channels(b, op.operands[0]))
        change = op.operands[1]
        if op.name == "AdjustHue":
            turned = b.binary("AddV2", hue, change)
            hue = b.binary("Sub", turned, b.unary("Floor", turned))
        else:
            scaled = b.binary("Mul", saturation, change)
            saturation = b.binary("Minimum", b.binary("Maximum", scaled, 0.0), 1.0)
        return _together(b, _rgb(b, hue, saturation, value))


@decomposition("AdjustContrastv2")
class AdjustContrast(Decomposition):
    """Scales the distances from each channel's mean.

    Definition: https://www.tensorflow.org/api_docs/python/tf/image/adjust_contrast.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        rank = len(op.shape(0))
        op.require(0, "float32")
        images, factor = op.operands
        mean = images
        for axis in (rank - 3, rank - 2):
            mean = b.reduce("Mean", mean, axis, keep_dims=True)
        return b.binary("AddV2", b.binary("Mul", b.binary("Sub", images, mean), factor), mean)


def _channels(b: Builder, images: ir.Value) -> tuple[ir.Value, ir.Value, ir.Value]:
    axis = len(b.shape(images)) - 1
    first, second, third = (b.slice(images, axis, index, index + 1) for index in range(3))
    return first, second, third


def _together(b: Builder, channels: tuple[ir.Value, ir.Value, ir.Value]) -> ir.Value:
    return b.concat(list(channels), len(b.shape(channels[0])) - 1)


def _hsv(b: Builder, red: ir.Value, green: ir.Value, blue: ir.Value) -> tuple[ir.Value, ir.Value, ir.Value]:
    value = b.binary("Maximum", b.binary("Maximum", red, green), blue)
    lowest = b.binary("Minimum", b.binary("Minimum", red, green), blue)
    span = b.binary("Sub", value, lowest)
    saturation = b.select(b.compare("Greater", value, 0.0), b.binary("RealDiv", span, value), 0.0)
    sixth = b.binary("RealDiv", 1 / 6, span)

    def sector(first: ir.Value, second: ir.Value, begin: float) -> ir.Value:
        return b.binary("AddV2", b.binary("Mul", sixth, b.binary("Sub", first, second)), begin)

    by_green = b.select(b.compare("Equal", green, value), sector(blue, red, 2 / 6), sector(red, green, 4 / 6))
    hue = b.select(b.compare("Equal", red, value), sector(green, blue, 0.0), by_green)
    hue = b.select(b.compare("Greater", span, 0.0), hue, 0.0)
    hue = b.select(b.compare("Less", hue, 0.0), b.binary("AddV2", hue, 1.0), hue)
    return hue, saturation, value


def _rgb(b: Builder, hue: ir.Value, saturation: ir.Value, value: ir.Value) -> tuple[ir.Value, ir.Value, ir.Value]:
    chroma = b.binary("Mul", saturation, value)
    lowest = b.binary("Sub", value, chroma)
    angle = b.binary("Mul", hue, 6.0)

    def channel(scale: float, offset: float) -> ir.Value:
        distance = b.unary("Abs", b.binary("Sub", angle, offset))
        ramp = b.binary("AddV2", b.binary("Mul", distance, scale), -1.0 if scale > 0 else 2.0)
        part = b.binary("Minimum", b.binary("Maximum", ramp, 0.0), 1.0)
        return b.binary("AddV2", b.binary("Mul", part, chroma), lowest)

    return channel(1.0, 3.0), channel(-1.0, 2.0), channel(-1.0, 4.0)
