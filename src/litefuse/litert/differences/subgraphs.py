"""Comparison of two subgraphs: operators, what they read, tensors and constants."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from litefuse.litert.differences.alignment import Fingerprints, aligned, moved, own_options
from litefuse.litert.differences.changes import (
    Change,
    NameChange,
    OperatorChange,
    TensorChange,
    ValueChange,
    WeightChange,
)
from litefuse.litert.differences.compared_model import ComparedModel
from litefuse.litert.differences.weights import compare_constants
from litefuse.litert.inspection.facts import OperatorFacts, StoredTensor
from litefuse.litert.inspection.layer_names import layer_of
from litefuse.litert.runtime.model_reader import Scales, are_same_scales

# Ops whose result depends on what ran before, even if they read nothing of it.
_STATEFUL = frozenset(
    {
        *("ASSIGN_VARIABLE", "CALL_ONCE", "HASHTABLE_IMPORT", "MULTINOMIAL", "RANDOM_STANDARD_NORMAL"),
        *("RANDOM_UNIFORM", "READ_VARIABLE", "STABLEHLO_RNG_BIT_GENERATOR"),
    }
)


class SubgraphComparison:
    """The comparison of all subgraphs of two files, which are paired by what runs them.

    Attributes:
        operators: The operators that differ.
        tensors: The tensors that differ.
        weights: The constants that differ.
        names: The tensors that have other names.
        same_weights: How many constants are equal.
        graphs: The subgraphs of the second file by those of the first.

    Args:
        a: The first file.
        b: The second file.
    """

    def __init__(self, a: ComparedModel, b: ComparedModel) -> None:
        self.operators: list[OperatorChange] = []
        self.tensors: list[TensorChange] = []
        self.weights: list[WeightChange] = []
        self.names: list[NameChange] = []
        self.same_weights = 0
        self.graphs: dict[int, int] = {}
        self._partners: dict[int, dict[int, int]] = {}
        self._a, self._b = a, b
        self._fingerprints = Fingerprints(a), Fingerprints(b)
        self._compared: dict[tuple[Any, ...], WeightChange | None] = {}
        self._waiting: deque[tuple[int, int]] = deque()

    def compare(self, first: int, second: int, inputs: Mapping[int, int]) -> None:
        """Compares two subgraphs, and those that their operators run.

        Args:
            first: The index in the first file.
            second: The index in the second file.
            inputs: The pairs of their inputs that are known; others are paired in their order.
        """
        if not self._pair(first, second):
            return
        self._compare(first, second, inputs)
        while self._waiting:
            self._compare(*self._waiting.popleft(), {})

    def partner(self, graph: int, index: int) -> int | None:
        """Returns the tensor of the second file that is a tensor of the first one; None if there is none."""
        return self._partners.get(graph, {}).get(index)

    def producers(self, graph: int, index: int, partner: int) -> tuple[str, str]:
        """Describes what computes a tensor of the first file, and one of the subgraph's partner."""
        return _producer(self._a, graph, index), _producer(self._b, self.graphs[graph], partner)

    def rest(self) -> None:
        """Reports the subgraphs that nothing paired: as operators that are added or removed."""
        sides: list[tuple[ComparedModel, Change, set[int]]] = [
            (self._a, "removed", {*self.graphs}),
            (self._b, "added", {*self.graphs.values()}),
        ]
        for side, change, paired in sides:
            for graph in range(len(side.operators)):
                if graph not in paired:
                    self.operators += [_only(side, operator, change) for operator in side.operators[graph]]
                    used = {
                        index for operator in side.operators[graph] for index in (*operator.inputs, *operator.outputs)
                    }
                    self._only_tensors(side, graph, used, change)

    def _pair(self, first: int, second: int) -> bool:
        """Pairs subgraphs; returns whether they were not paired with others."""
        if first in self.graphs or second in self.graphs.values():
            return False
        self.graphs[first] = second
        return True

    def _compare(self, first: int, second: int, inputs: Mapping[int, int]) -> None:
        a, b = self._a, self._b
        pairs = aligned(a, b, (first, second), self._fingerprints)
        partners = self._partners[first] = dict(inputs)
        self._pair_inputs(first, second, partners)
        for index, other in pairs.items():
            outputs = zip(a.operators[first][index].outputs, b.operators[second][other].outputs, strict=False)
            partners.update(outputs)
        in_another_order, counting = moved(pairs), self._order_that_counts(first, pairs)
        for index, operator in enumerate(a.operators[first]):
            if index not in pairs:
                self.operators.append(_only(a, operator, "removed"))
                continue
            partner = b.operators[second][pairs[index]]
            values = [*self._values(operator, partner, partners)]
            if index in counting:
                values.append(ValueChange("order", index, partner.index))
            if values or index in in_another_order:
                self.operators.append(
                    OperatorChange(
                        "changed" if values else "moved",
                        *_title(a, operator),
                        place_before=(first, index),
                        place_after=(second, partner.index),
                        values=tuple(values),
                    )
                )
        taken = {*pairs.values()}
        self.operators += [
            _only(b, operator, "added") for operator in b.operators[second] if operator.index not in taken
        ]
        self._compare_tensors(first, second, partners)

    def _order_that_counts(self, graph: int, pairs: dict[int, int]) -> set[int]:
        """Returns the operators that run in another order, though they read or write what others do."""
        operators = self._a.operators[graph]
        return moved({index: other for index, other in pairs.items() if operators[index].name in _STATEFUL})

    def _pair_inputs(self, first: int, second: int, partners: dict[int, int]) -> None:
        taken = {*partners.values()}
        left = [input_ for input_ in self._a.inputs(first) if input_ not in partners]
        others = [input_ for input_ in self._b.inputs(second) if input_ not in taken]
        partners.update(zip(left, others, strict=False))

    def _values(self, operator: OperatorFacts, other: OperatorFacts, partners: dict[int, int]) -> Iterator[ValueChange]:
        """Yields what differs between two operators; pairs the constants that they read, and the subgraphs they run."""
        ours, theirs = self._a.tensors[operator.subgraph], self._b.tensors[other.subgraph]
        if (operator.name, operator.composite) != (other.name, other.composite):
            yield ValueChange("op", _shown(operator), _shown(other))
        if operator.version != other.version:
            yield ValueChange("version", operator.version, other.version)
        yield from changed_values("", own_options(operator), own_options(other))
        for what, before, after in (
            ("inputs", operator.inputs, other.inputs),
            ("outputs", operator.outputs, other.outputs),
            ("subgraphs", operator.callees, other.callees),
        ):
            if len(before) != len(after):
                yield ValueChange(what, len(before), len(after))
        for position, (index, partner) in enumerate(zip(operator.inputs, other.inputs, strict=False)):
            if index < 0 or partner < 0:
                same = index == partner
            elif ours[index].is_constant or theirs[partner].is_constant:
                same = ours[index].is_constant == theirs[partner].is_constant
                if same:
                    same = self._compare_constants(ours[index], theirs[partner], partners, operator.layer)
            elif index in partners:
                same = partners[index] == partner
            else:  # a variable, or an operator that only one of them has
                same = ours[index].is_variable and theirs[partner].is_variable
                if same:
                    partners[index] = partner
            if not same:
                names = _name(ours, index), _name(theirs, partner)
                if names[0] == names[1]:  # what computes it has another name
                    names = _producer(self._a, operator.subgraph, index), _producer(self._b, other.subgraph, partner)
                yield ValueChange(f"input {position}", *names)
        for position, (callee, partner) in enumerate(zip(operator.callees, other.callees, strict=False)):
            if self._pair(callee, partner):
                self._waiting.append((callee, partner))
            elif self.graphs.get(callee) != partner:
                yield ValueChange(f"subgraph {position}", callee, partner)

    def _compare_constants(
        self, first: StoredTensor, second: StoredTensor, partners: dict[int, int], reader: str
    ) -> bool:
        """Compares constants that an operator of a layer reads; always returns that the operators read the same."""
        key = (first.subgraph, first.index, second.subgraph, second.index)
        if key not in self._compared:
            layer = layer_of(first.name) or layer_of(second.name) or reader
            change = self._compared[key] = compare_constants(self._a, self._b, first, second, layer)
            if change is None:
                self.same_weights += 1
            else:
                self.weights.append(change)
        partners.setdefault(first.index, second.index)
        return True

    def _compare_tensors(self, first: int, second: int, partners: dict[int, int]) -> None:
        ours, theirs = self._a.tensors[first], self._b.tensors[second]
        taken = {*partners.values()}
        by_name = {tensor.name: tensor.index for tensor in reversed(theirs) if tensor.index not in taken}
        for tensor in ours:  # those that no operator reads or computes, such as memory for an LSTM to work in
            if (
                tensor.index not in partners
                and tensor.name in by_name
                and tensor.is_constant == theirs[by_name[tensor.name]].is_constant
            ):
                partners[tensor.index] = by_name.pop(tensor.name)
        for index, partner in sorted(partners.items()):
            if index >= 0 and partner >= 0:
                self._compare_tensor(ours[index], theirs[partner])
        taken = {*partners.values()}
        self._only_tensors(self._a, first, {tensor.index for tensor in ours if tensor.index not in partners}, "removed")
        self._only_tensors(self._b, second, {tensor.index for tensor in theirs if tensor.index not in taken}, "added")

    def _compare_tensor(self, first: StoredTensor, second: StoredTensor) -> None:
        scales, other_scales = self._a.scales(first), self._b.scales(second)
        before: dict[str, Any] = {"dtype": first.dtype, "shape": _shape(first)}
        after: dict[str, Any] = {"dtype": second.dtype, "shape": _shape(second)}
        before |= {"is_variable": first.is_variable, "is_constant": first.is_constant}
        after |= {"is_variable": second.is_variable, "is_constant": second.is_constant}
        values = [*changed_values("", before, after)]
        if not are_same_scales(scales, other_scales):
            described = _described(scales), _described(other_scales)
            if scales is not None and other_scales is not None and described[0] == described[1]:
                differing = (scales.scales != other_scales.scales) | (scales.zeros != other_scales.zeros)
                described = described[0], {**(described[1] or {}), "differing": int(np.count_nonzero(differing))}
            values.append(ValueChange("quantization", *described))
        if values:
            layer = layer_of(first.name) or layer_of(second.name)
            places = _place(first), _place(second)
            self.tensors.append(TensorChange("changed", first.name, layer, *places, second.size, tuple(values)))
        if first.name != second.name:
            self.names.append(NameChange(first.name, second.name))

    def _only_tensors(self, side: ComparedModel, graph: int, indices: set[int], change: Change) -> None:
        for tensor in side.tensors[graph]:
            if tensor.index in indices:
                places = (_place(tensor), None) if change == "removed" else (None, _place(tensor))
                self.tensors.append(TensorChange(change, tensor.name, layer_of(tensor.name), *places, size=tensor.size))


