"""Graphs of a LiteRT file: its subgraphs, with their ops in the layers that the tensors' names tell."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from litefuse.errors import InterpreterError
from litefuse.litert.inspection.facts import OperatorFacts, StoredTensor
from litefuse.litert.inspection.listings import quantization_text
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.inspection.litert_model_facts import LiteRTModelFacts
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_reader import Model as FileModel
from litefuse.support.report.sections import shape_text
from litefuse.tools.page.graph import Entry, Graph, Mark, Model, Node

Place = tuple[int, int]
"""A node: the index of its graph, and its own in that."""

# A loop over thousands of unrolled steps says no more than its beginning.
_NODES = 30_000
_CONTROL = frozenset({"WHILE", "IF", "CALL", "CALL_ONCE", "STABLEHLO_WHILE", "STABLEHLO_CASE"})


@dataclass(frozen=True)
class Converted:
    """A LiteRT file.

    Attributes:
        facts: What is in it.
        model: Its graphs; those of ``facts.subgraphs``, in their order.
        ops: The nodes of its ops, by subgraph and position.
        results: The nodes of its ops, by the names of their results; several subgraphs may have the same names.
        constant_bytes: The bytes of constants that each node reads, those of a buffer for the first.
    """

    facts: LiteRTModelFacts
    model: Model
    ops: Mapping[Place, Place] = field(default_factory=dict[Place, Place])
    results: Mapping[str, Sequence[Place]] = field(default_factory=dict[str, Sequence[Place]])
    constant_bytes: Mapping[Place, int] = field(default_factory=dict[Place, int])


def read_converted(path: Path) -> Converted:
    """Reads a ``.tflite`` file.

    Raises:
        InterpreterError: It cannot be read, is not a LiteRT model, or is damaged.
    """
    facts = inspect_litert_model(path)
    if not facts.subgraphs:
        raise InterpreterError("the model has no subgraph: there is nothing to show", where=str(path))
    with content_of(path) as content:
        file = FileModel(content)
        signatures = {key: signature.graph for key, signature in file.signatures.items()}
        ends = [(graph.inputs, graph.outputs) for graph in file.graphs]
        names: defaultdict[int, dict[int, str]] = defaultdict(dict)
        for signature in file.signatures.values():
            names[signature.graph] |= {index: name for name, index in (signature.inputs | signature.outputs).items()}
    operators: defaultdict[int, list[OperatorFacts]] = defaultdict(list)
    for operator in facts.operators:
        operators[operator.subgraph].append(operator)
    tensors: defaultdict[int, list[StoredTensor]] = defaultdict(list)
    for tensor in facts.tensors:
        tensors[tensor.subgraph].append(tensor)
    titles = _titles(facts, signatures)
    ops: dict[Place, Place] = {}
    results: defaultdict[str, list[Place]] = defaultdict(list)
    sizes: dict[Place, int] = {}
    seen: set[int] = set()
    graphs: list[Graph] = []
    left = _NODES
    for number, (inputs, outputs) in enumerate(ends):
        drawn = operators[number][: max(left, 0)]
        left -= len(drawn)
        graph = _Subgraph(tensors[number], inputs, names[number])
        for operator in drawn:
            place = number, graph.add(operator)
            ops[number, operator.index] = place
            for name in dict.fromkeys(tensors[number][output].name for output in operator.outputs if output >= 0):
                results[name].append(place)
            sizes[place] = _constant_bytes(operator, tensors[number], seen)
        graph.end(outputs)
        left_out = len(operators[number]) - len(drawn)
        graphs.append(Graph(str(number), titles[number], tuple(graph.nodes), left_out=left_out))
    entries = tuple(Entry(key, str(graph)) for key, graph in signatures.items()) or (Entry("", "0"),)
    return Converted(
        facts,
        Model(entries, tuple(graphs), "LiteRT"),
        ops,
        results,
        {place: size for place, size in sizes.items() if size},
    )


def _titles(facts: LiteRTModelFacts, signatures: Mapping[str, int]) -> list[str]:
    titles = [subgraph.name or f"subgraph {number}" for number, subgraph in enumerate(facts.subgraphs)]
    keys: defaultdict[int, list[str]] = defaultdict(list)
    for key, graph in signatures.items():
        keys[graph].append(key)
    for operator in facts.operators:
        for callee in operator.callees:
            if callee not in keys and operator.composite:
                titles[callee] = f"{operator.composite}: its body"
    return [", ".join(keys[number]) if number in keys else title for number, title in enumerate(titles)]


def _constant_bytes(operator: OperatorFacts, tensors: Sequence[StoredTensor], seen: set[int]) -> int:
    size = 0
    for index in operator.inputs:
        if index >= 0 and tensors[index].size and tensors[index].buffer not in seen:
            seen.add(tensors[index].buffer)
            size += tensors[index].size
    return size


class _Subgraph:
    """The nodes of a subgraph; ``names`` are those that signatures have for its inputs and outputs."""

    def __init__(self, tensors: Sequence[StoredTensor], inputs: Sequence[int], names: Mapping[int, str]) -> None:
        self.nodes: list[Node] = []
        self._tensors = tensors
        self._names = names
        self._makers: dict[int, int] = {}
        for index in inputs:
            self._makers[index] = len(self.nodes)
            kind = _type(tensors[index])
            self.nodes.append(Node(kind, self._named(index), mark="input", facts=self._of_end(index)))

    def add(self, operator: OperatorFacts) -> int:
        """Adds an op, and returns the index of its node."""
        results = [self._tensors[output] for output in operator.outputs if output >= 0]
        mark: Mark = "control" if operator.name in _CONTROL else ""
        mark = "composite" if operator.kind == "composite" else "custom" if operator.kind == "custom" else mark
        name = ";".join(dict.fromkeys(result.name for result in results))
        name = name or f"op {operator.index} of subgraph {operator.subgraph}"
        sources = dict.fromkeys(self._makers[input_] for input_ in operator.inputs if input_ in self._makers)
        number = len(self.nodes)
        self.nodes.append(
            Node(
                operator.composite or operator.name,
                name,
                operator.layer,
                tuple(sources),
                tuple(map(str, operator.callees)),
                mark,
                tuple(self._facts(operator, results)),
            )
        )
        self._makers.update(dict.fromkeys(operator.outputs, number))
        return number

    def _facts(self, operator: OperatorFacts, results: Sequence[StoredTensor]) -> Iterator[tuple[str, str]]:
        yield "op", f"{operator.index}, version {operator.version}"
        if operator.kind != "builtin":
            yield "kind", "custom op" if operator.kind == "custom" else "STABLEHLO_COMPOSITE"
        for place, result in enumerate(results):
            yield "result" if len(results) == 1 else f"result {place}", _type(result)
            yield from _quantized(result)
        for index in operator.inputs:
            if index < 0:
                yield "input", "none"
                continue
            tensor = self._tensors[index]
            what = "constant" if tensor.is_constant else "state" if tensor.is_variable else "input"
            size = f", {tensor.size:,} bytes" if tensor.size else ""
            yield what, f"{_type(tensor)}{size}  {tensor.name.split(';')[0]}"
            if tensor.is_constant:
                yield from _quantized(tensor)
        for key, value in operator.options.items():
            yield key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def end(self, outputs: Sequence[int]) -> None:
        for index in outputs:
            if index >= 0:
                source = (self._makers[index],) if index in self._makers else ()
                name = self._named(index)
                self.nodes.append(Node(name, name, inputs=source, mark="output", facts=self._of_end(index)))

    def _named(self, index: int) -> str:
        return self._names.get(index) or self._tensors[index].name

    def _of_end(self, index: int) -> tuple[tuple[str, str], ...]:
        tensor = self._tensors[index]
        return ("type", _type(tensor)), ("tensor", tensor.name), *_quantized(tensor)


def _type(tensor: StoredTensor) -> str:
    return f"{tensor.dtype}{shape_text(tensor.shape)}"


def _quantized(tensor: StoredTensor) -> Iterator[tuple[str, str]]:
    if tensor.quantization is not None:
        yield "quantized", quantization_text(tensor.quantization)
