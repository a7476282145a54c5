"""Makes composites of chains of ops in a model's file."""

from __future__ import annotations

import heapq
import shutil
from collections.abc import Sequence
from copy import copy
from pathlib import Path
from typing import Any, cast

from flatbuffers import flexbuffers

from litefuse.kernels.generator.body import Body
from litefuse.kernels.generator.chains import Chain, needs_of
from litefuse.litert.export.edited_file import edit_file
from litefuse.litert.runtime.model_tables import OP_NUMBERS
from litefuse.litert.runtime.schema_objects import made, op_name, set_options

__all__ = ["outline"]

_COMPOSITE = "STABLEHLO_COMPOSITE"
# The runtime wants a map.
_NO_ATTRIBUTES = bytes(cast("bytes", flexbuffers.Dumps({})))


def outline(path: Path, target: Path, chains: Sequence[Chain]) -> None:
    """Writes a model's file with composites in the place of chains of its ops.

    Args:
        path: The file that the chains were found in.
        target: The file to write.
        chains: The chains.
    """
    shutil.copyfile(path, target)
    edit_file(target, lambda model: _Outlining(model).apply(chains))


class _Outlining:
    """The change of a model, as the schema's objects."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._bodies: dict[str, int] = {}

    def apply(self, chains: Sequence[Chain]) -> bool:
        for graph in {id(chain.graph): chain.graph for chain in chains}.values():
            self._rewrite(graph, [chain for chain in chains if chain.graph is graph])
        return bool(chains)

    def _rewrite(self, graph: Body, chains: Sequence[Chain]) -> None:
        subgraph = self._model.subgraphs[graph.graph]
        operators: list[Any] = list(subgraph.operators)
        subgraph.operators = [
            operators[place] if chain is None else self._call(chain, subgraph, [operators[op] for op in chain.ops])
            for place, chain in _arranged(graph, chains)
        ]

    def _call(self, chain: Chain, subgraph: Any, operators: Sequence[Any]) -> Any:
        if chain.name not in self._bodies:
            self._bodies[chain.name] = len(self._model.subgraphs)
            self._model.subgraphs.append(_body(chain, subgraph, operators))
        options = made("StableHLOCompositeOptions", name=chain.name, version=1)
        options.decompositionSubgraphIndex = self._bodies[chain.name]
        options.compositeAttributes = list(_NO_ATTRIBUTES)
        call = made("Operator", opcodeIndex=self._code(), inputs=list(chain.inputs), outputs=list(chain.outputs))
        set_options(call, options)
        return call

    def _code(self) -> int:
        for place, code in enumerate(self._model.operatorCodes):
            if op_name(code) == _COMPOSITE:
                return place
        self._model.operatorCodes.append(made("OperatorCode", builtinCode=OP_NUMBERS[_COMPOSITE]))
        return len(self._model.operatorCodes) - 1


def _body(chain: Chain, subgraph: Any, operators: Sequence[Any]) -> Any:
    """Returns the graph of a composite's body. Its constants are in the same buffers as before."""
    body, places = made("SubGraph", name=chain.name, tensors=[], operators=list(map(copy, operators))), dict[int, int]()

    def placed(indices: Any) -> list[int]:
        for index in map(int, indices):
            if index >= 0 and index not in places:
                places[index] = len(body.tensors)
                body.tensors.append(copy(subgraph.tensors[index]))
                if index in chain.inputs:
                    body.tensors[-1].buffer = 0  # an operand may be a constant
        return [places[index] if index >= 0 else -1 for index in map(int, indices)]

    body.inputs = placed(chain.inputs)
    for operator in body.operators:
        operator.inputs, operator.outputs = placed(operator.inputs), placed(operator.outputs)
    body.outputs = placed(chain.outputs)
    return body


def _arranged(graph: Body, chains: Sequence[Chain]) -> list[tuple[int, Chain | None]]:
    """Returns the ops and chains in an order in which each comes behind what it needs, as much as before as can be.

    A chain is at the place of the last of its ops that does not stay.
    """
    needs = needs_of(graph)
    chain_of = {place: chain for chain in chains for place in chain.ops}
    ends = {chain: max(set(chain.ops) - chain.stays) for chain in chains}

    def node_of(place: int) -> int:
        chain = chain_of.get(place)
        return place if chain is None or place in chain.stays else ends[chain]

    wanted: dict[int, set[int]] = {}
    for place, needed in enumerate(needs):
        if place not in chain_of or place in chain_of[place].stays:
            wanted[place] = {node_of(need) for need in needed}
    for chain, end in ends.items():
        wanted[end] = {node_of(need) for place in chain.ops for need in needs[place] if need not in chain.ops}
    readers: dict[int, list[int]] = {}
    for place, needed in wanted.items():
        for need in needed:
            readers.setdefault(need, []).append(place)
    ready = sorted(place for place, needed in wanted.items() if not needed)
    order: list[tuple[int, Chain | None]] = []
    at = {end: chain for chain, end in ends.items()}
    while ready:
        place = heapq.heappop(ready)
        order.append((place, at.get(place)))
        for reader in readers.get(place, ()):
            wanted[reader].discard(place)
            if not wanted[reader]:
                heapq.heappush(ready, reader)
    if len(order) < len(wanted):
        raise AssertionError("the chains make a circle")
    return order
