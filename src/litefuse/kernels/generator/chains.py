"""Chains of ops that one kernel may compute: found in the graphs of a model, and made composites in its file."""

from __future__ import annotations

import heapq
import shutil
from collections import defaultdict
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from flatbuffers import flexbuffers

from litefuse.kernels.generator.body import Body, BodyOp, BodyTensor
from litefuse.kernels.generator.graph import RULES, Graph, NotGenerated
from litefuse.litert.export.edited_file import edit_file
from litefuse.litert.runtime.model_tables import OP_NUMBERS
from litefuse.litert.runtime.schema_objects import made, op_name, set_options

# Fewer ops gain nothing over the call of the kernel.
_FEWEST_OPS = 3
# A chain is tried again with each op that joins it.
_MOST_OPS = 100
# Larger constants become operands.
_LARGEST_CONSTANT = 1 << 16
# What runs faster elsewhere, although there are rules for small sizes; and a choice that rounding before it may change.
_LEFT_OUT = frozenset({"FULLY_CONNECTED", "BATCH_MATMUL", "TOPK_V2"})
# What XNNPACK takes in float32, of the ops that have rules. A table, because chains are found without running the
# model, which may need kernels for that; it only orders them, and all are measured.
# fmt: off
_IN_XNNPACK = frozenset({
    "ABS", "ADD", "CEIL", "CONCATENATION", "COS", "DIV", "ELU", "EXP", "EXPAND_DIMS", "FLOOR", "GELU", "HARD_SWISH",
    "LEAKY_RELU", "LOG", "LOGISTIC", "MAXIMUM", "MEAN", "MINIMUM", "MUL", "NEG", "PAD", "PRELU", "RELU", "RELU6",
    "RELU_N1_TO_1", "RELU_0_TO_1", "RESHAPE", "RESIZE_BILINEAR", "ROUND", "RSQRT", "SIN", "SLICE", "SOFTMAX",
    "SPLIT", "SQRT", "SQUARE", "SQUARED_DIFFERENCE", "STRIDED_SLICE", "SUB", "SUM", "TANH", "TRANSPOSE",
})
# fmt: on


@dataclass(frozen=True, eq=False)
class Chain:
    """Ops that become one composite.

    Attributes:
        name: The composite's name. Chains of one name have the same body.
        graph: The graph of a signature.
        ops: The places of its ops, in their order.
        stays: Those of them that stay in the graph as well: their results depend on shapes alone.
        inputs: The tensors that the composite takes.
        outputs: The tensors that it gives.
    """

    name: str
    graph: Body
    ops: tuple[int, ...]
    stays: frozenset[int]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    @property
    def layer(self) -> str:
        """The name of its last result."""
        return self.graph.tensors[self.outputs[-1]].name

    @property
    def left_by_xnnpack(self) -> int:
        """The number of its ops that XNNPACK does not take."""
        ops = [self.graph.ops[place] for place in self.ops]
        return sum(op.name not in _IN_XNNPACK or any(map(self._is_other, (*op.inputs, *op.outputs))) for op in ops)

    def _is_other(self, index: int) -> bool:
        tensor = self.graph.tensors[index] if index >= 0 else None
        return tensor is not None and not tensor.is_constant and tensor.dtype != "FLOAT32"


def find_chains(graphs: Sequence[Body], taken: Collection[str] = ()) -> list[Chain]:
    """Finds chains: those with the most ops that XNNPACK leaves first, then the longest."""
    chains = [chain for graph in graphs for chain in _Groups(graph).chains()]
    chains.sort(key=lambda chain: (-chain.left_by_xnnpack, -len(chain.ops)))
    names: dict[object, str] = {}
    number = 0
    for chain in chains:
        key = _alike(chain)
        if key not in names:
            number += 1
            while f"litefuse.chain.{number}" in taken:
                number += 1
            names[key] = f"litefuse.chain.{number}"
    return [replace(chain, name=names[_alike(chain)]) for chain in chains]


def needs_of(graph: Body) -> list[set[int]]:
    """Returns the ops that each op needs before it. Ops without rules stay in order: they may have effects."""
    made = {index: place for place, op in enumerate(graph.ops) for index in op.outputs}
    needs = [{made[index] for index in op.inputs if index in made} for op in graph.ops]
    last: int | None = None
    for place, op in enumerate(graph.ops):
        if op.name not in RULES:
            needs[place] |= {last} if last is not None else set()
            last = place
    return needs


def _of_sizes(graph: Body) -> set[int]:
    """Returns the ops whose results depend on shapes alone.

    LiteRT computes them before it runs, such as the shape for a later reshape. Of a composite it does not, and results
    of a body that are such do not follow a resize.
    """
    sizes: set[int] = set()
    known = {index for index, tensor in enumerate(graph.tensors) if tensor.is_constant}
    for place, op in enumerate(graph.ops):
        if op.name in RULES and (
            op.name in ("SHAPE", "RANK") or known.issuperset(input_ for input_ in op.inputs if input_ >= 0)
        ):
            sizes.add(place)
            known.update(op.outputs)
    return sizes


