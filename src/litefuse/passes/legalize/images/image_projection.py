"""``ImageProjectiveTransform``: projective transformations of images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.passes.legalize.decomposition import Decomposition, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize
    from litefuse.ir.mlir import ir

__all__ = ["ImageProjection"]


@decomposition("ImageProjectiveTransformV2", "ImageProjectiveTransformV3")
class ImageProjection(Decomposition):
    """Samples each pixel of the result at a point of the image, from the pixels around it::

        k = c0 x + c1 y + 1
        result[y, x] = image[(b0 x + b1 y + b2) / k, (a0 x + a1 y + a2) / k]

    with the transformation ``[a0, a1, a2, b0, b1, b2, c0, c1]``. Points outside the image have the fill value, or are
    mapped inside by the fill mode.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/ImageProjectiveTransformV3.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0, 4)
        op.shape(1, 2)
        op.require(0, "float32", "uint8", "int32", "int64")
        images, transforms, _, *fill = op.operands
        dtype, method = b.dtype(images), str(op.attributes["interpolation"]).upper()
        computed = dtype if method == "NEAREST" else "float32"
        batch, height, width, channels = b.sizes(images)
        pixels = b.reshape(b.cast(images, computed), [b.product([batch, height, width]), channels])
        filler = b.cast(b.cast(fill[0] if fill else b.constant(0.0, "float32"), dtype), computed)
        a0, a1, a2, b0, b1, b2, c0, c1 = (b.expand(b.slice(transforms, 1, i, i + 1), 2) for i in range(8))
        x = b.cast(b.range(_size(op, b, 1)), "float32")
        y = b.expand(b.cast(b.range(_size(op, b, 0)), "float32"), 1)

        def plane(of_x: ir.Value, of_y: ir.Value, offset: ir.Value | float) -> ir.Value:
            return b.binary("AddV2", b.binary("AddV2", b.binary("Mul", of_x, x), b.binary("Mul", of_y, y)), offset)

        depth = plane(c0, c1, 1.0)
        nowhere = b.compare("Equal", depth, 0.0)
        depth = b.select(nowhere, 1.0, depth)
        mode = str(op.attributes.get("fill_mode", "CONSTANT")).upper()
        column = _mapped(b, b.binary("RealDiv", plane(a0, a1, a2), depth), width, mode)
        row = _mapped(b, b.binary("RealDiv", plane(b0, b1, b2), depth), height, mode)
        first = b.reshape(b.binary("Mul", b.range(batch), b.scalar(b.product([height, width]))), [batch, 1, 1])

        def read(at_row: ir.Value, at_column: ir.Value) -> ir.Value:
            """Returns the pixels at integer rows and columns ``[batch, rows, columns]``."""
            inside = b.binary("LogicalAnd", _inside(b, at_row, height), _inside(b, at_column, width))
            begin = b.binary("Mul", _position(b, at_row, height), b.scalar(width))
            number = b.binary("AddV2", first, b.binary("AddV2", begin, _position(b, at_column, width)))
            return b.select(b.expand(inside, 3), b.gather(pixels, number), filler)

        if method == "NEAREST":
            result = read(_rounded(b, row), _rounded(b, column))
        elif method == "BILINEAR":
            (top, down), (left, across) = (_parts(b, each) for each in (row, column))
            bottom, right = b.binary("AddV2", top, 1.0), b.binary("AddV2", left, 1.0)
            upper = _between(b, read(top, left), read(top, right), across)
            lower = _between(b, read(bottom, left), read(bottom, right), across)
            result = _between(b, upper, lower, down)
        else:
            raise NotDecomposed(f"its interpolation is {method}, neither NEAREST nor BILINEAR")
        return b.cast(b.select(b.expand(nowhere, 3), filler, result), dtype)


def _size(op: TensorFlowOp, b: Builder, axis: int) -> MixedSize:
    known = op.constants[2]
    return b.element(op.operands[2], axis) if known is None else int(known[axis])


def _mapped(b: Builder, point: ir.Value, size: MixedSize, mode: str) -> ir.Value:
    """Maps coordinates outside ``0...size - 1`` inside.

    CONSTANT leaves them; NEAREST takes the border; REFLECT mirrors the image at its borders repeatedly, with the border
    itself occurring twice; WRAP repeats it.
    """
    if mode == "CONSTANT":
        return point
    length, last = (b.cast(b.scalar(each), "float32") for each in (size, b.dims("AddV2", size, -1)))
    before, after = b.compare("Less", point, 0.0), b.compare("Greater", point, last)
    if mode == "REFLECT":
        period = b.binary("Mul", length, 2.0)
        rest = b.binary("Sub", point, b.binary("Mul", period, _whole(b, b.binary("RealDiv", point, period))))
        opposite = b.binary("Sub", b.unary("Neg", rest), 1.0)
        far_before = b.compare("Less", rest, b.unary("Neg", length))
        below = b.select(far_before, b.binary("AddV2", rest, period), opposite)
        far_after = b.compare("GreaterEqual", rest, length)
        above = b.select(far_after, b.binary("AddV2", period, opposite), rest)
    elif mode == "WRAP":
        turns = _whole(b, b.binary("RealDiv", point, b.binary("Maximum", last, 1.0)))
        above = b.binary("Sub", point, b.binary("Mul", length, turns))
        below = b.binary("AddV2", above, length)
    elif mode == "NEAREST":
        below = above = point
    else:
        raise NotDecomposed(f"its fill mode is {mode}, neither CONSTANT, NEAREST, REFLECT nor WRAP")
    moved = b.select(before, below, b.select(after, above, point))
    return b.binary("Minimum", b.binary("Maximum", moved, 0.0), last)


def _whole(b: Builder, value: ir.Value) -> ir.Value:
    """Truncates a value to its integer part."""
    return b.binary("Mul", b.unary("Sign", value), b.unary("Floor", b.unary("Abs", value)))


def _parts(b: Builder, point: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Returns the position before a point, and the point's distance from it."""
    floor = b.unary("Floor", point)
    return floor, b.expand(b.binary("Sub", point, floor), 3)


def _rounded(b: Builder, point: ir.Value) -> ir.Value:
    """Returns the nearest position; of two, the one farther from zero."""
    whole = _whole(b, point)
    rest = b.unary("Abs", b.binary("Sub", point, whole))
    step = b.select(b.compare("GreaterEqual", rest, 0.5), b.unary("Sign", point), 0.0)
    return b.binary("AddV2", whole, step)


def _between(b: Builder, low: ir.Value, high: ir.Value, part: ir.Value) -> ir.Value:
    rest = b.binary("Sub", 1.0, part)
    return b.binary("AddV2", b.binary("Mul", rest, low), b.binary("Mul", part, high))


def _inside(b: Builder, position: ir.Value, size: MixedSize) -> ir.Value:
    limit = b.cast(b.scalar(size), "float32")
    return b.binary("LogicalAnd", b.compare("GreaterEqual", position, 0.0), b.compare("Less", position, limit))


def _position(b: Builder, position: ir.Value, size: MixedSize) -> ir.Value:
    """Returns a position as int32, clamped to the image."""
    last = b.cast(b.scalar(b.dims("AddV2", size, -1)), "float32")
    return b.cast(b.binary("Minimum", b.binary("Maximum", position, 0.0), last), "int32")
