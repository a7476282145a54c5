"""A dimension among others: values of any rank as ``[before, size, after]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize
    from litefuse.ir.mlir import ir

__all__ = ["around_axis"]


def around_axis(b: Builder, value: ir.Value, axis: int) -> tuple[ir.Value, list[MixedSize]]:
    """The value as ``[before, size, after]``, for ops that take few dimensions, and its own sizes to reshape back."""
    sizes = b.sizes(value)
    return b.reshape(value, [b.product(sizes[:axis]), sizes[axis], b.product(sizes[axis + 1 :])]), sizes
