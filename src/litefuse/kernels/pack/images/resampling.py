"""Images resampled: ``CropAndResize``, ``DenseImageWarp`` and ``TransformTensorBilinear``."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.images.landmarks import check_matrices
from litefuse.kernels.pack.supported import REAL, Arrays
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs

_Floats = npt.NDArray[np.float32]


@pack_kernel("CropAndResize", native=True)
class CropAndResize(CustomOp):
    """TensorFlow's op of the same name (``tf.image.crop_and_resize``).

    Inputs: ``image`` [batch, rows, cols, depth], of any real dtype; ``boxes`` [n, 4] float32, each the corners
    (y1, x1, y2, x2) in units of the image's size minus one, in any order, possibly outside the image; ``box_ind`` [n]
    int32, the index of each box's image; ``crop_size`` [2] int32, rows and columns.

    Output: [n, crop_rows, crop_cols, depth] float32: the image sampled at evenly spaced positions from one corner to
    the other, both included; at the middle along a dimension of size 1. Its shape is known once ``crop_size`` is.

    Options: ``method``, bilinear (if missing) or nearest; ``extrapolation_value``, 0 if missing, for positions outside
    the image.

    Source: the definition of the op in TensorFlow (``image_ops.cc``, ``crop_and_resize_op.cc``).
    """

    dtypes = REAL

    def prepare(
        self,
        image: TensorSpec,
        boxes: TensorSpec,
        box_ind: TensorSpec,
        crop_size: TensorSpec,
        *,
        method: str | bytes = "bilinear",
    ) -> TensorSpec:
        if image.shape is None or len(image.shape) != 4 or min(image.shape[1:3]) < 1:
            raise KernelError(f"image must be [batch, rows, cols, depth] with rows and columns, not {image.shape}")
        if image.dtype.kind not in "iuf" and image.dtype.name != "bfloat16":
            raise KernelError(f"image must be of real numbers, not {image.dtype}")
        if boxes.shape is None or len(boxes.shape) != 2 or boxes.shape[1] != 4 or boxes.dtype != np.float32:
            raise KernelError(f"boxes must be float32 [n, 4], not {boxes.dtype} {boxes.shape}")
        if box_ind.shape != boxes.shape[:1] or box_ind.dtype != np.int32:
            raise KernelError(f"box_ind must be int32 [{boxes.shape[0]}], not {box_ind.dtype} {box_ind.shape}")
        if crop_size.shape != (2,) or crop_size.dtype != np.int32:
            raise KernelError(f"crop_size must be int32 [2], not {crop_size.dtype} {crop_size.shape}")
        if method not in {"bilinear", "nearest", b"bilinear", b"nearest"}:
            raise KernelError(f"method must be bilinear or nearest, not {method!r}")
        if crop_size.value is None:
            return TensorSpec(None, np.float32)
        return TensorSpec((boxes.shape[0], *_sizes(crop_size.value), image.shape[3]), np.float32)

    def invoke(
        self, inputs: Arrays, outputs: Outputs, *, method: str | bytes = "bilinear", extrapolation_value: float = 0.0
    ) -> None:
        """Samples the pixels of all boxes at once.

        Raises:
            KernelError: A crop size is not positive or too large, a box is not finite, or ``box_ind`` is out of range.
        """
        image, boxes, box_ind, crop_size = inputs
        _, rows, cols, _ = image.shape
        crop_rows, crop_cols = _sizes(crop_size)
        shape = (len(boxes), crop_rows, crop_cols, image.shape[3])
        if math.prod(shape) * np.dtype(np.float32).itemsize > sys.maxsize:
            raise KernelError(f"the output would be of the shape {list(shape)}, which does not fit in memory")
        wrong = (box_ind < 0) | (box_ind >= len(image))
        if wrong.any():
            raise KernelError(f"box_ind holds {box_ind[wrong][0]}, and there are {len(image)} images")
        if not np.isfinite(boxes).all():
            raise KernelError(f"boxes must be finite, and hold {boxes[~np.isfinite(boxes)][0]}")
        with np.errstate(invalid="ignore", over="ignore"):
            y, y_inside = _positions(boxes[:, 0], boxes[:, 2], rows, crop_rows)
            x, x_inside = _positions(boxes[:, 1], boxes[:, 3], cols, crop_cols)
            place = box_ind[:, np.newaxis, np.newaxis]

            def pixels(row: npt.NDArray[np.intp], col: npt.NDArray[np.intp]) -> Any:
                return image[place, row[:, :, np.newaxis], col[:, np.newaxis, :]].astype(np.float32)

            if method in {"nearest", b"nearest"}:
                crops = pixels(_rounded(y), _rounded(x))
            else:
                top, bottom, down = _between(y)
                left, right, along = _between(x)
                along = along[:, np.newaxis, :, np.newaxis]
                upper, lower = (
                    first + (pixels(row, right) - first) * along
                    for row, first in ((row, pixels(row, left)) for row in (top, bottom))
                )
                crops = upper + (lower - upper) * down[:, :, np.newaxis, np.newaxis]
        inside = y_inside[:, :, np.newaxis, np.newaxis] & x_inside[:, np.newaxis, :, np.newaxis]
        outputs[0] = np.where(inside, crops, np.float32(extrapolation_value))


def _sizes(crop_size: npt.NDArray[Any]) -> tuple[int, int]:
    rows, cols = crop_size.tolist()
    if rows < 1 or cols < 1:
        raise KernelError(f"crop_size must be positive, not {[rows, cols]}")
    return rows, cols


def _positions(first: Any, last: Any, size: int, count: int) -> tuple[_Floats, npt.NDArray[np.bool_]]:
    """Returns the sampled positions in each box's image, [n, count], 0 if outside; and which of them are inside."""
    end = np.float32(size - 1)
    positions: Any
    if count > 1:
        scale: Any = (last - first) * end / np.float32(count - 1)
        positions = (first * end)[:, np.newaxis] + np.outer(scale, np.arange(count, dtype=np.float32))
    else:
        positions = ((first + last) / 2 * end)[:, np.newaxis]
    inside: Any = (positions >= 0) & (positions <= end)
    return np.where(inside, positions, np.float32(0)), inside


