"""Scheduling: the order in which a function's nodes are emitted."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from litefuse.errors import GraphError
from litefuse.frontends.saved_model.messages import FunctionDef, NodeDef
from litefuse.frontends.saved_model.nodes import Nodes

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
    nodes = Nodes.of(function.node_def)
    if len(nodes) != len(function.node_def):
        raise GraphError("two nodes have the same name", where=f"function {name}")
    arguments = {arg.name for arg in function.signature.input_arg}
    live = nodes.live([*function.ret.values(), *function.control_ret.values()], arguments, name)
    order = _sorted_by_dependency([node for node in nodes if node in live], live, name)
    return [nodes[node] for node in order]


def _sorted_by_dependency(names: Sequence[str], sources: Mapping[str, Sequence[str]], function: str) -> list[str]:
    """Sorts nodes so that each comes after its sources, and before nodes that come later in the given order."""
    places = {name: place for place, name in enumerate(names)}
    waiting = {name: len(set(sources[name])) for name in names}
    readers: dict[str, list[str]] = {name: [] for name in names}
    for name in names:
        for source in set(sources[name]):
            readers[source].append(name)
    ready = [places[name] for name in names if not waiting[name]]  # a heap, as it is sorted
    order: list[str] = []
    while ready:
        name = names[heapq.heappop(ready)]
        order.append(name)
        for reader in readers[name]:
            waiting[reader] -= 1
            if not waiting[reader]:
                heapq.heappush(ready, places[reader])
    if len(order) != len(names):
        stuck = min(name for name in names if waiting[name])
        raise GraphError("the graph has a cycle", where=f"function {function}, node {stuck}")
    return order
