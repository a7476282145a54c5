"""``TransformTensorBilinear``: images seen through an affine transformation, with bilinear interpolation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.images.landmarks import check_matrices
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["TransformTensorBilinear"]


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
        """Checks the options, which tell the version.

        Raises:
            KernelError: An input has a wrong shape or dtype, or an option is invalid.
        """
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

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
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
        x, y = (np.where(inside, each, 0).astype(np.float64) for each in (x, y))
        left, top = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
        right, bottom = np.minimum(left + 1, cols - 1), np.minimum(top + 1, rows - 1)
        across, down = (x - left)[..., np.newaxis], (y - top)[..., np.newaxis]
        upper = (1 - across) * image[top, left] + across * image[top, right]
        lower = (1 - across) * image[bottom, left] + across * image[bottom, right]
        return np.where(inside[..., np.newaxis], down * lower + (1 - down) * upper, 0).astype(np.float32)
