"""Splits tensors into chunks that are read in one run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

__all__ = ["chunks"]

# How many bytes of tensors are kept in memory at once.
_AT_ONCE = 2**29

_Tensor = TypeVar("_Tensor")


def chunks(tensors: Iterable[_Tensor], size_of: Callable[[_Tensor], int]) -> Iterator[list[_Tensor]]:
    """Yields as many tensors as fit into memory at once, in their order; one that does not fit comes alone.

    Args:
        tensors: The tensors.
        size_of: The size of one, in bytes.
    """
    chunk: list[_Tensor] = []
    size = 0
    for tensor in tensors:
        of_tensor = size_of(tensor)
        if chunk and size + of_tensor > _AT_ONCE:
            yield chunk
            chunk, size = [], 0
        chunk.append(tensor)
        size += of_tensor
    if chunk:
        yield chunk