def _between(positions: _Floats) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], _Floats]:
    """Returns the pixels before and after each position, and the fraction of the way between them."""
    floor = np.floor(positions)
    return floor.astype(np.intp), np.ceil(positions).astype(np.intp), positions - floor


def _rounded(positions: _Floats) -> npt.NDArray[np.intp]:
    """Returns the nearest pixel, with halves rounded up; in float32 the sum itself would be rounded."""
    return np.floor(positions.astype(np.float64) + 0.5).astype(np.intp)


_DTYPES = frozenset({"float16", "float32", "float64"})


@pack_kernel("DenseImageWarp", native=True)
class DenseImageWarp(CustomOp):
    """``tfa.image.dense_image_warp`` of TensorFlow Addons.

    Inputs: ``image`` [batch, rows, cols, depth], with at least 2 rows and columns; ``flow`` [batch, rows, cols, 2].
    Each is float16, float32 or float64; the two dtypes may differ.

    Output: [batch, rows, cols, depth] of the image's dtype: at [b, y, x] the image at row ``y - flow[b, y, x, 0]`` and
    column ``x - flow[b, y, x, 1]``, bilinearly interpolated. Positions outside the image take the nearest border pixel.
    A NaN in the flow gives NaN.

    Source: the documentation of TensorFlow Addons,
    https://www.tensorflow.org/addons/api_docs/python/tfa/image/dense_image_warp.
    """

    dtypes = ("float16", "float32", "float64")

    def prepare(self, image: TensorSpec, flow: TensorSpec) -> TensorSpec:
        for name, spec in (("image", image), ("flow", flow)):
            if spec.dtype.name not in _DTYPES:
                raise KernelError(f"{name} must be float16, float32 or float64, not {spec.dtype}")
        if image.shape is None or len(image.shape) != 4 or min(image.shape[1:3]) < 2:
            raise KernelError(
                f"image must be [batch, rows, cols, depth] with 2 rows and columns or more, not {image.shape}"
            )
        if flow.shape != (*image.shape[:3], 2):
            raise KernelError(
                f"flow must be {[*image.shape[:3], 2]} for an image of {list(image.shape)}, not {flow.shape}"
            )
        return TensorSpec(image.shape, image.dtype)

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        """Interpolates along the columns, then along the rows."""
        image, flow = inputs
        _, rows, cols, _ = image.shape
        place = np.arange(len(image))[:, np.newaxis, np.newaxis]
        with np.errstate(invalid="ignore", over="ignore"):
            top, down = _split(np.arange(rows, dtype=flow.dtype).reshape(rows, 1) - flow[..., 0], rows, image.dtype)
            left, right = _split(np.arange(cols, dtype=flow.dtype) - flow[..., 1], cols, image.dtype)
            upper, lower = (
                _interpolated(image[place, y, left], image[place, y, left + 1], right) for y in (top, top + 1)
            )
            outputs[0][...] = _interpolated(upper, lower, down)