def changed_values(
    prefix: str, before: Mapping[str, Any], after: Mapping[str, Any], *, into_lists: bool = False
) -> Iterator[ValueChange]:
    """Yields the entries that differ, those of nested mappings by their paths.

    Args:
        prefix: The path of the mappings, which ends with a dot; or empty.
        before: The first mapping.
        after: The second mapping.
        into_lists: Whether lists count as mappings, too, by their indices.
    """
    for key in dict.fromkeys((*before, *after)):
        one, other = before.get(key), after.get(key)
        nested = _nested(one, into_lists=into_lists), _nested(other, into_lists=into_lists)
        if nested[0] is not None and nested[1] is not None and type(one) is type(other):
            yield from changed_values(f"{prefix}{key}.", nested[0], nested[1], into_lists=into_lists)
        elif not _is_equal(one, other):
            yield ValueChange(f"{prefix}{key}", one, other)


def _nested(value: object, *, into_lists: bool) -> Mapping[str, Any] | None:
    if into_lists and isinstance(value, list):
        return {str(index): item for index, item in enumerate(cast("list[object]", value))}
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else None


def _is_equal(one: object, other: object) -> bool:
    """Whether values are equal, and of one type: JSON tells 1 from true."""
    return type(one) is type(other) and one == other


def _title(side: ComparedModel, operator: OperatorFacts) -> tuple[str, str, str]:
    return _shown(operator), operator.layer, side.result(operator)


