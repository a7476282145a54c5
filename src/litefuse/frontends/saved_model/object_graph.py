"""Object graph of a SavedModel: the Python objects that were saved, and their attributes.

Node 0 is the root, the object given to ``tf.saved_model.save``. The edge from a node to a child has the attribute's
name. Nodes may be shared, and edges may form cycles.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import field
from typing import TYPE_CHECKING

from litefuse.errors import SavedModelError
from litefuse.support.records import Record

if TYPE_CHECKING:
    from litefuse.frontends.saved_model.messages import (
        SavedConcreteFunction,
        SavedObject,
        SavedObjectGraph,
        TrackableObjectGraph,
    )

_FUNCTION_KINDS = frozenset({"function", "bare_concrete_function"})
# Paths grow with the depth: a chain of a million nodes must not take quadratic time and space.
_MAX_DEPTH = 100


class ObjectGraph(Record):
    """A SavedModel's object graph with checked node ids.

    Attributes:
        nodes: The nodes; a node's id is its index.
        children: The ids of each node's children by local name.
        concrete_functions: The saved description of each function in the library, by name.
    """

    nodes: tuple[SavedObject, ...]
    children: tuple[dict[str, int], ...] = field(repr=False)
    concrete_functions: dict[str, SavedConcreteFunction] = field(repr=False)

    @classmethod
    def from_proto(cls, proto: SavedObjectGraph, where: str = "") -> ObjectGraph:
        """Checks and indexes the graph of a message.

        Raises:
            SavedModelError: A node has a child that does not exist.
        """
        nodes = tuple(proto.nodes)
        children: list[dict[str, int]] = []
        for number, node in enumerate(nodes):
            edges = {child.local_name: child.node_id for child in node.children}
            for name, child in edges.items():
                if not 0 <= child < len(nodes):
                    raise SavedModelError(
                        f"object {number} has a child {name!r} that does not exist ({child})", where=where
                    )
            children.append(edges)
        return cls(nodes, tuple(children), dict(proto.concrete_functions))

    def function_name(self, node: int) -> str | None:
        """Returns the name of the function that a node represents (its first trace if it has several), or None."""
        saved = self.nodes[node]
        kind = saved.WhichOneof("kind")
        if kind == "bare_concrete_function":
            return saved.bare_concrete_function.concrete_function_name
        if kind == "function" and saved.function.concrete_functions:
            return saved.function.concrete_functions[0]
        return None

    def signature_functions(self) -> dict[str, str]:
        """Returns the function of each signature: the children of the root's child ``signatures``."""
        node = self.children[0].get("signatures") if self.nodes else None
        if node is None:
            return {}
        functions = {key: self.function_name(child) for key, child in self.children[node].items()}
        return {key: name for key, name in functions.items() if name is not None}

    def paths(self) -> dict[int, tuple[str, ...]]:
        """Returns the most readable path from the root to each node that is reachable without going through functions.

        That is the path with the fewest private attributes (with a leading underscore), then the shortest one, then the
        first one in the order in which the attributes were saved.
        """
        best: dict[int, tuple[str, ...]] = {}
        # No two entries have the same positions, so the fields after them are never compared.
        queue: list[tuple[int, int, tuple[int, ...], tuple[str, ...], int]] = [(0, 0, (), (), 0)] if self.nodes else []
        while queue:
            private, length, positions, path, node = heapq.heappop(queue)
            if node in best:
                continue
            best[node] = path
            if length == _MAX_DEPTH or self.nodes[node].WhichOneof("kind") in _FUNCTION_KINDS:
                continue
            for position, (name, child) in enumerate(self.children[node].items()):
                if child not in best:
                    is_private = name.startswith("_")
                    step = (private + is_private, length + 1, (*positions, position), (*path, name), child)
                    heapq.heappush(queue, step)
        return best

    def checkpoint_nodes(self, trackable: TrackableObjectGraph) -> dict[int, int]:
        """Maps the nodes of this graph to those of the checkpoint's object graph, as far as it has them.

        Both graphs are walked from the root along equal names, as TensorFlow does when it restores. (The node numbers
        agree in what TensorFlow writes, but nothing requires it.) The slot variables of an optimizer are not
        attributes: each is found by the variable that it belongs to and its own name.
        """
        matched: dict[int, int] = {}
        queue: deque[tuple[int, int]] = deque([(0, 0)] if self.nodes else [])
        while queue:
            node, other = queue.popleft()
            if node in matched or not 0 <= other < len(trackable.nodes):
                continue
            matched[node] = other
            others = {child.local_name: child.node_id for child in trackable.nodes[other].children}
            queue.extend((child, others.get(name, -1)) for name, child in self.children[node].items())
        slots = {
            (matched[slot.original_variable_node_id], slot.slot_name): slot.slot_variable_node_id
            for node in matched
            for slot in self.nodes[node].slot_variables
            if slot.original_variable_node_id in matched and 0 <= slot.slot_variable_node_id < len(self.nodes)
        }
        for other in set(matched.values()):
            for slot in trackable.nodes[other].slot_variables:
                node = slots.get((slot.original_variable_node_id, slot.slot_name))
                if node is not None and 0 <= slot.slot_variable_node_id < len(trackable.nodes):
                    matched.setdefault(node, slot.slot_variable_node_id)
        return matched
