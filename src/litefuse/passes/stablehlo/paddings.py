"""Paddings of windows, as numbers and by TensorFlow's names."""

from __future__ import annotations

from collections.abc import Sequence

from litefuse.ir.builder import MixedSize

__all__ = ["is_zero", "padding_name", "position_count"]


def is_zero(pair: tuple[MixedSize, MixedSize]) -> bool:
    """Whether nothing is added before or after."""
    return all(isinstance(n, int) and n == 0 for n in pair)


def padding_name(
    sizes: Sequence[int | None],
    extents: Sequence[int],
    strides: Sequence[int],
    paddings: Sequence[tuple[MixedSize, MixedSize]],
) -> str | None:
    """Returns ``VALID`` or ``SAME``; None if it is neither, or not known to be.

    Args:
        sizes: The sizes of the dimensions that the windows move along; None if dynamic.
        extents: How many positions a window spans in each, dilation included.
        strides: The stride in each.
        paddings: How much is added before and after each.
    """
    if all(map(is_zero, paddings)):
        return "VALID"
    for size, extent, stride, pair in zip(sizes, extents, strides, paddings, strict=True):
        if size is None:
            # With a stride of 1, the padding does not depend on the size.
            if stride != 1 or pair != ((extent - 1) // 2, extent // 2):
                return None
            continue
        total = max((-(-size // stride) - 1) * stride + extent - size, 0)
        if pair != (total // 2, total - total // 2):
            return None
    return "SAME"


def position_count(size: int | None, extent: int, stride: int, padding: str) -> int | None:
    """Returns how many windows there are along a dimension; None if its size is dynamic."""
    if size is None:
        return None
    return -(-size // stride) if padding == "SAME" else (size - extent) // stride + 1
