"""Conversion between an element's coordinates and its row-major index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir

__all__ = ["coordinates", "element_numbers"]


def element_numbers(b: Builder, indices: ir.Value, sizes: Sequence[ir.Value]) -> ir.Value:
    """Emits the row-major index of the element at each index vector.

    Args:
        b: Emits ops.
        indices: The index vectors, ``[..., len(sizes)]``.
        sizes: The size of each dimension, as scalars of the indices' dtype; at least one.
    """
    last = len(b.shape(indices)) - 1
    parts = [b.gather(indices, b.constant(axis, "int32"), last) for axis in range(len(sizes))]
    numbers = parts[0]
    for part, size in zip(parts[1:], sizes[1:], strict=True):
        numbers = b.binary("AddV2", b.binary("Mul", numbers, size), part)
    return numbers


def coordinates(b: Builder, numbers: ir.Value, sizes: Sequence[ir.Value]) -> list[ir.Value]:
    """Emits the coordinates of the elements with these row-major indices, dimension by dimension.

    From the last dimension to the first, each is the remainder of the previous quotient by the dimension's size.
    """
    found: list[ir.Value] = []
    for size in reversed(sizes):
        found.insert(0, b.binary("FloorMod", numbers, size))
        numbers = b.binary("FloorDiv", numbers, size)
    return found
