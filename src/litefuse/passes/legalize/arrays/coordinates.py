"""Conversion between an element's coordinates and its row-major index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.tensors import Tensor

__all__ = ["coordinates", "element_numbers"]


def element_numbers(b: Builder, indices: Tensor, sizes: Sequence[Tensor]) -> Tensor:
    """Emits the row-major index of the element at each index vector.

    Args:
        b: Emits ops.
        indices: The index vectors, ``[..., len(sizes)]``.
        sizes: The size of each dimension, as scalars of the indices' dtype; at least one.
    """
    last = len(indices.shape) - 1
    parts = [b.gather(indices, b.constant(axis, "int32"), last) for axis in range(len(sizes))]
    numbers = parts[0]
    for part, size in zip(parts[1:], sizes[1:], strict=True):
        numbers = numbers * size + part
    return numbers


def coordinates(numbers: Tensor, sizes: Sequence[Tensor]) -> list[Tensor]:
    """Emits the coordinates of the elements with these row-major indices, dimension by dimension.

    From the last dimension to the first, each is the remainder of the previous quotient by the dimension's size.
    """
    found: list[Tensor] = []
    for size in reversed(sizes):
        found.insert(0, numbers % size)
        numbers = numbers // size
    return found
