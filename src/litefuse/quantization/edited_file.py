"""Changes to a quantized model's file that litert-quantizer has no way to make."""

from __future__ import annotations

import importlib
import mmap
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from ai_edge_litert import schema_py_generated as schema

__all__ = ["edit_file"]

# The data of buffers behind the flatbuffer begins at multiples of this.
_ALIGNMENT = 16


def edit_file(path: Path, *changes: Callable[[Any], bool]) -> bool:
    """Changes a model's file, which appears whole.

    Args:
        path: The file.
        *changes: Functions that change the model, as the schema's objects, and say whether they did.

    Returns:
        Whether it changed.
    """
    with path.open("rb") as opened:
        content = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)  # closed with the last view of it
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0))
    if any(op.largeCustomOptionsSize for subgraph in model.subgraphs for op in subgraph.operators or ()):
        return False  # options are behind the flatbuffer as well, and would move
    if not sum(change(model) for change in changes):
        return False
    target = path.with_name(path.name + ".edited")
    try:
        with target.open("wb") as file:
            _write(model, content, file)
        target.replace(path)
    finally:
        target.unlink(missing_ok=True)
    return True


def _write(model: Any, content: mmap.mmap, file: BinaryIO) -> None:
    """Writes a model, with those buffers behind it that are behind the flatbuffer in the original."""
    pack: Any = importlib.import_module("ai_edge_litert.tools.flatbuffer_utils").convert_object_to_bytearray
    behind = [each for each in model.buffers if each.offset > 1]
    packed = pack(model)
    if not behind:
        file.write(packed)
        return
    start = min(each.offset for each in behind)
    length = -(-len(packed) // _ALIGNMENT) * _ALIGNMENT
    for each in behind:
        each.offset += length - start
    file.write(pack(model).ljust(length, b"\0"))  # of the same length: offsets are numbers of a fixed size
    file.write(memoryview(content)[start:])
