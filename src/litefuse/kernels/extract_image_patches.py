"""``ExtractImagePatches``: the patches around each position of an image, laid out as channels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.runtime.custom_op import CustomOp, TensorSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litefuse.runtime.outputs import Outputs

__all__ = ["ExtractImagePatches"]


class ExtractImagePatches(CustomOp):
    """TensorFlow's op of the same name (``tf.image.extract_patches``).

    Input: ``images`` [batch, in_rows, in_cols, depth], of any dtype.

    Output: [batch, out_rows, out_cols, ksize_rows * ksize_cols * depth] of the same dtype: at [b, y, x] the pixels at
    rows ``y * stride_rows + r * rate_rows - pad_top`` and columns ``x * stride_cols + c * rate_cols - pad_left``, for
    each r and in it each c, zeros where that is outside of the image.

    Options: ``ksizes``, ``strides`` and ``rates``, each [1, rows, cols, 1]; ``padding``, VALID or SAME. Sizes and
    padding are those of TensorFlow's convolutions, with the kernel size ``ksize + (ksize - 1) * (rate - 1)``.

    Source: the definition of the op in TensorFlow (``array_ops.cc``, ``extract_image_patches_op.cc``).
    """

    op_name = "ExtractImagePatches"

    def prepare(
        self,
        images: TensorSpec,
        *,
        ksizes: Sequence[int],
        strides: Sequence[int],
        rates: Sequence[int],
        padding: str | bytes,
    ) -> TensorSpec:
        """Finds where the patches lie.

        Raises:
            KernelError: The image is not of rank 4, an option has a wrong form, or no patch fits into the image.
        """
        if images.shape is None or len(images.shape) != 4:
            raise KernelError(f"images must be [batch, rows, cols, depth], not {images.shape}")
        sizes = [_rows_and_cols(name, value) for name, value in zip(_SIZES, (ksizes, strides, rates), strict=True)]
        batch, in_rows, in_cols, depth = images.shape
        self._rows, self._cols = (
            _Axis.of(size, *(pair[axis] for pair in sizes), padding=padding)
            for axis, size in enumerate((in_rows, in_cols))
        )
        channels = self._rows.ksize * self._cols.ksize * depth
        return TensorSpec((batch, self._rows.out, self._cols.out, channels), images.dtype)

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
        """Copies one slice of the image for each position within a patch."""
        images: Any = inputs[0]
        patches: Any = outputs[0]
        if not patches.size:
            return
        rows, cols = self._rows, self._cols
        if rows.padded or cols.padded:
            patches.fill(0)
        # A pixel as one element, whatever its depth: the innermost loop then runs along the columns.
        pixel = np.dtype((np.void, images.shape[3] * images.dtype.itemsize))
        source = images.view(pixel)[..., 0]
        target = patches.reshape(*patches.shape[:3], rows.ksize * cols.ksize, -1).view(pixel)[..., 0]
        for r in range(rows.ksize):
            to_rows, from_rows = rows.slices(r)
            for c in range(cols.ksize):
                to_cols, from_cols = cols.slices(c)
                target[:, to_rows, to_cols, r * cols.ksize + c] = source[:, from_rows, from_cols]


_SIZES = ("ksizes", "strides", "rates")


@dataclass(frozen=True)
class _Axis:
    """The patches along the rows or the columns.

    Attributes:
        size: The size of the image.
        ksize: The positions in a patch.
        stride: The distance between patches.
        rate: The distance between the positions in a patch.
        out: The number of patches.
        before: How many positions before the image the first patch begins.
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
                # The division is C's, towards zero.
                out = int((size - effective + stride) / stride)
                before = 0
            case _:
                raise KernelError(f"padding must be SAME or VALID, not {padding!r}")
        if out < 0:
            raise KernelError(f"a patch of {effective} positions does not fit into {size}, and padding is VALID")
        return cls(size, ksize, stride, rate, out, before)

    @property
    def padded(self) -> bool:
        """Whether a patch reaches beyond the image."""
        end = (self.out - 1) * self.stride + (self.ksize - 1) * self.rate - self.before
        return self.before > 0 or end >= self.size

    def slices(self, position: int) -> tuple[slice, slice]:
        """The patches whose ``position`` is inside of the image, and where in the image that is for them."""
        offset = position * self.rate - self.before
        first = min(max(-(offset // self.stride), 0), self.out)
        last = max(min((self.size - 1 - offset) // self.stride + 1, self.out), first)
        start = first * self.stride + offset
        return slice(first, last), slice(start, start + (last - first) * self.stride, self.stride)


def _rows_and_cols(name: str, value: Sequence[int]) -> tuple[int, int]:
    if len(value) != 4 or value[0] != 1 or value[3] != 1 or min(value) < 1:
        raise KernelError(f"{name} must be [1, rows, cols, 1] with positive numbers, not {list(value)}")
    return int(value[1]), int(value[2])
