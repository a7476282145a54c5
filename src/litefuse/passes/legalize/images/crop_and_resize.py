"""``CropAndResize``: boxes cropped from images and resized to one size."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, ceil, floor, maximum, minimum, select
from litefuse.passes.legalize.decomposition import decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize


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
