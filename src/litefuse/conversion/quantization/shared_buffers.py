"""Constants that are equal, once in the file."""

from __future__ import annotations

import hashlib
from typing import Any

__all__ = ["share_buffers"]


def share_buffers(model: Any) -> bool:
    """Has tensors with the same bytes refer to one buffer; returns whether there were such.

    litert-quantizer copies the buffer of constants with several readers where their scales differ, though zeros, such
    as biases, are the same in all of them.

    Args:
        model: The model, an object of the schema.
    """
    first: dict[bytes, int] = {}
    places = dict[int, int]()
    others = {entry.buffer for entry in model.metadata or ()}
    for index, buffer in enumerate(model.buffers):
        if index not in others and buffer.data is not None and len(buffer.data):
            places[index] = first.setdefault(hashlib.sha256(memoryview(buffer.data)).digest(), index)
    moved = [index for index, place in places.items() if index != place]
    for graph in model.subgraphs if moved else ():
        for tensor in graph.tensors:
            tensor.buffer = places.get(tensor.buffer, tensor.buffer)
    for index in moved:  # metadata refer to buffers by their numbers, too: an empty one takes a few bytes
        model.buffers[index].data = None
    return bool(moved)
