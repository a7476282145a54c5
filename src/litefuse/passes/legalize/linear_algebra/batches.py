"""Batches of matrices, ``[..., rows, columns]``, with the batch dimensions merged into one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.ir.tensors import Tensor, maximum

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize


def in_one_batch(b: Builder, *values: Tensor) -> tuple[Sequence[Tensor], Sequence[MixedSize]]:
    """Emits matrices whose batch dimensions are broadcast to one shape and merged into one.

    Args:
        b: Emits the ops.
        *values: ``[..., rows, columns]``.

    Returns:
        Each value as ``[batch, rows, columns]``, and the sizes of the batch dimensions.
    """
    sizes = [b.sizes(value) for value in values]
    rank = max(map(len, sizes)) - 2
    outer: list[list[MixedSize]] = [[*[1] * (rank + 2 - len(size)), *size[:-2]] for size in sizes]
    batch = outer[0]
    for other in outer[1:]:
        batch = [_broadcast(x, y) for x, y in zip(batch, other, strict=True)]
    flat: list[Tensor] = []
    for value, own, before in zip(values, sizes, outer, strict=True):
        matrix = own[-2:]
        if not all(map(_same, before, batch)):
            value = b.broadcast(value, [*batch, *matrix])  # noqa: PLW2901
        flat.append(b.reshape(value, [b.product(batch), *matrix]))
    return flat, batch


def _broadcast(x: MixedSize, y: MixedSize) -> MixedSize:
    for size, other in ((x, y), (y, x)):
        if isinstance(size, int):
            return other if size == 1 else size
    return maximum(x, y)


def _same(x: MixedSize, y: MixedSize) -> bool:
    return x == y if isinstance(x, int) and isinstance(y, int) else x is y
