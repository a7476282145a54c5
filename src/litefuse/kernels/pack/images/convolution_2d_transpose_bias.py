"""``Convolution2DTransposeBias``: a transposed convolution of images, and a bias."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from litefuse.errors import KernelError
from litefuse.kernels.pack.images.image_options import check_padding, check_pairs, transpose_conv_options
from litefuse.kernels.pack.supported import Arrays
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs


@pack_kernel("Convolution2DTransposeBias", native=True)
class Convolution2DTransposeBias(CustomOp):
    """MediaPipe's op of this name, with which its decoders enlarge images.

    Inputs, float32: images [batch, in_rows, in_cols, in_depth]; weights [out_depth, rows, cols, in_depth]; bias
    [out_depth].

    Output: float32 [batch, out_rows, out_cols, out_depth], the bias and, for each pixel of the input, the products with
    the weights, ``stride`` apart. ``out`` is ``(in - 1) * stride + size`` with VALID padding. With SAME padding, as
    many as ``max(size - 1 - (in - 1) % stride, 0)`` rows or columns are left out, half of them, rounded down, in front.

    Options: ``padding``, SAME or VALID; ``strides``, [rows, cols]. Or LiteRT's C struct ``TfLiteTransposeConvParams``,
    as MediaPipe's models have it and as LiteRT's delegates read it.

    Source: MediaPipe, ``mediapipe/util/tflite/operations/transpose_conv_bias.cc``.
    """

    dtypes = ("float32",)

    @classmethod
    def decode_options(cls, data: bytes) -> dict[str, Any]:
        return transpose_conv_options(data) or super().decode_options(data)

    def prepare(
        self, images: TensorSpec, weights: TensorSpec, bias: TensorSpec, *, padding: str | bytes, strides: Sequence[int]
    ) -> TensorSpec:
        for name, spec, rank in (("input", images, 4), ("weights", weights, 4), ("bias", bias, 1)):
            if spec.shape is None or len(spec.shape) != rank or spec.dtype != np.float32:
                raise KernelError(f"{name} must be float32 of rank {rank}, not {spec.dtype} {spec.shape}")
        assert images.shape is not None
        assert weights.shape is not None
        if weights.shape[3] != images.shape[3] or bias.shape != weights.shape[:1]:
            raise KernelError(
                f"weights are {list(weights.shape)} and bias {bias.shape}; of images {list(images.shape)}, they must "
                f"be [out_depth, rows, cols, {images.shape[3]}] and [out_depth]"
            )
        check_pairs(strides=strides)
        check_padding(padding)
        self._strides = tuple(map(int, strides))
        sizes: list[int] = []
        before: list[int] = []
        for size, stride, window in zip(images.shape[1:3], self._strides, weights.shape[1:3], strict=True):
            padded = max(window - 1 - (size - 1) % stride, 0) if padding in {"SAME", b"SAME"} else 0
            sizes.append(max((size - 1) * stride + window - padded, 0))
            before.append(padded // 2)
        self._before = tuple(before)
        return TensorSpec((images.shape[0], *sizes, weights.shape[0]), np.float32)

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        """Adds the products with each of the weights, for all pixels at once."""
        images, weights, bias = inputs
        result: Any = outputs[0]
        result[...] = bias
        for row, col in itertools.product(range(weights.shape[1]), range(weights.shape[2])):
            (to_rows, from_rows), (to_cols, from_cols) = (
                _reached(images.shape[axis + 1], result.shape[axis + 1], stride, offset - before)
                for axis, (stride, offset, before) in enumerate(
                    zip(self._strides, (row, col), self._before, strict=True)
                )
            )
            result[:, to_rows, to_cols] += images[:, from_rows, from_cols] @ weights[:, row, col].T


def _reached(size: int, out: int, stride: int, offset: int) -> tuple[slice, slice]:
    """Returns the places of the result that pixels reach with one of the weights, and these pixels."""
    first = max(0, -(offset // stride))
    end = max(first, min(size, (out - 1 - offset) // stride + 1))
    begin = first * stride + offset
    return slice(begin, begin + (end - first) * stride, stride), slice(first, end)