def _shown(operator: OperatorFacts) -> str:
    return f"{operator.name} {operator.composite}" if operator.composite else operator.name


def _only(side: ComparedModel, operator: OperatorFacts, change: Change) -> OperatorChange:
    place = operator.subgraph, operator.index
    return OperatorChange(change, *_title(side, operator), *((place, None) if change == "removed" else (None, place)))


def _name(tensors: Sequence[StoredTensor], index: int) -> str | None:
    return None if index < 0 else tensors[index].name or f"tensor {index}"


def _producer(side: ComparedModel, graph: int, index: int) -> str:
    producer = side.producer(graph, index)
    name = _name(side.tensors[graph], index)
    return (
        f"{name}, of no op"
        if producer is None
        else f"{_shown(producer)} {producer.index}, output {producer.outputs.index(index)}"
    )


def _place(tensor: StoredTensor) -> tuple[int, int]:
    return tensor.subgraph, tensor.index


def _shape(tensor: StoredTensor) -> list[int | None]:
    return list(tensor.shape)


def _described(scales: Scales | None) -> dict[str, Any] | None:
    if scales is None:
        return None
    described: dict[str, Any] = {"scales": len(scales.scales)}
    for name, values in (("scale", scales.scales), ("zero_point", scales.zeros)):
        if len(values):
            described[name] = float(values[0]) if len(values) == 1 else [float(values.min()), float(values.max())]
    if len(scales.scales) > 1:
        described |= {"block": scales.block} if scales.block else {"axis": scales.axis}
    return described