class _Groups:
    """The growing groups of ops of a graph. Taken as one op each, they make no circle."""

    def __init__(self, graph: Body) -> None:
        import litefuse.kernels.generator.rules  # noqa: F401  # pyright: ignore[reportUnusedImport]  registers the rules

        self._graph = graph
        self._needs = needs_of(graph)
        self._group: dict[int, tuple[int, ...]] = {}
        self._of_sizes = _of_sizes(graph)
        self._given = set(graph.outputs)
        self._readers: dict[int, set[int]] = defaultdict(set)
        for place, op in enumerate(graph.ops):
            for index in op.inputs:
                self._readers[index].add(place)

    def chains(self) -> list[Chain]:
        for place, op in enumerate(self._graph.ops):
            if self._is_candidate(op):
                self._place(place)
        groups = [group for group in dict.fromkeys(self._group.values()) if len(group) >= _FEWEST_OPS]
        return [chain for group in groups if (chain := self._chain(group)) is not None]

    def _is_candidate(self, op: BodyOp) -> bool:
        tensors = [self._graph.tensors[index] for index in (*op.inputs, *op.outputs) if index >= 0]
        return (
            op.name in RULES
            and op.name not in _LEFT_OUT
            and "CONV" not in op.name
            and op.name != "WHILE"  # its parts are not read here
            and not any(tensor.is_variable for tensor in tensors)
        )

    def _place(self, place: int) -> None:
        """Puts an op into the groups whose results it takes, all or one of them, or into one of its own."""
        near = {self._group[need] for need in self._needs[place] if need in self._group}
        one_by_one = [(group,) for group in sorted(near, key=lambda group: (-len(group), group))]
        for groups in (tuple(near), *one_by_one, ()):
            members = tuple(sorted({place, *(member for group in groups for member in group)}))
            if len(members) <= _MOST_OPS and self._is_convex(members) and self._generated(members) is not None:
                self._group |= dict.fromkeys(members, members)
                return

    def _is_convex(self, members: tuple[int, ...]) -> bool:
        """Whether nothing that they need from outside needs one of them."""
        inside, seen = set(members), set[int]()
        waiting = [need for place in members for need in self._needs[place] if need not in inside]
        while waiting:
            place = waiting.pop()
            if place in inside:
                return False
            if place not in seen:
                peers = self._group.get(place, (place,))
                seen.update(peers)
                waiting += [need for peer in peers for need in self._needs[peer] if need not in seen]
        return True

    def _generated(self, members: tuple[int, ...]) -> Graph | None:
        try:
            return Graph.of(self._body(members))
        except NotGenerated:
            return None

    def _body(self, members: Sequence[int]) -> Body:
        ops = tuple(self._graph.ops[place] for place in members)
        made = {index for op in ops for index in op.outputs}
        read = dict.fromkeys(index for op in ops for index in op.inputs if index >= 0 and index not in made)
        inputs = tuple(index for index in read if not _is_inside(self._graph.tensors[index]))
        return replace(self._graph, ops=ops, inputs=inputs, outputs=self._used_outside({*members}))

    def _used_outside(self, members: AbstractSet[int]) -> tuple[int, ...]:
        made = [index for place in members for index in self._graph.ops[place].outputs]
        return tuple(index for index in made if index in self._given or not self._readers[index] <= members)

    def _chain(self, members: tuple[int, ...]) -> Chain | None:
        body = self._body(members)
        inside = {index: place for place in members for index in self._graph.ops[place].outputs}
        stays: set[int] = set()
        outputs = set(body.outputs)
        waiting = [inside[index] for index in body.outputs if inside[index] in self._of_sizes]
        while waiting:
            place = waiting.pop()
            stays.add(place)
            for index in self._graph.ops[place].inputs:
                if inside.get(index) in self._of_sizes - stays:
                    waiting.append(inside[index])
                elif index in inside:
                    outputs.add(index)  # whose shape is asked for
        ordered = tuple(index for index, place in inside.items() if index in outputs and place not in stays)
        if not ordered or len(members) - len(stays) < _FEWEST_OPS:
            return None
        return Chain("", self._graph, members, frozenset(stays), body.inputs, ordered)


def _is_inside(tensor: BodyTensor) -> bool:
    """Whether a constant is part of the body."""
    return tensor.value is not None and tensor.value.nbytes <= _LARGEST_CONSTANT


def _alike(chain: Chain) -> object:
    """Returns what chains that compute the same have in common."""
    tensors = chain.graph.tensors
    numbers: dict[int, int] = {-1: -1}

    def number(index: int) -> int:
        return numbers.setdefault(index, len(numbers))

    ops = [chain.graph.ops[place] for place in chain.ops]
    wiring: list[object] = []
    for op in ops:
        options = "" if op.options is None else repr(cast("dict[str, Any]", vars(op.options)))
        wiring.append((op.name, options, *map(number, (*op.inputs, -1, *op.outputs))))
    ends = (tuple(map(number, chain.inputs)), tuple(map(number, chain.outputs)))
    contents: list[object] = []
    for index in numbers:
        if index >= 0:
            own = tensors[index]
            value = own.value.tobytes() if own.value is not None and index not in chain.inputs else None
            contents.append((own.dtype, own.shape, own.scale, own.zero_point, own.is_quantized, value))
    return tuple(wiring), ends, tuple(contents)


_COMPOSITE = "STABLEHLO_COMPOSITE"
# The runtime wants a map.
_NO_ATTRIBUTES = bytes(cast("bytes", flexbuffers.Dumps({})))


def outline(path: Path, target: Path, chains: Sequence[Chain]) -> None:
    """Writes a model's file with composites in the place of chains of its ops."""
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
