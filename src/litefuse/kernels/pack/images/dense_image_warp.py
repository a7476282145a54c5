"""``DenseImageWarp``: images resampled along a field of flow vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel

if TYPE_CHECKING:
    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["DenseImageWarp"]

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
        """Checks the inputs.

        Raises:
            KernelError: An input has a wrong shape or dtype.
        """
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

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
        """Interpolates along the columns, then along the rows."""
        image, flow = inputs
        _, rows, cols, _ = image.shape
        place = np.arange(len(image))[:, np.newaxis, np.newaxis]
        with np.errstate(invalid="ignore", over="ignore"):
            top, down = _split(np.arange(rows, dtype=flow.dtype).reshape(rows, 1) - flow[..., 0], rows, image.dtype)
            left, right = _split(np.arange(cols, dtype=flow.dtype) - flow[..., 1], cols, image.dtype)
            upper, lower = (_between(image[place, y, left], image[place, y, left + 1], right) for y in (top, top + 1))
            outputs[0][...] = _between(upper, lower, down)


def _split(queries: npt.NDArray[Any], size: int, dtype: np.dtype[Any]) -> tuple[npt.NDArray[np.intp], npt.NDArray[Any]]:
    """Splits positions into the pixel below, which always has a next one, and the fraction of the way to that."""
    # float16 cannot represent the positions of a large image.
    floor = np.clip(np.floor(queries).astype(np.float64), 0, size - 2)
    part = np.clip((queries - floor).astype(dtype), 0, 1)
    return np.nan_to_num(floor).astype(np.intp), part[..., np.newaxis]


def _between(first: npt.NDArray[Any], second: npt.NDArray[Any], part: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return part * (second - first) + first
