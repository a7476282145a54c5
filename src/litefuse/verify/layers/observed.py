"""A copy of a LiteRT model whose inside tensors are outputs of its subgraph: so the runtime keeps their values."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ai_edge_litert import schema_py_generated as schema

from litefuse.errors import InterpreterError
from litefuse.verify.layers.graph import opened

__all__ = ["ObservedCopy"]

_OUTPUTS_IN_VTABLE = 8  # of SubGraph, schema.fbs
_FARTHEST = 2**32 - 1  # what an offset in a flatbuffer reaches


class ObservedCopy:
    """The copy. Nothing of the file moves: a longer list of outputs is appended, and the subgraph points to that.

    So weights that stand behind the flatbuffer, at offsets from the beginning of the file, remain where they are.

    Args:
        model: The model's file, or its content.
        path: Where the copy is written.
        subgraph: The index of the subgraph.

    Raises:
        InterpreterError: The subgraph has no list of outputs, or one that an offset does not reach from the end.
    """

    def __init__(self, model: str | bytes, path: Path, subgraph: int) -> None:
        self.path = path
        with opened(model) as data:
            table: Any = schema.Model.GetRootAs(data, 0).Subgraphs(subgraph)._tab  # noqa: SLF001
            offset = table.Offset(_OUTPUTS_IN_VTABLE)
            self._place = table.Pos + offset
        if not offset:
            raise InterpreterError("its subgraph has no outputs")
        if isinstance(model, bytes):
            path.write_bytes(model)
        else:
            shutil.copyfile(model, path)
        self._size = path.stat().st_size
        self._begin = -(-self._size // 4) * 4
        if self._begin - self._place > _FARTHEST:
            raise InterpreterError("the file is too large for a copy with more outputs: more than 4 GB")

    def set_outputs(self, outputs: Sequence[int]) -> None:
        """Makes tensors the subgraph's outputs, in place of those of the last call; its own have to be among them."""
        with self.path.open("r+b") as file:
            file.truncate(self._size)
            file.seek(self._begin)
            file.write(struct.pack(f"<I{len(outputs)}i", len(outputs), *outputs))
            file.seek(self._place)
            file.write(struct.pack("<I", self._begin - self._place))
            file.flush()
