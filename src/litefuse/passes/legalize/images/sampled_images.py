"""Images sampled at computed points: projective transformations, and boxes cropped and resized."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, ceil, equal, floor, maximum, minimum, select, sign
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


@decomposition("CropAndResize", composite=True)
def crop_and_resize(op: TensorFlowOp, b: Builder) -> Tensor:
    """Gathers the pixels around each sampled point, and interpolates between them.

    Definition: https://www.tensorflow.org/api_docs/python/tf/image/crop_and_resize.
    """
    op.shape(0, 4)
    op.shape(2, 1)
    op.require(0, "float32", "uint8", "int8", "int16", "int32", "int64")
    images, boxes, box_image, _ = op.operands
    batch, height, width, channels = b.sizes(images)
    pixels = b.reshape(b.cast(images, "float32"), [b.product([batch, height, width]), channels])
    rows = _Samples.of(b, boxes, 0, height, _crop_size(op, b, 0))
    columns = _Samples.of(b, boxes, 1, width, _crop_size(op, b, 1))
    first_row = b.expand(box_image * b.scalar(height), 1)

    def pixel(row: Tensor, column: Tensor) -> Tensor:
        """Returns the pixels at rows ``[boxes, crop rows]`` and columns ``[boxes, crop columns]``."""
        begin = (first_row + row) * b.scalar(width)
        return b.gather(pixels, b.expand(begin, 2) + b.expand(column, 1))

    def between(low: Tensor, high: Tensor, part: Tensor) -> Tensor:
        return low + (high - low) * part

    match op.attributes.get("method", "bilinear"):
        case "nearest":
            crops = pixel(rows.nearest(b), columns.nearest(b))
        case "bilinear":
            (top, bottom, down), (left, right, across) = rows.around(b), columns.around(b)
            across = b.expand(b.expand(across, 1), 3)
            down = b.expand(b.expand(down, 2), 3)
            upper = between(pixel(top, left), pixel(top, right), across)
            lower = between(pixel(bottom, left), pixel(bottom, right), across)
            crops = between(upper, lower, down)
        case method:
            raise NotDecomposed(f"its method is {method}, neither bilinear nor nearest")
    inside = b.expand(rows.inside, 2) & b.expand(columns.inside, 1)
    return select(b.expand(inside, 3), crops, float(op.attributes.get("extrapolation_value", 0.0)))


def _crop_size(op: TensorFlowOp, b: Builder, axis: int) -> MixedSize:
    known = op.constants[3]
    return b.element(op.operands[3], axis) if known is None else int(known[axis])


class _Samples(NamedTuple):
    """The sampled points along an axis, ``[boxes, samples]``, clamped to its last position, and which are inside."""

    points: Tensor
    last: Tensor
    inside: Tensor

    @classmethod
    def of(cls, b: Builder, boxes: Tensor, axis: int, size: MixedSize, count: MixedSize) -> _Samples:
        last = b.cast(b.scalar(size + -1), "float32")
        begin, end = (b.slice(boxes, 1, column, column + 1) for column in (axis, axis + 2))
        steps = b.cast(b.scalar(maximum(count + -1, 1)), "float32")
        # The number of steps, but not as a constant: with the fault `constant-divisor`, the rounded reciprocal moves
        # the last point of a box that ends at the image's border outside the image.
        divisor = maximum(minimum(begin, steps), steps)
        step = (end - begin) * last / divisor
        first = begin * last
        if count == 1 or not isinstance(count, int):
            middle = (begin + end) * 0.5 * last
            first = middle if count == 1 else select(b.scalar(count) > 1, first, middle)
        index = b.cast(b.range(count), "float32")
        points = first + index * step
        inside = (points >= 0.0) & (points <= last)
        return cls(minimum(maximum(points, 0.0), last), last, inside)

    def around(self, b: Builder) -> tuple[Tensor, Tensor, Tensor]:
        """Returns the positions before and after each point, and its distance from the one before."""
        before = floor(self.points)
        after = ceil(self.points)
        return b.cast(before, "int32"), b.cast(after, "int32"), self.points - before

    def nearest(self, b: Builder) -> Tensor:
        """Returns the position nearest to each point; of two, the later."""
        before = floor(self.points)
        later = self.points - before >= 0.5
        return b.cast(select(later, before + 1.0, before), "int32")
