"""Graphs of nodes, of a TensorFlow model or of a LiteRT file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Mark: TypeAlias = Literal["", "input", "output", "call", "composite", "custom", "control"]
"""The kind of a node that is drawn in its own way: ``control`` is a loop or a condition."""


@dataclass(frozen=True)
class Node:
    """A node.

    Attributes:
        op: Its op, such as ``Conv2D`` or ``CONV_2D``; the name of a composite or a custom op.
        name: Its name, such as ``model/dense/MatMul``; of an op of a file, all names that its result has.
        layer: The layer that it is in, scopes separated by slashes; empty if it is in none.
        inputs: The indices of the nodes of the same graph that it reads.
        opens: The names of the graphs that it runs.
        mark: How it is drawn.
        facts: What else is known about it, as names and texts.
    """

    op: str
    name: str
    layer: str = ""
    inputs: tuple[int, ...] = ()
    opens: tuple[str, ...] = ()
    mark: Mark = ""
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Graph:
    """A function or a subgraph.

    Attributes:
        name: The name that nodes call it by.
        title: The name to show.
        nodes: Its nodes, each after those that it reads, as far as there is such an order.
        facts: What else is known about it, as names and texts.
        left_out: How many nodes it has beyond those in ``nodes``.
    """

    name: str
    title: str
    nodes: tuple[Node, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    left_out: int = 0


@dataclass(frozen=True)
class Entry:
    """Where a signature begins."""

    signature: str
    graph: str


@dataclass(frozen=True)
class Model:
    """All graphs of a model."""

    entries: tuple[Entry, ...] = ()
    graphs: tuple[Graph, ...] = field(default_factory=tuple[Graph, ...])
    kind: Literal["TensorFlow", "LiteRT"] = "TensorFlow"
