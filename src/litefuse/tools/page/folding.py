"""Folds a graph by its layers: each view has the layers and nodes of one scope, and its layers open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from litefuse.tools.page.graph import Graph


@dataclass(frozen=True)
class Box:
    """A box of a view.

    Attributes:
        node: The index of the node that it stands for; of a layer, the first of its nodes.
        view: The index of the view that it opens; -1 if it is a node.
        title: A layer's name; empty for a node.
        count: How many nodes it stands for.
        outside: Whether its node is in another view, and reads or is read by one of this.
    """

    node: int
    view: int = -1
    title: str = ""
    count: int = 1
    outside: bool = False


@dataclass
class View:
    """The boxes of one scope.

    Attributes:
        title: The scope; empty for the whole graph.
        parent: The index of the view that it opens from; -1 for the first.
        boxes: The boxes.
        edges: The pairs of indices of boxes, of which the second reads from the first.
    """

    title: str
    parent: int = -1
    boxes: list[Box] = field(default_factory=list[Box])
    edges: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])


def folded(graph: Graph) -> list[View]:
    """Returns the views of a graph, the first of which is the whole.

    A scope that holds all of the view that it is in does not become a view of its own, and neither does one of a single
    node.
    """
    readers: list[list[int]] = [[] for _ in graph.nodes]
    for number, node in enumerate(graph.nodes):
        for input_ in node.inputs:
            readers[input_].append(number)
    folding = _Folding(graph, [node.layer.split("/") if node.layer else [] for node in graph.nodes], readers)
    folding.view(range(len(graph.nodes)))
    return folding.views


# The nodes of a view, the depth of their scope, the view that it is in, and what is told its index.
_Pending: TypeAlias = tuple[Sequence[int], int, int, Callable[[int], None] | None]


@dataclass
class _Folding:
    graph: Graph
    paths: Sequence[Sequence[str]]
    readers: Sequence[Sequence[int]]
    views: list[View] = field(default_factory=list[View])

    def view(self, all_nodes: Sequence[int]) -> None:
        """Adds the view of all nodes, and those of the scopes in it."""
        pending: list[_Pending] = [(all_nodes, 0, -1, None)]
        while pending:
            nodes, depth, parent, opener = pending.pop()
            index = len(self.views)
            view = View("", parent)
            self.views.append(view)
            if opener is not None:
                opener(index)
            groups = self._groups(nodes, depth)
            while len(groups) == 1 and len(nodes) > 1 and groups[0].scope is not None:
                depth += 1
                groups = self._groups(nodes, depth)
            view.title = "/".join(self.paths[nodes[0]][:depth]) if depth else ""
            boxes: dict[int, int] = {}
            for group in groups:
                number = len(view.boxes)
                if len(group.nodes) == 1:
                    view.boxes.append(Box(group.nodes[0]))
                else:
                    view.boxes.append(Box(group.nodes[0], 0, group.scope or "", len(group.nodes)))
                    pending.append((group.nodes, depth + 1, index, self._opener(view, number)))
                boxes.update(dict.fromkeys(group.nodes, number))
            self._connect(view, boxes)

    @staticmethod
    def _opener(view: View, number: int) -> Callable[[int], None]:
        def sets(index: int) -> None:
            box = view.boxes[number]
            view.boxes[number] = Box(box.node, index, box.title, box.count)

        return sets

    def _groups(self, nodes: Iterable[int], depth: int) -> list[_Group]:
        """Returns the nodes by their scope at a depth; those that are not in one are by themselves."""
        groups: dict[str | int, _Group] = {}
        for number in nodes:
            path = self.paths[number]
            key = path[depth] if len(path) > depth else number
            groups.setdefault(key, _Group(key if isinstance(key, str) else None, [])).nodes.append(number)
        return [*groups.values()]

    def _connect(self, view: View, boxes: dict[int, int]) -> None:
        """Adds the edges between boxes, and boxes for what is outside of the view."""
        edges: dict[tuple[int, int], None] = {}
        outside: dict[tuple[str, int], int] = {}

        def beyond(number: int, before: int) -> int:
            node = self.graph.nodes[number]
            key = node.layer or f"\n{number}", before
            if key not in outside:
                outside[key] = len(view.boxes)
                view.boxes.append(Box(number, title=node.layer, outside=True))
            return outside[key]

        for number, box in list(boxes.items()):
            for input_ in self.graph.nodes[number].inputs:
                source = boxes[input_] if input_ in boxes else beyond(input_, 0)
                if source != box:
                    edges[source, box] = None
            for reader in self.readers[number]:
                if reader not in boxes:
                    edges[box, beyond(reader, 1)] = None
        view.edges = [*edges]


@dataclass
class _Group:
    """Nodes of one scope, whose name may be empty: names in files of other converters begin with slashes."""

    scope: str | None
    nodes: list[int]
