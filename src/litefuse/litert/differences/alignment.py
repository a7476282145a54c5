"""Finds the operators of one subgraph in another, from a file that another converter or version may have written.

They are paired by fingerprints of what they compute, which are equal wherever they are in a file, by names and order.
"""

from __future__ import annotations

import bisect
import hashlib
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from litefuse.litert.differences.compared_model import ComparedModel
from litefuse.litert.inspection.facts import OperatorFacts, StoredTensor

# A name that ends in a number, other than that of a node, has it from the converter: another one counts otherwise.
_OF_NODE = re.compile(r"(?:[^\d]|_\d+)$")
# Sequences whose lengths multiply to more are not searched for their longest common parts, which takes as many steps.
_SEARCHED = 4_000_000
_SUBGRAPHS = ("subgraph", "branch_subgraph_indices", "called_computations")


def own_options(operator: OperatorFacts) -> dict[str, Any]:
    """Returns the options of an operator without the indices of subgraphs, which are their places in the file."""
    return {
        key: value
        for key, value in operator.options.items()
        if key not in _SUBGRAPHS and not key.endswith("subgraph_index")
    }


class Fingerprints:
    """The fingerprints of the operators of a file.

    An operator's is made from its name, version, options, the types of its results, what its subgraphs compute, and
    the fingerprints of its inputs: of constants their values, of inputs of the subgraph their positions.
    """

    def __init__(self, side: ComparedModel) -> None:
        self._side = side
        self._graphs: dict[int, tuple[bytes, tuple[bytes, ...]]] = {}

    def operators(self, graph: int) -> tuple[bytes, ...]:
        """Returns the fingerprints of the operators of a subgraph, in their order."""
        return self._of(graph)[1]

    def _of(self, graph: int) -> tuple[bytes, tuple[bytes, ...]]:
        """Returns the fingerprint of a subgraph, and those of its operators."""
        if graph not in self._graphs:
            side, values = self._side, dict[int, bytes]()
            tensors = side.tensors[graph]
            for position, index in enumerate(side.inputs(graph)):
                values[index] = _hash("input", position, self._type(tensors[index]))
            fingerprints: list[bytes] = []
            for operator in side.operators[graph]:
                inputs = [self._value(tensors, values, index) for index in operator.inputs]
                made = _hash(
                    operator.name,
                    operator.version,
                    json.dumps(own_options(operator), sort_keys=True),
                    *(self._of(callee)[0] for callee in operator.callees),
                    *inputs,
                    *(self._type(tensors[index]) for index in operator.outputs if index >= 0),
                )
                fingerprints.append(made)
                for position, index in enumerate(operator.outputs):
                    values[index] = _hash(made, position)
            outputs = [self._value(tensors, values, index) for index in side.outputs(graph)]
            self._graphs[graph] = _hash(*outputs, *sorted(fingerprints)), tuple(fingerprints)
        return self._graphs[graph]

    def _value(self, tensors: list[StoredTensor], values: Mapping[int, bytes], index: int) -> bytes:
        if index < 0:
            return b""
        if index not in values:
            tensor = tensors[index]
            content = (
                self._side.digest(tensor.buffer) if tensor.is_constant else "variable" if tensor.is_variable else ""
            )
            return _hash(content, self._type(tensor))
        return values[index]

    def _type(self, tensor: StoredTensor) -> bytes:
        scales = self._side.scales(tensor)
        parts = () if scales is None else (scales.scales.tobytes(), scales.zeros.tobytes(), scales.axis, scales.block)
        return _hash(tensor.dtype, tensor.shape, *parts)


def _hash(*parts: Any) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else repr(part).encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()


def aligned(
    a: ComparedModel, b: ComparedModel, graphs: tuple[int, int], fingerprints: tuple[Fingerprints, Fingerprints]
) -> dict[int, int]:
    """Returns the pairs of operators: the indices in the second subgraph by those in the first.

    First those of one kind whose results have the same name, one that the original gave; then those that compute the
    same from the same; then, between the pairs in order, the longest common sequences of kind, layer and type of the
    result, of kind and layer, and of kind alone; at last those whose results have the same name, whatever they are.
    """
    first, second = a.operators[graphs[0]], b.operators[graphs[1]]
    pairs = _Pairs(len(first), len(second))
    prints = fingerprints[0].operators(graphs[0]), fingerprints[1].operators(graphs[1])
    pairs.in_order(
        [(print_, a.result(operator)) for print_, operator in zip(prints[0], first, strict=True)],
        [(print_, b.result(operator)) for print_, operator in zip(prints[1], second, strict=True)],
    )
    pairs.unique(_keys(first, lambda op: _named(a, op)), _keys(second, lambda op: _named(b, op)))
    pairs.in_order(*prints)
    for key in (_typed, _of_layer, _kind):
        pairs.between(_keys(first, lambda op, key=key: key(a, op)), _keys(second, lambda op, key=key: key(b, op)))
    pairs.unique(_keys(first, lambda op: a.result(op) or None), _keys(second, lambda op: b.result(op) or None))
    return pairs.partners


