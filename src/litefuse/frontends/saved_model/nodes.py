"""One view of the nodes of a ``FunctionDef`` or a ``GraphDef``: by name, what they read, hand on and call, their order.

A node names what it reads: ``node`` or ``node:index`` in a graph, ``node:output:index`` or an argument in a function,
and ``^node`` where it only waits for one, which is a control input.
"""

from __future__ import annotations

import heapq
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from litefuse.errors import GraphError
from litefuse.frontends.saved_model.messages import FunctionDef, NodeDef
from litefuse.frontends.saved_model.tensor_proto import tensor_value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from litefuse.frontends.saved_model.messages import AttrValue, NameAttrList


def node_of(reference: str) -> str:
    """Returns the node or argument of an input: ``node:output:index``, ``node:index``, ``node`` or ``^node``."""
    return reference.removeprefix("^").partition(":")[0]


def split_tensor_name(tensor: str) -> tuple[str, int]:
    """Splits ``node:index``; without an index, it means the node's first output."""
    name, colon, index = tensor.rpartition(":")
    if not colon:
        return tensor, 0
    return (name, int(index)) if index.isdecimal() and len(index) < 10 else (tensor, 0)


def inlined_name(name: str, call: str) -> str:
    """Returns the name of a function's node once the call is inlined: within the scopes of the calling node.

    ``MatMul`` in a function that ``model/lstm/PartitionedCall`` calls is ``model/lstm/MatMul``. In the functions of
    loops and branches, most names have these scopes already.
    """
    scopes, slash, _ = call.rpartition("/")
    return name if name.startswith(scopes + slash) else f"{scopes}/{name}"


def data_inputs(node: NodeDef) -> list[str]:
    """Returns the data inputs of a node: the tensors that it reads."""
    return [reference for reference in node.input if not reference.startswith("^")]


def control_inputs(node: NodeDef) -> list[str]:
    """Returns the control inputs of a node: the names of the nodes that it only waits for."""
    return [reference[1:] for reference in node.input if reference.startswith("^")]


def functions_in(value: AttrValue) -> list[NameAttrList]:
    """Returns the functions that an attribute names, with the values of their attributes."""
    return [function for function in (value.func, *value.list.func) if function.name]


def constant_value(node: NodeDef | None, where: str = "") -> NDArray[Any] | None:
    """Returns the value of a Const; None for any other node.

    Raises:
        SavedModelError: Its data does not match its type and shape; ``where`` says whose it is.
    """
    return tensor_value(node.attr["value"].tensor, where) if node is not None and node.op == "Const" else None


class Nodes(dict[str, "NodeDef"]):
    """The nodes of a function or a graph by name."""

    @classmethod
    def of(cls, nodes: Iterable[NodeDef]) -> Nodes:
        return cls({node.name: node for node in nodes})

    def producer(self, tensor: str) -> NodeDef | None:
        """Returns the node that computes a tensor; None for an argument, or if it is missing."""
        return self.get(node_of(tensor))

    def origin(self, tensor: str, ops: Container[str]) -> str:
        """Returns the tensor that nodes of some ops hand on, which is their first input."""
        for _ in range(len(self) + 1):  # those of a damaged graph may form a circle
            node = self.producer(tensor)
            if node is None or node.op not in ops or not node.input:
                break
            tensor = node.input[0]
        return tensor

    def needed(self, references: Iterable[str]) -> Iterator[NodeDef]:
        """Yields the nodes that tensors and control inputs depend on; what is missing counts as an argument."""
        pending = [*map(node_of, references)]
        seen: set[str] = set()
        while pending:
            name = pending.pop()
            if name not in seen and name in self:
                seen.add(name)
                yield self[name]
                pending += map(node_of, self[name].input)

    def live(self, references: Iterable[str], arguments: Container[str], function: str) -> dict[str, list[str]]:
        """Returns the names of the nodes that results and side effects of a function depend on.

        Returns:
            With each node, the nodes that it reads from or waits for.

        Raises:
            GraphError: An input names a node that does not exist.
        """
        live: dict[str, list[str]] = {}
        pending = [(name, "a result") for name in map(node_of, references) if name not in arguments]
        while pending:
            name, reader = pending.pop()
            if name in live:
                continue
            node = self.get(name)
            if node is None:
                raise GraphError(f"{reader} reads from {name!r}, which does not exist", where=f"function {function}")
            live[name] = sources = [source for source in map(node_of, node.input) if source not in arguments]
            pending += [(source, f"node {name}") for source in sources]
        return live


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
