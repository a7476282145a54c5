"""Larger images: ``Convolution2DTransposeBias``, and ``MaxUnpooling2D``, the inverse of pooling."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from litefuse.errors import KernelError
from litefuse.kernels.pack.images.pooling import check_padding, check_pairs, pool_options, transpose_conv_options
from litefuse.kernels.pack.supported import REAL, Arrays
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs

_SMALLEST = np.finfo(np.float32).tiny


@pack_kernel("MaxUnpooling2D", native=True)
class MaxUnpooling2D(CustomOp):
    """Puts values where maximum pooling took them from: ``tfa.layers.MaxUnpooling2D``, or MediaPipe's op of this name.

    Inputs: ``updates`` [batch, in_rows, in_cols, depth] of any real dtype; ``mask``, of the same shape. Of int32 or
    int64, as of ``MaxPoolWithArgmax``, it has for each value its position in the output image,
    ``(row * out_cols + col) * depth + channel``, without the batch. Of float32, as of ``MaxPoolingWithArgmax2D``, it
    has the position in the value's window, ``row * pool_cols + col``, the fraction dropped; XNNPACK writes the bits of
    the integer into such a tensor, which are numbers so small that they can be told apart.

    Output: [batch, out_rows, out_cols, depth] of the values' dtype; what has no value is zero. With positions in the
    image, values at the same one are added, and ``out`` is ``in * stride`` with SAME padding, with VALID
    ``(in - 1) * stride + pool_size``. With positions in windows, ``out`` is ``in * pool_size``, the windows are
    ``stride`` apart, which is not more than their size, and of several values at one position the last counts.

    Options: ``pool_size`` and ``strides``, each [rows, cols]; ``padding``, SAME or VALID. Or LiteRT's C struct
    ``TfLitePoolParams``, as TFLiteConverter writes it and as LiteRT's delegates read it.

    Sources: the documentation of TensorFlow Addons,
    https://www.tensorflow.org/addons/api_docs/python/tfa/layers/MaxUnpooling2D; MediaPipe,
    ``mediapipe/util/tflite/operations/max_unpooling.cc``.
    """

    dtypes = REAL

    @classmethod
    def decode_options(cls, data: bytes) -> dict[str, Any]:
        return pool_options(data) or super().decode_options(data)

    def prepare(
        self,
        updates: TensorSpec,
        mask: TensorSpec,
        *,
        pool_size: Sequence[int],
        strides: Sequence[int],
        padding: str | bytes,
    ) -> TensorSpec:
        if updates.shape is None or len(updates.shape) != 4:
            raise KernelError(f"updates must be [batch, rows, cols, depth], not {updates.shape}")
        if updates.dtype.kind not in "iuf" and updates.dtype.name != "bfloat16":
            raise KernelError(f"updates must be real numbers, not {updates.dtype}")
        if mask.shape != updates.shape or mask.dtype.name not in {"int32", "int64", "float32"}:
            raise KernelError(
                f"mask must be int32, int64 or float32 {list(updates.shape)} like updates, not {mask.dtype} "
                f"{mask.shape}"
            )
        check_pairs(pool_size=pool_size, strides=strides)
        check_padding(padding)
        windows = list(zip(updates.shape[1:3], strides, pool_size, strict=True))
        self._windows: list[tuple[int, int]] = []
        if mask.dtype.name == "float32":
            if any(stride > pool for _, stride, pool in windows):
                raise KernelError(f"strides {list(strides)} are larger than pool_size {list(pool_size)}")
            self._windows = [(stride, pool) for _, stride, pool in windows]
            sizes = [size * pool for size, _, pool in windows]
        elif padding in {"SAME", b"SAME"}:
            sizes = [size * stride for size, stride, _ in windows]
        else:
            sizes = [max((size - 1) * stride + pool, 0) for size, stride, pool in windows]
        return TensorSpec((updates.shape[0], *sizes, updates.shape[3]), updates.dtype)

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        updates, mask = inputs
        images: Any = outputs[0]
        batch, rows, cols, depth = map(int, images.shape)
        images[...] = 0
        if self._windows:
            pixel = self._pixels(mask, cols)
        else:
            outside = (mask < 0) | (mask >= rows * cols * depth)
            if outside.any():
                raise KernelError(
                    f"mask holds {mask[outside][0]}, which lies outside of an image of {rows} x {cols} x {depth}",
                    hint="Positions are within one image; include_batch_in_index must be false.",
                )
            pixel = mask // max(depth, 1)
        if not updates.size:
            return
        first = np.arange(batch) * (rows * cols)
        places = (pixel + first[:, np.newaxis, np.newaxis, np.newaxis], np.arange(depth))
        if self._windows:
            images.reshape(-1, depth)[places] = updates  # the last of several
        else:
            np.add.at(images.reshape(-1, depth), places, updates)

    def _pixels(self, mask: Any, cols: int) -> Any:
        """Returns where the values are in the image, of their positions in windows."""
        (row_stride, pool_rows), (col_stride, pool_cols) = self._windows
        with np.errstate(invalid="ignore"):
            bits = np.abs(mask) < _SMALLEST
            inside = bits | ((mask > -1) & (mask < pool_rows * pool_cols))
        at: Any = np.where(bits, mask.view(np.uint32), np.trunc(np.where(inside & ~bits, mask, 0))).astype(np.int64)
        outside = ~inside | (at >= pool_rows * pool_cols)
        if outside.any():
            raise KernelError(
                f"mask holds {mask[outside][0]:g}, which lies outside of a window of {pool_rows} x {pool_cols}"
            )
        first: Any = np.arange(int(mask.shape[1]))[:, np.newaxis, np.newaxis] * row_stride
        left: Any = np.arange(int(mask.shape[2]))[:, np.newaxis] * col_stride
        return (first + at // pool_cols) * cols + left + at % pool_cols


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
