"""``ExtractImagePatches``: the patches around each position of an image, laid out as channels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from litefuse.errors import KernelError
from litefuse.kernels.pack.supported import ANY, Arrays
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs


@pack_kernel("ExtractImagePatches", native=True)
class ExtractImagePatches(CustomOp):
    """TensorFlow's op of the same name (``tf.image.extract_patches``).

    Input: ``images`` [batch, in_rows, in_cols, depth], of any dtype.

    Output: [batch, out_rows, out_cols, ksize_rows * ksize_cols * depth] of the same dtype: at [b, y, x] the pixels at
    rows ``y * stride_rows + r * rate_rows - pad_top`` and columns ``x * stride_cols + c * rate_cols - pad_left``, for
    each r and each c, with c innermost, and zeros outside the image,
    which are the zero point if the image is quantized; the scales of both are the same then.

    Options: ``ksizes``, ``strides`` and ``rates``, each [1, rows, cols, 1]; ``padding``, VALID or SAME. Sizes and
    padding are those of TensorFlow's convolutions, with the kernel size ``ksize + (ksize - 1) * (rate - 1)``.

    Source: the definition of the op in TensorFlow (``array_ops.cc``, ``extract_image_patches_op.cc``).
    """

    dtypes = ANY
    quantized_dtypes: ClassVar[tuple[str, ...]] = ("int8", "int16")
    same_scales: ClassVar[Mapping[int, int]] = {0: 0}

    def prepare(
        self,
        images: TensorSpec,
        *,
        ksizes: Sequence[int],
        strides: Sequence[int],
        rates: Sequence[int],
        padding: str | bytes,
    ) -> TensorSpec:
        if images.shape is None or len(images.shape) != 4:
            raise KernelError(f"images must be [batch, rows, cols, depth], not {images.shape}")
        sizes = [_rows_and_cols(name, value) for name, value in zip(_SIZES, (ksizes, strides, rates), strict=True)]
        batch, in_rows, in_cols, depth = images.shape
        self._rows, self._cols = (
            _Axis.of(size, *(pair[axis] for pair in sizes), padding=padding)
            for axis, size in enumerate((in_rows, in_cols))
        )
        scale = images.quantization
        self._zero: Any = 0 if scale is None else scale.quantize(np.zeros(()), images.dtype)
        channels = self._rows.ksize * self._cols.ksize * depth
        return TensorSpec((batch, self._rows.out, self._cols.out, channels), images.dtype)

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        """Copies all patches at once from a strided view."""
        images: Any = inputs[0]
        patches: Any = outputs[0]
        if not patches.size:
            return
        rows, cols = self._rows, self._cols
        if rows.padded or cols.padded:
            # This copy is small compared to the result, which can then be written once and in order.
            size = (len(images), rows.extent, cols.extent, images.shape[3])
            padded: Any = np.full(size, self._zero, images.dtype)
            inner = padded[:, rows.before : rows.before + rows.size, cols.before : cols.before + cols.size]
            inner[...] = images[:, : inner.shape[1], : inner.shape[2]]
            images = padded
        of_batch, of_row, of_col, of_channel = images.strides
        windows = np.lib.stride_tricks.as_strided(
            images,
            (len(images), rows.out, cols.out, rows.ksize, cols.ksize, images.shape[3]),
            (of_batch, of_row * rows.stride, of_col * cols.stride, of_row * rows.rate, of_col * cols.rate, of_channel),
            writeable=False,
        )
        patches.reshape(windows.shape)[...] = windows


_SIZES = ("ksizes", "strides", "rates")


@dataclass(frozen=True)
class _Axis:
    """The patches along the rows or the columns.

    Attributes:
        size: The size of the image.
        ksize: The number of positions in a patch.
        stride: The distance between patches.
        rate: The distance between the positions in a patch.
        out: The number of patches.
        before: The padding before the image.
    """

    size: int
    ksize: int
    stride: int
    rate: int
    out: int
    before: int

    @classmethod
    def of(cls, size: int, ksize: int, stride: int, rate: int, *, padding: str | bytes) -> _Axis:
        effective = ksize + (ksize - 1) * (rate - 1)
        match padding:
            case "SAME" | b"SAME":
                out = -(-size // stride)
                before = max((out - 1) * stride + effective - size, 0) // 2
            case "VALID" | b"VALID":
                # As in C, the division truncates.
                out = int((size - effective + stride) / stride)
                before = 0
            case _:
                raise KernelError(f"padding must be SAME or VALID, not {padding!r}")
        if out < 0:
            raise KernelError(f"a patch of {effective} positions does not fit into {size}, and padding is VALID")
        return cls(size, ksize, stride, rate, out, before)

    @property
    def extent(self) -> int:
        """The number of positions from the first one of the first patch to the last one of the last patch."""
        return (self.out - 1) * self.stride + (self.ksize - 1) * self.rate + 1

    @property
    def padded(self) -> bool:
        """Whether a patch reaches beyond the image."""
        return self.before > 0 or self.extent > self.size


def _rows_and_cols(name: str, value: Sequence[int]) -> tuple[int, int]:
    if len(value) != 4 or value[0] != 1 or value[3] != 1 or min(value) < 1:
        raise KernelError(f"{name} must be [1, rows, cols, 1] with positive numbers, not {list(value)}")
    return int(value[1]), int(value[2])
