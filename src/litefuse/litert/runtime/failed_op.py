"""Finds the op of a model that the runtime names in a message."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from litefuse.litert.runtime.model_reader import Graph, Model

# The runtime's reports of nodes that fail, the innermost first.
_FAILURE = re.compile(r"Node number (?P<number>\d+) \((?P<op>[^)\n]*)\) failed to (?P<step>prepare|invoke)")


class OpPlace(NamedTuple):
    """An op of a model.

    Attributes:
        op: Its name.
        names: The names of its outputs, which are those of the model's nodes and layers.
        operands: The types of its inputs, such as ``float32[1,?]``.
        subgraph: The name of the subgraph, if that is not the first.
    """

    op: str
    names: tuple[str, ...]
    operands: tuple[str, ...]
    subgraph: str = ""

    def __str__(self) -> str:
        where = f" in {self.subgraph}" if self.subgraph else ""
        return f"{self.op}({', '.join(self.operands)}) at {', '.join(map(repr, self.names))}{where}"


def op_at(content: Any, subgraph: int, position: int) -> OpPlace | None:
    """Returns the op at a position in a subgraph; None if there is none.

    Args:
        content: The content of the ``.tflite`` file: bytes or a memory map.
        subgraph: The subgraph's index.
        position: The op's position in it.
    """
    graph = Model(content).graphs[subgraph]
    if position >= len(graph.ops):
        return None
    op = graph.ops[position]
    return OpPlace(
        op.name,
        tuple(graph.tensor(index).name for index in op.outputs),
        tuple(_type(graph, index) if index >= 0 else "none" for index in op.inputs),
        (graph.name or f"subgraph {subgraph}") if subgraph else "",
    )


class FailedOp(NamedTuple):
    """An op of a model that the runtime refused.

    Attributes:
        place: The op.
        step: ``prepare`` or ``invoke``.
        subgraph: The index of its subgraph.
        position: Its position in that.
    """

    place: OpPlace
    step: str
    subgraph: int = 0
    position: int = 0


def failed_op(content: Any, message: str) -> FailedOp | None:
    """Finds the op that a message of the runtime is about.

    Args:
        content: The content of the ``.tflite`` file: bytes or a memory map.
        message: The runtime's message.

    Returns:
        The op; None if the message names none of the model's ops.
    """
    subgraphs = range(len(Model(content).graphs))
    for failure in _FAILURE.finditer(message):
        for subgraph in subgraphs:  # the message does not say which
            position = int(failure["number"])
            place = op_at(content, subgraph, position)
            if place is not None and place.op == failure["op"]:
                return FailedOp(place, failure["step"], subgraph, position)
    return None


def _type(graph: Graph, index: int) -> str:
    shape = ",".join("?" if size is None else str(size) for size in graph.tensor(index).shape)
    return f"{graph.dtype_name(index)}[{shape}]"