def moved(pairs: dict[int, int]) -> set[int]:
    """Returns the operators of the first subgraph whose partners stand in another order: as few as explain it."""
    return {*pairs} - {first for first, _ in _increasing(sorted(pairs.items()))}


def _keys(operators: Iterable[OperatorFacts], key: Callable[[OperatorFacts], Hashable]) -> list[Hashable]:
    return [key(operator) for operator in operators]


def _kind(_: ComparedModel, operator: OperatorFacts) -> Hashable:
    return operator.name, operator.composite


def _of_layer(_: ComparedModel, operator: OperatorFacts) -> Hashable:
    return operator.name, operator.composite, operator.layer


def _typed(side: ComparedModel, operator: OperatorFacts) -> Hashable:
    tensors = side.tensors[operator.subgraph]
    types = tuple((tensors[output].dtype, tensors[output].shape) for output in operator.outputs if output >= 0)
    return operator.name, operator.composite, operator.layer, types


def _named(side: ComparedModel, operator: OperatorFacts) -> Hashable | None:
    name = side.result(operator)
    return (operator.name, operator.composite, name) if _OF_NODE.search(name) else None


class _Pairs:
    """Pairs of positions in two sequences: those in the second by those in the first."""

    def __init__(self, first: int, second: int) -> None:
        self.partners: dict[int, int] = {}
        self._first = range(first)
        self._second = range(second)

    def _left(self) -> tuple[list[int], list[int]]:
        taken = {*self.partners.values()}
        return [position for position in self._first if position not in self.partners], [
            position for position in self._second if position not in taken
        ]

    def in_order(self, first: Sequence[Hashable], second: Sequence[Hashable]) -> None:
        """Pairs positions of the same key, the first with the first, and so on."""
        left, right = self._left()
        places: defaultdict[Hashable, list[int]] = defaultdict(list)
        for position in reversed(right):
            places[second[position]].append(position)
        for position in left:
            if places[first[position]]:
                self.partners[position] = places[first[position]].pop()

    def unique(self, first: Sequence[Hashable | None], second: Sequence[Hashable | None]) -> None:
        """Pairs positions of a key that is left once in each sequence, and not None."""
        left, right = self._left()
        ours, theirs = _once(left, first), _once(right, second)
        self.partners.update((ours[key], theirs[key]) for key in ours.keys() & theirs.keys() if key is not None)

    def between(self, first: Sequence[Hashable], second: Sequence[Hashable]) -> None:
        """Pairs positions of the same key in the longest common sequences between the pairs that are in order."""
        left, right = self._left()
        anchors = [(-1, -1), *_increasing(sorted(self.partners.items())), (len(self._first), len(self._second))]
        for (start, other_start), (end, other_end) in itertools.pairwise(anchors):
            ours, theirs = _inside(left, start, end), _inside(right, other_start, other_end)
            self.partners.update(_common(ours, theirs, first, second))


def _inside(positions: Sequence[int], start: int, end: int) -> Sequence[int]:
    return positions[bisect.bisect_right(positions, start) : bisect.bisect_left(positions, end)]


def _common(
    ours: Sequence[int], theirs: Sequence[int], first: Sequence[Hashable], second: Sequence[Hashable]
) -> Iterator[tuple[int, int]]:
    if len(ours) * len(theirs) > _SEARCHED:
        pairs = _Pairs(len(ours), len(theirs))
        pairs.in_order([first[position] for position in ours], [second[position] for position in theirs])
        yield from ((ours[one], theirs[other]) for one, other in pairs.partners.items())
        return
    matcher = SequenceMatcher(
        None, [first[position] for position in ours], [second[position] for position in theirs], autojunk=False
    )
    for block in matcher.get_matching_blocks() if ours and theirs else ():
        for offset in range(block.size):
            yield ours[block.a + offset], theirs[block.b + offset]


def _once(positions: Iterable[int], keys: Sequence[Hashable | None]) -> dict[Hashable | None, int]:
    places: defaultdict[Hashable | None, list[int]] = defaultdict(list)
    for position in positions:
        places[keys[position]].append(position)
    return {key: listed[0] for key, listed in places.items() if len(listed) == 1}


def _increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the longest part of a sequence of pairs, sorted by the first number, in which the second one rises."""
    ends: list[int] = []  # the least last number of an increasing part of each length
    places: list[int] = []  # the pair with that number
    before: list[int | None] = []
    for place, (_, number) in enumerate(pairs):
        length = bisect.bisect_left(ends, number)
        before.append(places[length - 1] if length else None)
        if length == len(ends):
            ends.append(number)
            places.append(place)
        else:
            ends[length], places[length] = number, place
    increasing: list[tuple[int, int]] = []
    place = places[-1] if places else None
    while place is not None:
        increasing.append(pairs[place])
        place = before[place]
    return increasing[::-1]
