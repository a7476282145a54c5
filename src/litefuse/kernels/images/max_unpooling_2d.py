"""``MaxUnpooling2D``: values put back at the positions that maximum pooling took them from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.dtypes import REAL
from litefuse.kernels.index import pack_kernel
from litefuse.runtime.custom_op import CustomOp, TensorSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litefuse.runtime.outputs import Outputs

__all__ = ["MaxUnpooling2D"]

_PARAMETERS_SIZE = 40


@pack_kernel("MaxUnpooling2D", native=True)
class MaxUnpooling2D(CustomOp):
    """The inverse of ``MaxPoolWithArgmax``, as ``tfa.layers.MaxUnpooling2D`` of TensorFlow Addons defines it.

    Inputs: ``updates`` [batch, in_rows, in_cols, depth] of any real dtype; ``mask``, of the same shape, int32 or int64:
    for each value its position in the output image, ``(row * out_cols + col) * depth + channel``, without the batch.

    Output: [batch, out_rows, out_cols, depth] of the values' dtype: each value at the row and column of its position,
    in its own channel; values at the same position are added, and all others are zero. With SAME padding ``out`` is
    ``in * stride``, with VALID ``(in - 1) * stride + pool_size``.

    Options: ``pool_size`` and ``strides``, each [rows, cols]; ``padding``, SAME or VALID. Or LiteRT's C struct
    ``TfLitePoolParams`` as TFLiteConverter writes it, ten int32: padding (1 SAME, 2 VALID), strides of columns and of
    rows, pool size of columns and of rows, and five that are ignored.

    Source: the documentation of TensorFlow Addons,
    https://www.tensorflow.org/addons/api_docs/python/tfa/layers/MaxUnpooling2D.
    """

    dtypes = REAL

    @classmethod
    def decode_options(cls, data: bytes) -> dict[str, Any]:
        """Decodes either form; a flexbuffer ends with a width, which is not 0."""
        if len(data) != _PARAMETERS_SIZE or data[-1] != 0:
            return super().decode_options(data)
        padding, stride_cols, stride_rows, pool_cols, pool_rows = np.frombuffer(data, "<i4", 5).tolist()
        return {
            "padding": {1: "SAME", 2: "VALID"}.get(padding, f"number {padding}"),
            "strides": [stride_rows, stride_cols],
            "pool_size": [pool_rows, pool_cols],
        }

    def prepare(
        self,
        updates: TensorSpec,
        mask: TensorSpec,
        *,
        pool_size: Sequence[int],
        strides: Sequence[int],
        padding: str | bytes,
    ) -> TensorSpec:
        """Computes the size of the image.

        Raises:
            KernelError: An input has a wrong shape or dtype, or an option is invalid.
        """
        if updates.shape is None or len(updates.shape) != 4:
            raise KernelError(f"updates must be [batch, rows, cols, depth], not {updates.shape}")
        if updates.dtype.kind not in "iuf" and updates.dtype.name != "bfloat16":
            raise KernelError(f"updates must be real numbers, not {updates.dtype}")
        if mask.shape != updates.shape or mask.dtype.name not in {"int32", "int64"}:
            raise KernelError(
                f"mask must be int32 or int64 {list(updates.shape)} like updates, not {mask.dtype} {mask.shape}"
            )
        for name, value in (("pool_size", pool_size), ("strides", strides)):
            if len(value) != 2 or min(value) < 1:
                raise KernelError(f"{name} must be [rows, cols] with positive numbers, not {list(value)}")
        if padding in {"SAME", b"SAME"}:
            sizes = [size * stride for size, stride in zip(updates.shape[1:3], strides, strict=True)]
        elif padding in {"VALID", b"VALID"}:
            sizes = [
                max((size - 1) * stride + pool, 0)
                for size, stride, pool in zip(updates.shape[1:3], strides, pool_size, strict=True)
            ]
        else:
            raise KernelError(f"padding must be SAME or VALID, not {padding!r}")
        return TensorSpec((updates.shape[0], *sizes, updates.shape[3]), updates.dtype)

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
        """Adds each value at its position.

        Raises:
            KernelError: A position is outside the image.
        """
        updates, mask = inputs
        images: Any = outputs[0]
        batch, rows, cols, depth = map(int, images.shape)
        outside = (mask < 0) | (mask >= rows * cols * depth)
        if outside.any():
            raise KernelError(
                f"mask holds {mask[outside][0]}, which lies outside of an image of {rows} x {cols} x {depth}",
                hint="Positions are within one image; include_batch_in_index must be false.",
            )
        images[...] = 0
        if updates.size:
            first = np.arange(batch) * (rows * cols)
            pixel: Any = mask // depth + first[:, np.newaxis, np.newaxis, np.newaxis]
            np.add.at(images.reshape(-1, depth), (pixel, np.arange(depth)), updates)
