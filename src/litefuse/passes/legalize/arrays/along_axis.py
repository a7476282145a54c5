"""Values of any rank reshaped around an axis: ``[before, size, after]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize
    from litefuse.ir.tensors import Tensor

__all__ = ["around_axis"]


def around_axis(b: Builder, value: Tensor, axis: int) -> tuple[Tensor, list[MixedSize]]:
    """Emits the value as ``[before, size, after]``, for ops that support few dimensions; also returns its own sizes."""
    sizes = b.sizes(value)
    return b.reshape(value, [b.product(sizes[:axis]), sizes[axis], b.product(sizes[axis + 1 :])]), sizes
