"""Finds the nodes of the original that each op of a LiteRT file computes, by their names.

A converter names a result after the node that it computes, and that of several nodes which it fused after all of them.
A node that nothing is named after, such as one that was folded into weights, is linked to the ops that the nodes which
read it are linked to.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from litefuse.conversion.verify.layers.original_values import named_nodes
from litefuse.tools.page.converted import Place
from litefuse.tools.page.graph import Entry, Graph, Model, Node

Renamed: TypeAlias = Mapping[str, Mapping[str, Mapping[str, str]]]

# A node of which so many ops or more are made by those that read it has no place of its own in the file.
_SPREAD = 4
# What is folded into the weights and the bias of a product before it, and the products.
_FOLDED = {"Add", "AddV2", "BiasAdd", "FusedBatchNormV3", "Mul", "Sub"}
_PRODUCTS = {"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV", "CONV_3D"}
# An op that stands for a layer, as a recurrent one does, is linked to so many of its nodes at most, and in large files
# to fewer, but for what a fused op has: all links together are about as many as the last says.
_OF_LAYER, _OF_OP = 400, 16
_LINKS = 100_000
# A model of so few nodes may be all in one layer.
_FEW = 8


def links(original: Model, converted: Model, renamed: Renamed | None = None) -> dict[Place, tuple[Place, ...]]:
    """Returns the linked nodes of the original, for each node of the file that has some.

    Args:
        original: The model before: TensorFlow's, or of another file.
        converted: The file.
        renamed: The names of the file's inputs and outputs before they were given others: by signature, ``inputs`` and
            ``outputs``, by the names that they have now.
    """
    direct = _direct(original, converted, renamed or {})
    ops: defaultdict[Place, list[Place]] = defaultdict(list)
    for place, linked in direct.items():
        if converted.graphs[place[0]].nodes[place[1]].mark != "output":
            for node_place in linked:
                ops[node_place].append(place)
    links_by_place = {place: [*linked] for place, linked in direct.items()}
    within = _by_layer(converted)
    for graph_number, graph in enumerate(original.graphs):
        readers: defaultdict[int, list[int]] = defaultdict(list)
        for number in reversed(range(len(graph.nodes))):
            place = graph_number, number
            if place not in ops and graph.nodes[number].mark not in {"input", "output"}:
                node = graph.nodes[number]
                inlined = within[node.layer][:_OF_OP] if node.mark == "composite" else []
                into = inlined or _folded_into(graph_number, number, original, converted, readers, ops)
                into = into or [
                    *dict.fromkeys(
                        op_place for reader in readers[number] for op_place in ops.get((graph_number, reader), ())
                    )
                ]
                if inlined or 0 < len(into) < _SPREAD:
                    ops[place] = into
                    for op_place in into:
                        links_by_place.setdefault(op_place, []).append(place)
            for input_ in graph.nodes[number].inputs:
                readers[input_].append(number)
    return {place: tuple(linked) for place, linked in links_by_place.items()}


def _by_layer(converted: Model) -> defaultdict[str, list[Place]]:
    """Returns the ops within each layer; a function knows only the end of the scopes that its nodes are in."""
    within: defaultdict[str, list[Place]] = defaultdict(list)
    for graph_number, graph in enumerate(converted.graphs):
        for number, node in enumerate(graph.nodes):
            steps = node.layer.split("/") if node.layer else []
            for begin, end in itertools.combinations(range(len(steps) + 1), 2):
                within["/".join(steps[begin:end])].append((graph_number, number))
    return within


def _folded_into(
    graph_number: int,
    number: int,
    original: Model,
    converted: Model,
    readers: Mapping[int, list[int]],
    ops: Mapping[Place, list[Place]],
) -> list[Place]:
    """Returns the product that the end of a layer behind it was folded into, as batch normalization is, if any."""
    nodes = original.graphs[graph_number].nodes
    node = nodes[number]
    if node.op not in _FOLDED or any(nodes[reader].layer == node.layer for reader in readers[number]):
        return []
    pending, seen = [number], {number}
    while pending:
        for input_ in nodes[pending.pop()].inputs:
            made = ops.get((graph_number, input_), [])
            if made and all(converted.graphs[graph].nodes[index].op in _PRODUCTS for graph, index in made):
                return made
            if not made and input_ not in seen and nodes[input_].op in _FOLDED and nodes[input_].layer == node.layer:
                seen.add(input_)
                pending.append(input_)
    return []


def _direct(original: Model, converted: Model, renamed: Renamed) -> dict[Place, tuple[Place, ...]]:
    """Returns the nodes that each node of the file is named after."""
    composites = _Composites(original, converted)
    results, ends = _results(original, converted), _ends(original, converted, renamed)
    by_name: defaultdict[str, list[Place]] = defaultdict(list)
    by_scope: defaultdict[str, list[Place]] = defaultdict(list)
    inputs: defaultdict[str, list[Place]] = defaultdict(list)
    for graph_number, graph in enumerate(original.graphs):
        for number, node in enumerate(graph.nodes):
            place = graph_number, number
            if node.mark == "input":
                inputs[node.name].append(place)
            elif node.mark != "output":
                by_name[node.name].append(place)
                for scope in _scopes(node.layer):
                    by_scope[scope].append(place)
    whole = sum(map(len, by_name.values()))
    links_by_place: dict[Place, tuple[Place, ...]] = {}
    ops = sum(len(graph.nodes) for graph in converted.graphs)
    most = min(_OF_LAYER, max(_OF_OP, _LINKS // (ops or 1)))
    for graph_number, graph in enumerate(converted.graphs):
        for number, node in enumerate(graph.nodes):
            if (end := ends.get((graph_number, number))) is not None:
                linked = [end]
            elif node.mark == "input":
                linked = _named_like(node, inputs)
            elif node.mark == "output":
                continue
            else:
                named = _linked(node.name, by_name) or composites.of(node)
                linked = [*results.get((graph_number, number), ()), *named] or _of_scope(node, by_scope, whole)
            if linked:
                links_by_place[graph_number, number] = tuple(dict.fromkeys(linked[:most]))
    return links_by_place


def _results(original: Model, converted: Model) -> dict[Place, list[Place]]:
    """Returns the nodes that compute the results of signatures, by the ops that do, which are named after results."""
    graphs = {graph.name: number for number, graph in enumerate(original.graphs)}
    makers = {
        (entry.signature, name): (graphs[entry.graph], source)
        for entry in original.entries
        for name, source in _makers(original.graphs[graphs[entry.graph]])
    }
    numbers = {graph.name: number for number, graph in enumerate(converted.graphs)}
    results: dict[Place, list[Place]] = {}
    for entry in converted.entries:
        for name, source in _makers(converted.graphs[numbers[entry.graph]]):
            if (maker := makers.get((entry.signature, name))) is not None:
                results[numbers[entry.graph], source] = [maker]
    return results


def _ends(original: Model, converted: Model, renamed: Renamed) -> dict[Place, Place]:
    """Returns the inputs and outputs of signatures in the original, by those of the file."""
    named = {(entry.signature, *key): place for entry, key, place in _named_ends(original)}
    ends: dict[Place, Place] = {}
    for entry, key, place in _named_ends(converted):
        mark, name = key
        before = renamed.get(entry.signature, {}).get(f"{mark}s", {}).get(name, name)
        end = named.get((entry.signature, *key)) or named.get((entry.signature, mark, before))
        if end is not None:
            ends[place] = end
    return ends


def _named_ends(model: Model) -> Iterator[tuple[Entry, tuple[str, str], Place]]:
    """Yields the inputs and outputs of each signature: mark, name and place."""
    graphs = {graph.name: number for number, graph in enumerate(model.graphs)}
    for entry in model.entries:
        number = graphs[entry.graph]
        for index, node in enumerate(model.graphs[number].nodes):
            if node.mark in {"input", "output"}:
                yield entry, (node.mark, node.name), (number, index)


def _makers(graph: Graph) -> Iterator[tuple[str, int]]:
    """Yields the names of results and the nodes that compute them."""
    for node in graph.nodes:
        for input_ in node.inputs if node.mark == "output" else ():
            source, before = input_, graph.nodes[input_].inputs
            # What a node reads comes before it, but for circles.
            while graph.nodes[source].op == "Identity" and before and before[0] < source:
                source = before[0]
                before = graph.nodes[source].inputs
            yield node.name, source


class _Composites:
    """The calls of composites, which fused ops are named after: in a layer, with a number where the name is taken."""

    def __init__(self, original: Model, converted: Model) -> None:
        self._calls: defaultdict[str, defaultdict[str, list[Place]]] = defaultdict(lambda: defaultdict(list))
        for graph_number, graph in enumerate(original.graphs):
            for number, node in enumerate(graph.nodes):
                if node.mark == "composite":
                    for layer in dict.fromkeys(("", node.layer)):
                        self._calls[node.op][layer].append((graph_number, number))
        self._ops: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for graph in converted.graphs:
            for node in graph.nodes:
                for key in self._keys(node):
                    self._ops[key].append(node.name)

    def of(self, node: Node) -> list[Place]:
        """Returns the calls that an op may be: one if there are as many ops as calls, else all."""
        for name, layer in self._keys(node):
            calls, ops = self._calls[name][layer], self._ops[name, layer]
            return [calls[ops.index(node.name)]] if len(calls) == len(ops) else calls
        return []

    def _keys(self, node: Node) -> Iterator[tuple[str, str]]:
        """Yields the composite that an op is named after, with each end of its layer that has calls, longest first."""
        own, steps = node.name.partition(";")[0].rpartition("/")[2], node.layer.split("/")
        number = len(own) - len(own.rstrip("0123456789"))
        readings = [own[: len(own) - digits] for digits in range(number + 1)]
        for name in [reading for reading in readings if reading in self._calls][:1]:
            for layer in dict.fromkeys("/".join(steps[begin:]) for begin in range(len(steps) + 1)):
                if layer in self._calls[name]:
                    yield name, layer


def _linked(name: str, nodes: dict[str, list[Place]]) -> list[Place]:
    """Returns the nodes that a name lists; those of a call have its name in front."""
    places: list[Place] = []
    for part in name.split(";"):
        steps = part.split("/")
        for begin in range(len(steps)):
            named = [*named_nodes("/".join(steps[begin:]), nodes)]
            if named:
                places += [place for node_name in named for place in nodes[node_name]]
                break
    return places


def _named_like(node: Node, inputs: dict[str, list[Place]]) -> list[Place]:
    """Returns the arguments of an input's name: ``serving_default_x:0`` is that of ``x``."""
    name = node.name.partition(":")[0]
    if name in inputs:
        return inputs[name]
    # Of the arguments ``x`` and ``a_x``, the longer is meant.
    rest = name
    while rest:
        rest = rest.partition("_")[2]
        if rest in inputs:
            return inputs[rest]
    return []


def _of_scope(node: Node, scopes: dict[str, list[Place]], whole: int) -> list[Place]:
    """Returns the nodes of the scope that a result is named after, or else of the op's layer, or else around a name.

    A scope around a name that has most of the original's nodes, ``whole``, is the model's, and tells nothing.
    """
    names = node.name.split(";")
    for name in (*names, node.layer):
        if name in scopes:
            return scopes[name]
    around = [scopes[scope] for name in names if (scope := name.rpartition("/")[0]) in scopes]
    if not around:
        return []
    smallest = min(around, key=len)
    return smallest if len(smallest) <= max(whole // 2, _FEW) else []


def _scopes(layer: str) -> Iterator[str]:
    steps: Iterable[str] = layer.split("/") if layer else ()
    scope = ""
    for step in steps:
        scope = f"{scope}/{step}" if scope else step
        yield scope
