"""Coordinates and row-major indices of elements, and values reshaped around an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.passes.legalize.decomposition import decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize
    from litefuse.ir.tensors import Tensor


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


def around_axis(b: Builder, value: Tensor, axis: int) -> tuple[Tensor, list[MixedSize]]:
    """Emits the value as ``[before, size, after]``, for ops that support few dimensions; also returns its own sizes."""
    sizes = b.sizes(value)
    return b.reshape(value, [b.product(sizes[:axis]), sizes[axis], b.product(sizes[axis + 1 :])]), sizes


@decomposition("UnravelIndex")
def unravel_index(op: TensorFlowOp, b: Builder) -> Tensor:
    """From the last dimension to the first, coordinate d is the remainder of the previous quotient by ``dims[d]``.

    Definition: https://www.tensorflow.org/api_docs/python/tf/unravel_index.
    """
    op.shape(0, 0, 1)
    (count,) = op.shape(1, 1)
    if not count:
        raise NotDecomposed("the number of dimensions is unknown")
    op.require(0, "int32")
    numbers, dims = op.operands
    return b.stack(coordinates(numbers, [b.element(dims, axis) for axis in range(count)]), 0)
