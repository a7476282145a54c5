"""Constants that are equal, once in the file."""

from __future__ import annotations

import hashlib
import importlib
from pathlib import Path

from litefuse.quantization.applying import read_model

__all__ = ["share_buffers"]


def share_buffers(path: Path) -> None:
    """Has tensors with the same bytes refer to one buffer of a model's file, which is rewritten if there are such.

    litert-quantizer copies the buffer of constants with several readers where their scales differ, though zeros, such
    as biases, are the same in all of them.

    Args:
        path: A LiteRT model.
    """
    model = read_model(path)
    first: dict[bytes, int] = {}
    places = dict[int, int]()
    others = {each.buffer for each in model.metadata or ()}
    for index, buffer in enumerate(model.buffers):
        if index not in others and buffer.data is not None and len(buffer.data):
            places[index] = first.setdefault(hashlib.sha256(memoryview(buffer.data)).digest(), index)
    moved = [index for index, place in places.items() if index != place]
    if not moved:
        return
    for graph in model.subgraphs:
        for tensor in graph.tensors:
            tensor.buffer = places.get(tensor.buffer, tensor.buffer)
    for index in moved:  # metadata refer to buffers by their numbers, too: an empty one takes a few bytes
        model.buffers[index].data = None
    target = path.with_name(path.name + ".shared")
    try:
        modifier = importlib.import_module("litert_quantizer.model_modifier").ModelModifier(model)
        modifier.modify_model({}, serialize_to_path=str(target), enable_progress_bar=False)
        target.replace(path)
    finally:
        target.unlink(missing_ok=True)
