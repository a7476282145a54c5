"""Resizing of images: of integers, and by filters that LiteRT lacks, as products with the matrix of each dimension."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder
    from litefuse.engine.mlir import ir

__all__ = ["ResizeByMatrix", "ResizeIntegers", "ScaleAndTranslate"]

# TensorFlow looks the cubic filter up in a table of so many steps between pixels.
_TABLE = 1024


class ResizeIntegers(Decomposition):
    """Between casts: the result of ``ResizeBilinear`` is float32 in any case, and float32 holds 16 bits."""

    names = ("ResizeBilinear", "ResizeNearestNeighbor")

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0, 4)
        op.require(0, "int8", "int16", "uint8", "uint16")
        attributes = b.options(op)
        operands = [b.cast(op.operands[0], "float32"), op.operands[1]]
        (resized,) = b.ops(op.name, operands, [(op.results[0].shape, "float32")], **attributes)
        return b.cast(resized, op.results[0].dtype)


class ResizeByMatrix(Decomposition):
    """Each row of the result is a sum of weighted rows; the sizes must be known, and then so are the weights.

    Definition: tensorflow/core/kernels/image, resize_bicubic_op.cc, resize_area_op.cc.
    """

    names = ("ResizeArea", "ResizeBicubic")

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        _, rows, columns, _ = op.shape(0, 4)
        if rows is None or columns is None:
            raise NotDecomposed("the images' size is unknown")
        corners = bool(op.attributes.get("align_corners", False))
        centers = bool(op.attributes.get("half_pixel_centers", False))
        sizes: list[int] = op.constant(1).reshape(-1).tolist()
        images = b.cast(op.operands[0], "float32")
        for axis, (before, after) in enumerate(zip((rows, columns), sizes, strict=True), start=1):
            scale = (before - 1) / (after - 1) if corners and after > 1 else before / after
            if op.name == "ResizeArea":
                matrix = _area(before, after, scale)
            else:
                matrix = _bicubic(before, after, scale, half_pixel_centers=centers)
            images = _multiplied(b, images, axis, matrix)
        return images


class ScaleAndTranslate(Decomposition):
    """Each row of the result is a sum of rows under a filter; the sizes, scales and offsets must be known.

    It is what ``tf.image.resize`` becomes with ``antialias``, and for the filters that LiteRT lacks.

    Definition: tensorflow/core/kernels/image, scale_and_translate_op.cc and sampling_kernels.h.
    """

    names = ("ScaleAndTranslate",)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        _, rows, columns, _ = op.shape(0, 4)
        if rows is None or columns is None:
            raise NotDecomposed("the images' size is unknown")
        kind = str(op.attributes.get("kernel_type", "lanczos3"))
        if kind not in _FILTERS:
            raise NotDecomposed(f"the filter {kind!r} is not known")
        antialias = bool(op.attributes.get("antialias", True))
        images = b.cast(op.operands[0], "float32")
        sizes, scales, offsets = (op.constant(operand).reshape(-1).tolist() for operand in (1, 2, 3))
        for axis, before in enumerate((rows, columns)):
            matrix = _filtered(before, sizes[axis], scales[axis], offsets[axis], *_FILTERS[kind], antialias=antialias)
            images = _multiplied(b, images, axis + 1, matrix)
        return images


def _multiplied(b: Builder, images: ir.Value, axis: int, matrix: npt.NDArray[Any]) -> ir.Value:
    """The images with one dimension multiplied by ``[after, before]``."""
    order = [0, 3, 3 - axis, axis]
    moved = b.transpose(images, order)
    shape = (*b.shape(moved)[:3], matrix.shape[0])
    transposed: npt.NDArray[Any] = np.transpose(matrix)
    weights = b.constant(transposed, "float32")
    product = b.op("BatchMatMulV2", [moved, weights], shape, "float32", adj_x=False, adj_y=False)
    return b.transpose(product, [order.index(each) for each in range(4)])


def _area(before: int, after: int, scale: float) -> npt.NDArray[Any]:
    """Means of what lies under each pixel."""
    matrix = np.zeros((after, before))
    for row in range(after):
        begin, end = row * scale, (row + 1) * scale
        for position in range(math.floor(begin), math.ceil(end)):
            share = min(position + 1, end) - max(position, begin)
            matrix[row, min(max(position, 0), before - 1)] += share / scale
    return matrix


def _bicubic(before: int, after: int, scale: float, *, half_pixel_centers: bool) -> npt.NDArray[Any]:
    """Keys' cubic filter, with -0.5 for half pixel centres, whose weights outside are left out, else -0.75."""
    a = -0.5 if half_pixel_centers else -0.75
    matrix = np.zeros((after, before))
    for row in range(after):
        place = (row + 0.5) * scale - 0.5 if half_pixel_centers else row * scale
        base = math.floor(place)
        step = round((place - base) * _TABLE) / _TABLE
        weights = [_cubic(abs(offset - step), a) for offset in (-1, 0, 1, 2)]
        positions = [base + offset for offset in (-1, 0, 1, 2)]
        if half_pixel_centers:
            weights = [w if 0 <= at < before else 0.0 for w, at in zip(weights, positions, strict=True)]
            total = sum(weights)
            weights = [weight / total for weight in weights] if abs(total) >= 1000 * 1.17549435e-38 else weights
        for weight, position in zip(weights, positions, strict=True):
            matrix[row, min(max(position, 0), before - 1)] += weight
    return matrix


