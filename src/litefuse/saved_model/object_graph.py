"""The object graph of a SavedModel: the Python objects that were saved, and their attributes.

Node 0 is the root, the object given to ``tf.saved_model.save``. An edge from a node to a child has the attribute's
name. Nodes may be shared, and edges may form cycles.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from litefuse.errors import SavedModelError

if TYPE_CHECKING:
    from litefuse.saved_model.messages import (
        SavedConcreteFunction,
        SavedObject,
        SavedObjectGraph,
        TrackableObjectGraph,
    )

__all__ = ["ObjectGraph"]

_FUNCTION_KINDS = frozenset({"function", "bare_concrete_function"})
# Paths grow with the depth: a chain of a million nodes must not take the square of that.
_MAX_DEPTH = 100


@dataclass(frozen=True)
class ObjectGraph:
    """A SavedModel's object graph, its node ids checked.

    Attributes:
        nodes: The nodes; a node's id is its index.
        children: The ids of each node's children by local name.
        concrete_functions: What was saved of each function in the library, by name.
    """

    nodes: tuple[SavedObject, ...]
    children: tuple[dict[str, int], ...] = field(repr=False)
    concrete_functions: dict[str, SavedConcreteFunction] = field(repr=False)

    @classmethod
    def from_proto(cls, proto: SavedObjectGraph, where: str = "") -> ObjectGraph:
        """Check and index the graph of a message.

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
        """Return the name of the function that a node stands for, the first if it has several traces; else None."""
        saved = self.nodes[node]
        kind = saved.WhichOneof("kind")
        if kind == "bare_concrete_function":
            return saved.bare_concrete_function.concrete_function_name
        if kind == "function" and saved.function.concrete_functions:
            return saved.function.concrete_functions[0]
        return None

    def signature_functions(self) -> dict[str, str]:
        """Return the function of each signature: the children of the root's child ``signatures``."""
        node = self.children[0].get("signatures") if self.nodes else None
        if node is None:
            return {}
        functions = {key: self.function_name(child) for key, child in self.children[node].items()}
        return {key: name for key, name in functions.items() if name is not None}

    def paths(self) -> dict[int, tuple[str, ...]]:
        """Return the most readable path from the root to each node that can be reached without going through functions.

        The one with the fewest private attributes (with a leading underscore), then the shortest, then the first in the
        order in which the attributes were saved.
        """
        best: dict[int, tuple[str, ...]] = {}
        # No two entries have the same positions, so that what follows them is never compared.
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
        """Return the node of the checkpoint's object graph for each node of this one that is also there.

        Both graphs are walked from the root along equal names, as TensorFlow does when it restores. (The nodes' numbers
        agree in what TensorFlow writes, but nothing demands it.) The slot variables of an optimizer are no attributes:
        each is found by the variable that it belongs to and its own name.
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
