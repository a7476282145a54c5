"""The ids that Model Explorer gives the subgraphs and ops of a ``.tflite`` file.

They are those of its adapter that reads the flatbuffer itself, ``builtin_tflite_flatbuffer``: a graph for each subgraph
with its name as the id; in a graph, a node for each op, with the op's index as its id, and further nodes for
inputs, outputs and constants.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litefuse.errors import InterpreterError
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_content import check_model
from litefuse.litert.runtime.model_reader import Graph, Model
from litefuse.litert.runtime.soundness import check_soundness
from litefuse.support.files.readable import os_errors

#: The adapter of Model Explorer that these ids are for.
ADAPTER = "builtin_tflite_flatbuffer"


@dataclass(frozen=True)
class ExplorerGraph:
    """A subgraph, as Model Explorer knows it.

    Attributes:
        id: The id of its graph; None if another subgraph has the same, so that data would be shown at both.
        keys: For each op, the key of its node in node data; None if there is none that is its own.
        sizes: For each op, the bytes of its constants in the file. What several ops use counts for the first.
        results: For each op, the indices of the tensors that it computes.
    """

    id: str | None
    keys: tuple[str | None, ...]
    sizes: tuple[int, ...]
    results: tuple[tuple[int, ...], ...]


def explorer_graphs(path: Path) -> list[ExplorerGraph]:
    """Reads the subgraphs of a file. Weights are not read.

    Raises:
        InterpreterError: It cannot be read, is not a LiteRT model, or is damaged.
    """
    check_model(path)
    with os_errors("the file cannot be read", path, InterpreterError), content_of(path) as data:
        check_soundness(data, str(path))
        return _graphs(data)


def _graphs(data: Any) -> list[ExplorerGraph]:
    model = Model(data)
    keys = {signature.graph: key for key, signature in reversed(model.signatures.items()) if key}
    ids = [
        graph.name or keys.get(index) or (f"subgraph_{index}" if index else "main")
        for index, graph in enumerate(model.graphs)
    ]
    counts = Counter(ids)
    seen: set[int] = set()
    return [
        ExplorerGraph(
            name if counts[name] == 1 else None,
            _node_keys(graph),
            tuple(_size(graph, op.inputs, seen) for op in graph.ops),
            tuple(op.outputs for op in graph.ops),
        )
        for name, graph in zip(ids, model.graphs, strict=True)
    ]


def _size(graph: Graph, operands: tuple[int, ...], seen: set[int]) -> int:
    """Counts the bytes of an op's constants in buffers that were not counted yet."""
    total = 0
    for index in operands:
        if graph.is_constant(index) and (buffer := graph.buffer(index)) not in seen:
            seen.add(buffer)
            total += graph.stored_bytes(index)
    return total


def _node_keys(graph: Graph) -> tuple[str | None, ...]:
    """Returns the key of each op's node: its id, unless that is also a tensor's name, by which keys are read first."""
    names = Counter(graph.tensor(index).name for index in range(graph.size))
    keys: list[str | None] = []
    for number, op in enumerate(graph.ops):
        own = [name for index in op.outputs if names[name := graph.tensor(index).name] == 1 and name]
        keys.append(str(number) if str(number) not in names else next(iter(own), None))
    return tuple(keys)