def _cubic(x: float, a: float) -> float:
    if x <= 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a


def _filtered(
    before: int,
    after: int,
    scale: float,
    offset: float,
    radius: float,
    weight: Callable[[float], float],
    *,
    antialias: bool,
) -> npt.NDArray[Any]:
    """Weights of a filter around the place of each pixel, as wide as the pixel is in the image where it is reduced.

    Places are computed in float32, as TensorFlow does: its rounding decides which pixels lie at a filter's very edge.
    """
    matrix = np.zeros((after, before))
    inverse = _float32(1) / _float32(scale)
    width = max(inverse, _float32(1)) if antialias else _float32(1)
    reach, shift = _float32(radius) * width, inverse * _float32(offset)
    for row in range(after):
        place = _float32(row + 0.5) * inverse - shift
        if not 0 <= place <= before:
            continue
        first = min(max(math.ceil(place - reach - _float32(0.5)), 0), before - 1)
        last = min(max(math.floor(place + reach - _float32(0.5)), 0), before - 1)
        distances = [abs(_float32(at + 0.5) - place) * (_float32(1) / width) for at in range(first, last + 1)]
        weights = np.array([weight(float(distance)) for distance in distances])
        total = weights.sum()
        matrix[row, first : last + 1] = weights / total if abs(total) >= 1000 * 1.17549435e-38 else 0.0
    return matrix


def _float32(value: float) -> Any:
    return np.float32(value)


def _lanczos(radius: float) -> Callable[[float], float]:
    def weight(x: float) -> float:
        if x > radius:
            return 0.0
        return (
            1.0 if x <= 1e-3 else radius * math.sin(math.pi * x) * math.sin(math.pi * x / radius) / (math.pi * x) ** 2
        )

    return weight


def _gaussian(x: float) -> float:
    return math.exp(-(x**2) / (2 * 0.5**2)) if x < 1.5 else 0.0


def _box(x: float) -> float:
    return 1.0 if x < 0.5 else 0.5 if x == 0.5 else 0.0


def _keys(x: float) -> float:
    return _cubic(x, -0.5) if x < 2 else 0.0


def _mitchell(x: float) -> float:
    if x >= 2:
        return 0.0
    if x >= 1:
        return ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return (7 / 6 * x - 2) * x * x + 8 / 9


# The radius of each filter, and its weight at a distance.
_FILTERS: dict[str, tuple[float, Callable[[float], float]]] = {
    "box": (1.0, _box),
    "gaussian": (1.5, _gaussian),
    "keyscubic": (2.0, _keys),
    "lanczos1": (1.0, _lanczos(1.0)),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "mitchellcubic": (2.0, _mitchell),
    "triangle": (1.0, lambda x: max(1 - x, 0.0)),
}