def _split(queries: npt.NDArray[Any], size: int, dtype: np.dtype[Any]) -> tuple[npt.NDArray[np.intp], npt.NDArray[Any]]:
    """Splits positions into the pixel below, which always has a next one, and the fraction of the way to that."""
    # float16 cannot represent the positions of a large image.
    floor = np.clip(np.floor(queries).astype(np.float64), 0, size - 2)
    part = np.clip((queries - floor).astype(dtype), 0, 1)
    return np.nan_to_num(floor).astype(np.intp), part[..., np.newaxis]


def _interpolated(first: npt.NDArray[Any], second: npt.NDArray[Any], part: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return part * (second - first) + first


@pack_kernel("TransformTensorBilinear", native=True)
class TransformTensorBilinear(CustomOp):
    """MediaPipe's op of this name, which crops what is around landmarks.

    Inputs, float32: images [batch, in_rows, in_cols, depth]; a matrix of 16 numbers, such as that of
    ``Landmarks2TransformMatrix``, or one for each image, whose first two rows give x and y in the image for (x, y, 0,
    1) of the result.

    Output: float32 [batch, out_rows, out_cols, depth], interpolated between the four pixels around each place; zero
    where that is outside of the image.

    Options: ``output_size`` ([rows, cols]; version 1, in which a pixel's place is its center, and which may say
    ``mode``, ``bilinear``); or ``output_height`` and ``output_width`` (version 2, in which the matrix is meant for the
    corners of pixels, and is moved by half a pixel).

    Source: MediaPipe, ``mediapipe/util/tflite/operations/transform_tensor_bilinear.cc``, which takes a batch of 1.
    """

    dtypes = ("float32",)

    def prepare(
        self,
        images: TensorSpec,
        matrix: TensorSpec,
        *,
        output_size: Sequence[int] | None = None,
        mode: str = "bilinear",
        output_height: int | None = None,
        output_width: int | None = None,
    ) -> TensorSpec:
        """Checks the options, which tell the version."""
        if images.shape is None or len(images.shape) != 4 or images.dtype != np.float32:
            raise KernelError(f"images must be float32 of rank 4, not {images.dtype} {images.shape}")
        check_matrices(matrix, images.shape[0])
        self._from_corners = output_size is None
        size = [output_height, output_width] if output_size is None else list(output_size)
        if len(size) != 2 or not all(isinstance(n, int) and n > 0 for n in size):
            raise KernelError(
                f"output_size, or output_height and output_width, must be two positive numbers, not {size}"
            )
        if mode != "bilinear":
            raise KernelError(f"mode must be 'bilinear', not {mode!r}")
        return TensorSpec((images.shape[0], size[0] or 0, size[1] or 0, images.shape[3]), np.float32)

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        """Interpolates each image at the places of its matrix."""
        images, matrices = inputs[0], inputs[1].reshape(-1, 4, 4)
        _, rows, cols, _ = outputs[0].shape
        y, x = (index.astype(np.float32) for index in np.indices((rows, cols)))
        for number, image in enumerate(images):
            matrix = matrices[number if len(matrices) > 1 else 0]
            with np.errstate(all="ignore"):
                outputs[0][number] = self._seen(image, *(self._places(row, x, y) for row in matrix[:2]))

    def _places(self, row: npt.NDArray[Any], x: npt.NDArray[Any], y: npt.NDArray[Any]) -> npt.NDArray[Any]:
        last = row[3]
        if self._from_corners:
            a, b, *_, d = row.astype(np.float64)
            last = np.float32(d + (a * 0.5 + b * 0.5 - 0.5))
        return (row[0] * x + row[1] * y) + last

    @staticmethod
    def _seen(image: npt.NDArray[Any], x: npt.NDArray[Any], y: npt.NDArray[Any]) -> npt.NDArray[Any]:
        rows, cols, depth = image.shape
        inside = (x >= 0) & (x <= cols - 1) & (y >= 0) & (y <= rows - 1)
        if not inside.any():
            return np.zeros((*x.shape, depth), np.float32)
        x, y = (np.where(inside, places, 0).astype(np.float64) for places in (x, y))
        left, top = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
        right, bottom = np.minimum(left + 1, cols - 1), np.minimum(top + 1, rows - 1)
        across, down = (x - left)[..., np.newaxis], (y - top)[..., np.newaxis]
        upper = (1 - across) * image[top, left] + across * image[top, right]
        lower = (1 - across) * image[bottom, left] + across * image[bottom, right]
        return np.where(inside[..., np.newaxis], down * lower + (1 - down) * upper, 0).astype(np.float32)
