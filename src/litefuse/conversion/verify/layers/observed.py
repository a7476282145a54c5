"""A copy of a LiteRT model whose intermediate tensors are subgraph outputs, so that the runtime keeps their values."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Sequence
from pathlib import Path

from litefuse.errors import InterpreterError
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_reader import Model

__all__ = ["ObservedCopy"]

_FARTHEST = 2**31 - 2**16  # the largest flatbuffer that the runtime accepts
_ALIGNMENT = 4096


class ObservedCopy:
    """The copy: a longer list of outputs is appended to the flatbuffer, and the subgraph points to it.

    Weights that are stored behind the flatbuffer, as in files of more than 2 GB, are moved back to make room.

    Args:
        model: The model's file, or its content.
        path: Where the copy is written.
        subgraph: The index of the subgraph.

    Raises:
        InterpreterError: The subgraph has no list of outputs, or the flatbuffer itself is too large for a longer one.
    """

    def __init__(self, model: str | bytes, path: Path, subgraph: int) -> None:
        self.path = path
        with content_of(model) as data:
            facts = Model(data)
            graph = facts.graphs[subgraph]
            self._place = graph.place_of_outputs
            moved = facts.places_of_offsets()
            end = min(moved.values(), default=len(data))
            # Room for the index of each tensor.
            room = -(-4 * (graph.size + 2) // _ALIGNMENT) * _ALIGNMENT
        if not self._place:
            raise InterpreterError("its subgraph has no outputs")
        self._begin = -(-end // 4) * 4
        if self._begin + room > _FARTHEST:
            raise InterpreterError("a list of outputs at the end of its 2 GB cannot be reached")
        if isinstance(model, bytes):
            path.write_bytes(model)
        else:
            shutil.copyfile(model, path)
        if moved:
            _move(path, end, room, moved)
            self._size = None
        else:
            self._size = end

    def set_outputs(self, outputs: Sequence[int]) -> None:
        """Makes tensors the subgraph's outputs, in place of those of the last call; its own have to be among them."""
        with self.path.open("r+b") as file:
            if self._size is not None:
                file.truncate(self._size)
            file.seek(self._begin)
            file.write(struct.pack(f"<I{len(outputs)}i", len(outputs), *outputs))
            file.seek(self._place)
            file.write(struct.pack("<I", self._begin - self._place))


def _move(path: Path, end: int, room: int, moved: dict[int, int]) -> None:
    """Moves everything that is stored behind the flatbuffer."""
    behind = path.with_suffix(".behind")
    with path.open("r+b") as file, behind.open("w+b") as rest:
        file.seek(end)
        shutil.copyfileobj(file, rest)
        rest.seek(0)
        file.seek(end)
        file.write(bytes(room))
        shutil.copyfileobj(rest, file)
        for place, offset in moved.items():
            file.seek(place)
            file.write(struct.pack("<Q", offset + room))
    behind.unlink()
