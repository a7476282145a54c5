"""Positions of the windows of TensorFlow's pooling ops, and their parts inside the image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from litefuse.errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Windows", "pooling_windows"]


@dataclass(frozen=True)
class Windows:
    """The windows along one dimension. Each contains at least one position of the image.

    Attributes:
        size: The size of the image.
        ksize: The number of positions in a window.
        stride: The distance between windows.
        out: The number of windows.
        before: The padding before the image; negative if the first window starts inside it.
    """

    size: int
    ksize: int
    stride: int
    out: int
    before: int

    @classmethod
    def of(cls, size: int, ksize: int, stride: int, padding: str | bytes, *, centered: bool) -> Windows:
        """Computes the windows from the attributes of the op.

        Raises:
            KernelError: The padding is neither SAME nor VALID, or it is VALID and no window fits into the image.
        """
        match padding:
            case "SAME" | b"SAME":
                out = -(-size // stride)
                padded = (out - 1) * stride + ksize - size
                before = int(padded / 2) if padded > 0 or centered else 0  # truncated, as in C
            case "VALID" | b"VALID":
                # As in C, the division truncates.
                out = int((size - ksize + stride) / stride)
                before = 0
            case _:
                raise KernelError(f"padding must be SAME or VALID, not {padding!r}")
        if out < 0:
            raise KernelError(f"a window of {ksize} positions does not fit into {size}, and padding is VALID")
        return cls(size, ksize, stride, out, before)

    def at(self, offset: int) -> tuple[slice, slice]:
        """Returns the windows whose position ``offset`` is inside the image, and these positions of the image."""
        first = max(0, -((offset - self.before) // self.stride))
        end = max(first, min(self.out, (self.size - 1 + self.before - offset) // self.stride + 1))
        begin = first * self.stride + offset - self.before
        return slice(first, end), slice(begin, begin + (end - first) * self.stride, self.stride)


def pooling_windows(
    shape: Sequence[int],
    axes: Sequence[int],
    *,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str | bytes,
    centered: bool = False,
) -> list[Windows]:
    """Returns the windows along each of the dimensions ``axes``.

    Args:
        shape: The shape of the image.
        axes: The pooled dimensions.
        ksize: The op's attribute: the size of a window along each dimension, 1 along those that are not pooled.
        strides: The op's attribute: the distance between windows, likewise.
        padding: The op's attribute, SAME or VALID.
        centered: Whether SAME also centers windows that skip positions of the image because the stride is larger than
            their size; otherwise they start at the image's first position.

    Raises:
        KernelError: An attribute is invalid, or no window fits into the image.
    """
    for name, value in (("ksize", ksize), ("strides", strides)):
        pooled = [axis in axes for axis in range(len(shape))]
        if len(value) != len(shape) or not all(n > 0 if p else n == 1 for n, p in zip(value, pooled, strict=True)):
            form = ", ".join("n" if p else "1" for p in pooled)
            raise KernelError(f"{name} must be [{form}] with positive numbers, not {list(value)}")
    return [Windows.of(shape[axis], int(ksize[axis]), int(strides[axis]), padding, centered=centered) for axis in axes]
