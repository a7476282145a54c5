"""``CropAndResize``: boxes cropped from images and resized to one size."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.supported import REAL
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel

if TYPE_CHECKING:
    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["CropAndResize"]

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
        """Checks the inputs.

        Raises:
            KernelError: An input has a wrong shape or dtype, or an option is invalid.
        """
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
        self,
        inputs: tuple[npt.NDArray[Any], ...],
        outputs: Outputs,
        *,
        method: str | bytes = "bilinear",
        extrapolation_value: float = 0.0,
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
            raise KernelError(f"the output would be of the shape {list(shape)}, for which there is no memory")
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
