"""The windows of TensorFlow's pooling ops: where they lie, and what of them lies in the image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from litefuse.errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Windows", "pooling_windows"]


@dataclass(frozen=True)
class Windows:
    """The windows along one dimension. Each holds one position of the image or more.

    Attributes:
        size: The size of the image.
        ksize: The positions in a window.
        stride: The distance between windows.
        out: The number of windows.
        before: How many positions before the image the first window begins; negative if it begins inside.
    """

    size: int
    ksize: int
    stride: int
    out: int
    before: int

    @classmethod
    def of(cls, size: int, ksize: int, stride: int, padding: str | bytes, *, centered: bool) -> Windows:
        """Places the windows.

        Raises:
            KernelError: The padding is neither SAME nor VALID, or it is VALID and no window fits into the image.
        """
        match padding:
            case "SAME" | b"SAME":
                out = -(-size // stride)
                padded = (out - 1) * stride + ksize - size
                before = int(padded / 2) if padded > 0 or centered else 0  # C's division again
            case "VALID" | b"VALID":
                # The division is C's, towards zero.
                out = int((size - ksize + stride) / stride)
                before = 0
            case _:
                raise KernelError(f"padding must be SAME or VALID, not {padding!r}")
        if out < 0:
            raise KernelError(f"a window of {ksize} positions does not fit into {size}, and padding is VALID")
        return cls(size, ksize, stride, out, before)

    def at(self, offset: int) -> tuple[slice, slice]:
        """The windows whose position ``offset`` lies in the image, and these positions of the image."""
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
    """The windows along each of the dimensions ``axes``.

    Args:
        shape: The shape of the image.
        axes: The dimensions that are pooled.
        ksize: The op's attribute: the size of a window along each dimension, 1 along those that are not pooled.
        strides: The op's attribute: the distance of windows, likewise.
        padding: The op's attribute, SAME or VALID.
        centered: Whether SAME also centers windows that leave positions of the image out, being further apart than
            their size; they begin with the image otherwise.

    Raises:
        KernelError: An attribute has a wrong form, or no window fits into the image.
    """
    for name, value in (("ksize", ksize), ("strides", strides)):
        pooled = [axis in axes for axis in range(len(shape))]
        if len(value) != len(shape) or not all(n > 0 if p else n == 1 for n, p in zip(value, pooled, strict=True)):
            form = ", ".join("n" if p else "1" for p in pooled)
            raise KernelError(f"{name} must be [{form}] with positive numbers, not {list(value)}")
    return [Windows.of(shape[axis], int(ksize[axis]), int(strides[axis]), padding, centered=centered) for axis in axes]
