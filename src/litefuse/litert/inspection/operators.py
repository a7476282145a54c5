"""The operators of a LiteRT model, with their options, and the layers that they are from."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from litefuse.litert.inspection.facts import OperatorFacts
from litefuse.litert.inspection.layer_names import layer_of
from litefuse.litert.inspection.operator_options import OptionsReader, decoded_options
from litefuse.litert.runtime.flatbuffer import damage_reported
from litefuse.litert.runtime.model_reader import Graph, Model
from litefuse.litert.runtime.model_tables import PRODUCER


def operators_of(content: Any) -> tuple[OperatorFacts, ...]:
    """Returns the operators of all subgraphs of a model, in the order of the file.

    Args:
        content: The content of a valid ``.tflite`` file: bytes or a memory map.

    Raises:
        InterpreterError: The options or names of an operator are damaged.
    """
    with damage_reported():
        return tuple(operators_in(Model(content)))


# The results of these are not a step of what computed their inputs.
_CALLERS = frozenset({"CALL", "CALL_ONCE", "IF", "WHILE"})


def operators_in(model: Model) -> Iterator[OperatorFacts]:
    """Yields the operators of all subgraphs of a model, in the order of the file."""
    reader = OptionsReader(len(model.table.data))
    nodes = _nodes_of_results(model)
    for number, graph in enumerate(model.graphs):
        layers = _Layers(graph, model.graphs, nodes)
        for index, op in enumerate(graph.ops):
            options = decoded_options(op.name, op.custom_bytes) if op.custom else reader.builtin(op.table)
            callees = (
                () if op.custom else tuple(callee for callee in _callees(options) if 0 <= callee < len(model.graphs))
            )
            is_composite = op.name == "STABLEHLO_COMPOSITE" and not op.custom
            body = callees[0] if is_composite and callees else None
            yield OperatorFacts(
                subgraph=number,
                index=index,
                name=op.name,
                kind="custom" if op.custom else "composite" if is_composite else "builtin",
                composite=str(options.get("name") or "") if is_composite else "",
                inputs=op.inputs,
                outputs=op.outputs,
                options=options,
                callees=callees,
                layer=layers.of(op.inputs, op.outputs, body=body, follows=op.custom or op.name not in _CALLERS),
                version=op.version,
            )


def _nodes_of_results(model: Model) -> Mapping[str, str]:
    """Returns the nodes of the results of a file that litefuse wrote, by the names of their tensors."""
    try:
        nodes = json.loads(model.metadata_content(PRODUCER) or b"{}")["results"]
        return {str(name): str(node) for name, node in nodes.items()}
    except (AttributeError, KeyError, TypeError, ValueError):  # other software may have changed it
        return {}


def _callees(options: Mapping[str, Any]) -> Iterator[int]:
    """Yields the subgraphs that the options of a builtin op name."""
    for key, value in options.items():
        if key == "subgraph" or key.endswith("subgraph_index"):
            yield value
        elif key in {"branch_subgraph_indices", "called_computations"}:
            yield from value or ()


class _Layers:
    """The layers of a subgraph's values, found op by op.

    Names that tell nothing are those that the converter made up and those of the outputs of a model, but in a file of
    litefuse, which has their nodes. Then the layer is that of a composite's decomposition; or of the constants that the
    op reads, if no other op does; or else that of the values which it reads.
    """

    def __init__(self, graph: Graph, graphs: Sequence[Graph], nodes: Mapping[str, str]) -> None:
        self._graph = graph
        self._graphs = graphs
        self._nodes = nodes
        self._computed: dict[int, str] = {}
        self._bodies: dict[int, str] = {}
        self._readers = Counter(index for op in graph.ops for index in {*op.inputs})

    def of(self, inputs: Sequence[int], outputs: Sequence[int], *, body: int | None, follows: bool) -> str:
        """Returns the layer of the next op.

        Args:
            inputs: Its inputs.
            outputs: Its outputs.
            body: The subgraph with its decomposition, if it is a composite.
            follows: Whether it may be from the layer that computed its inputs.
        """
        layer = next((layer for output in outputs if output >= 0 and (layer := self._named(output))), "")
        if not layer and body is not None:
            if body not in self._bodies:
                self._bodies[body] = self._of_body(self._graphs[body])
            layer = self._bodies[body]
        if not layer:
            constants = [index for index in inputs if self._readers[index] == 1 and self._graph.is_constant(index)]
            layer = next((layer for constant in constants if (layer := self._named(constant))), "")
        if not layer and follows:
            layer = next((layer for index in inputs if (layer := self._computed.get(index, ""))), "")
        self._computed.update(dict.fromkeys(outputs, layer))
        return layer

    @staticmethod
    def _of_body(body: Graph) -> str:
        """Returns the layer of a decomposition, which litefuse names after the node of the result."""
        *scopes, last = body.name.split("/")
        if layer := layer_of("/".join([*scopes, last.partition(".")[0]])):
            return layer
        layers = Counter(layer_of(body.tensor(index).name) for op in body.ops for index in op.outputs[:1])
        return next((layer for layer, _ in layers.most_common() if layer), "")

    def _named(self, index: int) -> str:
        name = self._graph.tensor(index).name
        return layer_of(self._nodes.get(name, name))
