"""``MaxPoolingWithArgmax2D``: maximum pooling of images that also returns the place of each maximum in its window."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.images.c_structs import pool_options
from litefuse.kernels.pack.images.pooling_windows import pooling_windows
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["MaxPoolingWithArgmax2D"]

_LIMITS = {"NONE": (-np.inf, np.inf), "RELU": (0, np.inf), "RELU_N1_TO_1": (-1, 1), "RELU6": (0, 6)}
# Added to each place, so that an inexact conversion back to integers gives the same.
_MARGIN = np.float32(0.1)


@pack_kernel("MaxPoolingWithArgmax2D", native=True)
class MaxPoolingWithArgmax2D(CustomOp):
    """MediaPipe's op of this name, the first half of its encoders; ``MaxUnpooling2D`` is the second.

    Input: images [batch, in_rows, in_cols, depth], float32.

    Outputs, float32 [batch, out_rows, out_cols, depth]: the maxima; and where in its window each is,
    ``row * pool_cols + col + 0.1``, windows beginning outside of the image included. Of equal maxima, the first in
    row-major order is taken. A NaN is a maximum only if it is the first element of its window.

    Options: ``pool_size`` and ``strides``, each [rows, cols]; ``padding``, SAME or VALID; ``activation`` of the maxima,
    NONE if missing, RELU, RELU_N1_TO_1 or RELU6. Or LiteRT's C struct ``TfLitePoolParams``, as MediaPipe's models have
    it and as LiteRT's delegates read it.

    Source: MediaPipe, ``mediapipe/util/tflite/operations/max_pool_argmax.cc``. XNNPACK, which runs the op too, writes
    the bits of an integer into the second output.
    """

    dtypes = ("float32",)

    @classmethod
    def decode_options(cls, data: bytes) -> dict[str, Any]:
        """Decodes either form."""
        return pool_options(data) or super().decode_options(data)

    def prepare(
        self,
        images: TensorSpec,
        *,
        pool_size: Sequence[int],
        strides: Sequence[int],
        padding: str | bytes,
        activation: str = "NONE",
    ) -> list[TensorSpec]:
        """Computes the positions of the windows.

        Raises:
            KernelError: The input is not a batch of images of float32, an option is invalid, or no window fits.
        """
        if images.shape is None or len(images.shape) != 4:
            raise KernelError(f"input must be [batch, rows, cols, depth], not {images.shape}")
        if images.dtype != np.float32:
            raise KernelError(f"input must be float32, not {images.dtype}")
        for name, value in (("pool_size", pool_size), ("strides", strides)):
            if len(value) != 2 or min(value) < 1:
                raise KernelError(f"{name} must be [rows, cols] with positive numbers, not {list(value)}")
        if activation not in _LIMITS:
            raise KernelError(f"activation must be one of {', '.join(_LIMITS)}, not {activation!r}")
        self._rows, self._cols = pooling_windows(
            images.shape, (1, 2), ksize=[1, *pool_size, 1], strides=[1, *strides, 1], padding=padding
        )
        shape = (images.shape[0], self._rows.out, self._cols.out, images.shape[3])
        return [TensorSpec(shape, np.float32), TensorSpec(shape, np.float32)]

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, activation: str = "NONE") -> None:
        """Iterates over the positions in a window, for all windows at once."""
        images, best = inputs[0], outputs[0]
        place = np.full(best.shape, -1)
        for row, col in itertools.product(range(self._rows.ksize), range(self._cols.ksize)):
            (to_rows, from_rows), (to_cols, from_cols) = self._rows.at(row), self._cols.at(col)
            to, at = (slice(None), to_rows, to_cols), (slice(None), from_rows, from_cols)
            with np.errstate(invalid="ignore"):
                better = (place[to] < 0) | (best[to] < images[at])
            np.copyto(best[to], images[at], where=better)
            np.copyto(place[to], row * self._cols.ksize + col, where=better)
        if activation != "NONE":
            np.clip(best, *_LIMITS[activation], out=best)
        outputs[1][...] = place.astype(np.float32) + _MARGIN
