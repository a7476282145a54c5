"""Resizing of images: of integers, and by filters that LiteRT lacks, as products with the matrix of each dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp
from litefuse.decompositions.resizing_weights import FILTERS, area, bicubic, bilinear, filtered, nearest, scale

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder
    from litefuse.engine.mlir import ir

__all__ = ["ResizeByMatrix", "ResizeGradient", "ResizeIntegers", "ScaleAndTranslate"]


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
            step = scale(before, after, align_corners=corners)
            if op.name == "ResizeArea":
                matrix = area(before, after, step)
            else:
                matrix = bicubic(before, after, step, half_pixel_centers=centers)
            images = _multiplied(b, images, axis, matrix)
        return images


class ResizeGradient(Decomposition):
    """The transposed matrices of the resizing times the gradient; the sizes must be known.

    Definition: tensorflow/core/kernels/image, resize_bilinear_op.cc, resize_nearest_neighbor_op.cc.
    """

    names = ("ResizeBicubicGrad", "ResizeBilinearGrad", "ResizeNearestNeighborGrad")

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        corners = bool(op.attributes.get("align_corners", False))
        centers = bool(op.attributes.get("half_pixel_centers", False))
        after = op.shape(0, 4)[1:3]
        if op.name == "ResizeNearestNeighborGrad":
            before: list[int | None] = op.constant(1).reshape(-1).tolist()
        else:
            before = list(op.shape(1, 4)[1:3])
        gradient = b.cast(op.operands[0], "float32")
        for axis, (small, large) in enumerate(zip(before, after, strict=True), start=1):
            if small is None or large is None:
                raise NotDecomposed("the images' size is unknown")
            if op.name == "ResizeNearestNeighborGrad":
                matrix = nearest(small, large, align_corners=corners, half_pixel_centers=centers)
            elif op.name == "ResizeBilinearGrad":
                matrix = bilinear(small, large, align_corners=corners, half_pixel_centers=centers)
            else:
                step = scale(small, large, align_corners=corners)
                matrix = bicubic(small, large, step, half_pixel_centers=centers)
            gradient = _multiplied(b, gradient, axis, np.transpose(matrix))
        return b.cast(gradient, op.results[0].dtype)


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
        if kind not in FILTERS:
            raise NotDecomposed(f"the filter {kind!r} is not known")
        antialias = bool(op.attributes.get("antialias", True))
        images = b.cast(op.operands[0], "float32")
        sizes, scales, offsets = (op.constant(operand).reshape(-1).tolist() for operand in (1, 2, 3))
        for axis, before in enumerate((rows, columns)):
            matrix = filtered(before, sizes[axis], scales[axis], offsets[axis], *FILTERS[kind], antialias=antialias)
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
