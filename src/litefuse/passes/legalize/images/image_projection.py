"""``ImageProjectiveTransform``: projective transformations of images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, equal, maximum, minimum, select, sign
from litefuse.passes.legalize.decomposition import decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize


@decomposition("ImageProjectiveTransformV2", "ImageProjectiveTransformV3")
def image_projection(op: TensorFlowOp, b: Builder) -> Tensor:
    """Samples each pixel of the result at a point of the image, from the pixels around it::

        k = c0 x + c1 y + 1
        result[y, x] = image[(b0 x + b1 y + b2) / k, (a0 x + a1 y + a2) / k]

    with the transformation ``[a0, a1, a2, b0, b1, b2, c0, c1]``. Points outside the image have the fill value, or are
    mapped inside by the fill mode.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/ImageProjectiveTransformV3.
    """
    op.shape(0, 4)
    op.require(0, "float32", "uint8", "int32", "int64")
    images, transforms, _, *fill = op.operands
    dtype, method = images.dtype, str(op.attributes["interpolation"]).upper()
    computed = dtype if method == "NEAREST" else "float32"
    batch, height, width, channels = b.sizes(images)
    pixels = b.reshape(b.cast(images, computed), [b.product([batch, height, width]), channels])
    filler = b.cast(b.cast(fill[0] if fill else b.constant(0.0, "float32"), dtype), computed)
    a0, a1, a2, b0, b1, b2, c0, c1 = (b.expand(b.slice(transforms, 1, i, i + 1), 2) for i in range(8))
    x = b.cast(b.range(_size(op, b, 1)), "float32")
    y = b.expand(b.cast(b.range(_size(op, b, 0)), "float32"), 1)

    def plane(of_x: Tensor, of_y: Tensor, offset: Tensor | float) -> Tensor:
        return of_x * x + of_y * y + offset

    depth = plane(c0, c1, 1.0)
    nowhere = equal(depth, 0.0)
    depth = select(nowhere, 1.0, depth)
    mode = str(op.attributes.get("fill_mode", "CONSTANT")).upper()
    column = _mapped(b, plane(a0, a1, a2) / depth, width, mode)
    row = _mapped(b, plane(b0, b1, b2) / depth, height, mode)
    first = b.reshape(b.range(batch) * b.scalar(b.product([height, width])), [batch, 1, 1])

    def read(at_row: Tensor, at_column: Tensor) -> Tensor:
        """Returns the pixels at integer rows and columns ``[batch, rows, columns]``."""
        inside = _inside(b, at_row, height) & _inside(b, at_column, width)
        begin = _position(b, at_row, height) * b.scalar(width)
        number = first + (begin + _position(b, at_column, width))
        return select(b.expand(inside, 3), b.gather(pixels, number), filler)

    if method == "NEAREST":
        result = read(_rounded(b, row), _rounded(b, column))
    elif method == "BILINEAR":
        (top, down), (left, across) = (_parts(b, each) for each in (row, column))
        bottom, right = top + 1.0, left + 1.0
        upper = _between(read(top, left), read(top, right), across)
        lower = _between(read(bottom, left), read(bottom, right), across)
        result = _between(upper, lower, down)
    else:
        raise NotDecomposed(f"its interpolation is {method}, neither NEAREST nor BILINEAR")
    return b.cast(select(b.expand(nowhere, 3), filler, result), dtype)


def _size(op: TensorFlowOp, b: Builder, axis: int) -> MixedSize:
    known = op.constants[2]
    return b.element(op.operands[2], axis) if known is None else int(known[axis])


def _mapped(b: Builder, point: Tensor, size: MixedSize, mode: str) -> Tensor:
    """Maps coordinates outside ``0...size - 1`` inside.

    CONSTANT leaves them; NEAREST takes the border; REFLECT mirrors the image at its borders repeatedly, with the border
    itself occurring twice; WRAP repeats it.
    """
    if mode == "CONSTANT":
        return point
    length, last = (b.cast(b.scalar(each), "float32") for each in (size, size + -1))
    before, after = point < 0.0, point > last
    if mode == "REFLECT":
        period = length * 2.0
        rest = point - period * _whole(b, point / period)
        opposite = -rest - 1.0
        far_before = rest < -length
        below = select(far_before, rest + period, opposite)
        far_after = rest >= length
        above = select(far_after, period + opposite, rest)
    elif mode == "WRAP":
        turns = _whole(b, point / maximum(last, 1.0))
        above = point - length * turns
        below = above + length
    elif mode == "NEAREST":
        below = above = point
    else:
        raise NotDecomposed(f"its fill mode is {mode}, neither CONSTANT, NEAREST, REFLECT nor WRAP")
    moved = select(before, below, select(after, above, point))
    return minimum(maximum(moved, 0.0), last)


def _whole(b: Builder, value: Tensor) -> Tensor:
    """Truncates a value to its integer part."""
    return sign(value) * b.unary("Floor", abs(value))


def _parts(b: Builder, point: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the position before a point, and the point's distance from it."""
    floor = b.unary("Floor", point)
    return floor, b.expand(point - floor, 3)


def _rounded(b: Builder, point: Tensor) -> Tensor:
    """Returns the nearest position; of two, the one farther from zero."""
    whole = _whole(b, point)
    rest = abs(point - whole)
    step = select(rest >= 0.5, sign(point), 0.0)
    return whole + step


def _between(low: Tensor, high: Tensor, part: Tensor) -> Tensor:
    rest = 1.0 - part
    return rest * low + part * high


def _inside(b: Builder, position: Tensor, size: MixedSize) -> Tensor:
    limit = b.cast(b.scalar(size), "float32")
    return (position >= 0.0) & (position < limit)


def _position(b: Builder, position: Tensor, size: MixedSize) -> Tensor:
    """Returns a position as int32, clamped to the image."""
    last = b.cast(b.scalar(size + -1), "float32")
    return b.cast(minimum(maximum(position, 0.0), last), "int32")
