"""Weights within the flatbuffer, for runtimes that do not look behind it."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["bring_buffers_inside"]


def bring_buffers_inside(path: Path) -> bool:
    """Moves the data of buffers that is stored behind the flatbuffer of a model into it; the file appears whole.

    The model has to be smaller than 2 GB, as those for microcontrollers are.

    Args:
        path: The model's file.

    Returns:
        Whether there were such buffers.
    """
    from ai_edge_litert import schema_py_generated as schema

    content = path.read_bytes()
    model: Any = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0))
    # An offset of 1 stands for a buffer without data.
    behind = [each for each in model.buffers if each.offset > 1]
    if not behind:
        return False
    for each in behind:
        each.data = np.frombuffer(content, np.uint8, each.size, each.offset)
        each.offset = each.size = 0
    pack: Any = importlib.import_module("ai_edge_litert.tools.flatbuffer_utils").convert_object_to_bytearray
    target = path.with_name(path.name + ".inside")
    try:
        target.write_bytes(pack(model))
        target.replace(path)
    finally:
        target.unlink(missing_ok=True)
    return True
