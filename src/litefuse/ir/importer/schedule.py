"""Scheduling: the order in which a function's nodes are emitted."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence

from litefuse.errors import GraphError
from litefuse.frontends.saved_model.messages import FunctionDef, NodeDef
from litefuse.frontends.saved_model.references import node_of

__all__ = ["execution_order"]


def execution_order(function: FunctionDef) -> list[NodeDef]:
    """Returns the nodes that a call of the function runs, in topological order.

    A node runs if a result (``ret``) or a side effect (``control_ret``) depends on it, through data or control inputs.
    Nodes that are ready keep the function's own order, so that side effects which control dependencies order stay
    ordered.

    Raises:
        GraphError: An input names no node, or the graph has a cycle.
    """
    name = function.signature.name
    nodes = {node.name: (index, node) for index, node in enumerate(function.node_def)}
    if len(nodes) != len(function.node_def):
        raise GraphError("two nodes have the same name", where=f"function {name}")
    arguments = {arg.name for arg in function.signature.input_arg}
    inputs = {
        node.name: [source for source in map(node_of, node.input) if source not in arguments]
        for node in function.node_def
    }
    roots = [node_of(reference) for reference in (*function.ret.values(), *function.control_ret.values())]
    live = _reachable((root for root in roots if root not in arguments), inputs, name)
    return [function.node_def[index] for index in _sorted_by_dependency(live, inputs, nodes, name)]


def _reachable(roots: Iterable[str], inputs: Mapping[str, Sequence[str]], function: str) -> set[str]:
    live: set[str] = set()
    pending = [(root, "a result") for root in roots]
    while pending:
        node, reader = pending.pop()
        if node in live:
            continue
        if node not in inputs:
            raise GraphError(f"{reader} reads from {node!r}, which does not exist", where=f"function {function}")
        live.add(node)
        pending.extend((source, f"node {node}") for source in inputs[node])
    return live


def _sorted_by_dependency(
    live: set[str], inputs: Mapping[str, Sequence[str]], nodes: Mapping[str, tuple[int, NodeDef]], function: str
) -> list[int]:
    waiting = {node: len(set(inputs[node])) for node in live}
    readers: dict[str, list[str]] = {node: [] for node in live}
    for node in live:
        for source in set(inputs[node]):
            readers[source].append(node)
    names = {nodes[node][0]: node for node in live}
    ready = [nodes[node][0] for node in live if not waiting[node]]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        index = heapq.heappop(ready)
        order.append(index)
        for reader in readers[names[index]]:
            waiting[reader] -= 1
            if not waiting[reader]:
                heapq.heappush(ready, nodes[reader][0])
    if len(order) != len(live):
        stuck = min(node for node in live if waiting[node])
        raise GraphError("the graph has a cycle", where=f"function {function}, node {stuck}")
    return order
