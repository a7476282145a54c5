"""The ops of a LiteRT model, and a copy of it whose intermediate tensors are outputs, so that they can be read."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from litefuse.errors import InterpreterError
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_reader import Model, Op, Tensor


@dataclass(frozen=True)
class LayerTensor:
    """A tensor that an op of the main subgraph computes.

    Attributes:
        index: Its index in the subgraph.
        name: Its name in the file.
        op: The op that computes it: its name in LiteRT's schema, or that of a custom op or a composite.
        position: The index among the op's outputs.
        count: How many outputs the op has.
        operands: The indices of the op's inputs.
        dtype: Its dtype in the file.
        readable: Whether its values can be read and compared: handles and sub-byte integers cannot.
    """

    index: int
    name: str
    op: str
    position: int
    count: int
    operands: tuple[int, ...]
    dtype: str
    readable: bool


@dataclass(frozen=True)
class LayerGraph:
    """The main subgraph of a signature.

    Attributes:
        subgraph: Its index.
        outputs: The indices of its outputs.
        stored: The indices of operands of ops without results: values that are stored in variables.
        results: The names of the signature's outputs, by the indices of their tensors.
        tensors: The results of its ops, in the order in which they run.
    """

    subgraph: int
    outputs: tuple[int, ...]
    stored: frozenset[int]
    results: dict[int, str]
    tensors: tuple[LayerTensor, ...]

    @property
    def ends(self) -> frozenset[int]:
        """The indices of tensors whose values last: outputs and stored values."""
        return self.stored | frozenset(self.outputs)


def layer_graph(model: str | bytes, signature: str) -> LayerGraph:
    """Reads the main subgraph of a signature.

    Args:
        model: The model's file, or its content; it has been run.
        signature: The signature's key.

    Raises:
        InterpreterError: No such signature.
    """
    with content_of(model) as data:
        read = Model(data)
        main = read.signatures.get(signature)
        if main is None:
            raise InterpreterError(f"the file says nothing of the signature {signature!r}")
        graph = read.graphs[main.graph]
        tensors = [
            _tensor(graph.tensor(output), output, op, position)
            for op in graph.ops
            for position, output in enumerate(op.outputs)
        ]
        stored = frozenset(operand for op in graph.ops if not op.outputs for operand in op.inputs)
        # If one output has several names, the first counts.
        results = {index: name for name, index in reversed(main.outputs.items())}
        return LayerGraph(main.graph, graph.outputs, stored, results, tuple(tensors))


def _tensor(tensor: Tensor, index: int, op: Op, position: int) -> LayerTensor:
    readable = tensor.dtype is not None and not tensor.is_variable
    return LayerTensor(
        index, tensor.name, op.composite or op.name, position, len(op.outputs), op.inputs, _dtype(tensor), readable
    )


def _dtype(tensor: Tensor) -> str:
    if tensor.dtype is None:
        return "of no values"
    return "string" if tensor.dtype == object else str(tensor.dtype)


# How many bytes of tensors are kept in memory at once.
_AT_ONCE = 2**29

_Tensor = TypeVar("_Tensor")


def chunks(tensors: Iterable[_Tensor], size_of: Callable[[_Tensor], int]) -> Iterator[list[_Tensor]]:
    """Yields as many tensors as fit into memory at once, in their order; one that does not fit comes alone."""
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
