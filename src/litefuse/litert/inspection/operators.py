"""The operators of a LiteRT model, with their options, and the layers that they are from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from litefuse.errors import InterpreterError
from litefuse.litert.inspection.facts import OperatorFacts
from litefuse.litert.inspection.layer_names import layer_of
from litefuse.litert.inspection.operator_options import OptionsReader, decoded_options
from litefuse.litert.runtime import model_tables as fields
from litefuse.litert.runtime.flatbuffer import Table, root
from litefuse.litert.runtime.model_tables import OpCode, custom_options, data_span

__all__ = ["OperatorFacts", "operators_of"]


def operators_of(content: Any) -> tuple[OperatorFacts, ...]:
    """Returns the operators of all subgraphs of a model, in the order of the file.

    Args:
        content: The content of a valid ``.tflite`` file: bytes or a memory map.

    Raises:
        InterpreterError: The options or names of an operator are damaged.
    """
    try:
        return tuple(_operators(content))
    except Exception as error:  # following the offsets of damaged data fails in many ways
        raise InterpreterError("the model is damaged", hint="Is it complete? Convert or download it again.") from error


# The results of these are not a step of what computed their inputs.
_CALLERS = frozenset({"CALL", "CALL_ONCE", "IF", "WHILE"})


def _operators(content: Any) -> Iterator[OperatorFacts]:
    model = root(content)
    codes = [OpCode.read(code) for code in model.tables(fields.OPERATOR_CODES)]
    buffers = model.tables(fields.BUFFERS)
    graphs = model.tables(fields.SUBGRAPHS)
    reader = OptionsReader(content)
    for number, graph in enumerate(graphs):
        operators = graph.tables(fields.OPERATORS)
        layers = _Layers(graph, graphs, buffers)
        for index, operator in enumerate(operators):
            code = codes[operator.number(fields.OPCODE, "I")]
            is_custom = code.name == "CUSTOM"
            options = decoded_options(code.custom, custom_options(operator)) if is_custom else reader.builtin(operator)
            is_composite = code.name == "STABLEHLO_COMPOSITE"
            inputs, outputs = operator.numbers(fields.OP_INPUTS), operator.numbers(fields.OP_OUTPUTS)
            callees = () if is_custom else tuple(callee for callee in _callees(options) if 0 <= callee < len(graphs))
            body = callees[0] if is_composite and callees else None
            yield OperatorFacts(
                subgraph=number,
                index=index,
                name=code.shown,
                kind="custom" if is_custom else "composite" if is_composite else "builtin",
                composite=str(options.get("name") or "") if is_composite else "",
                inputs=inputs,
                outputs=outputs,
                options=options,
                callees=callees,
                layer=layers.of(inputs, outputs, body=body, follows=code.name not in _CALLERS),
                version=code.version,
            )


def _callees(options: Mapping[str, Any]) -> Iterator[int]:
    """Yields the subgraphs that the options of a builtin op name."""
    for key, value in options.items():
        if key == "subgraph" or key.endswith("subgraph_index"):
            yield value
        elif key in {"branch_subgraph_indices", "called_computations"}:
            yield from value or ()


class _Layers:
    """The layers of a subgraph's values, found op by op.

    Names that tell nothing are those of the outputs of a model and those that the converter made up. Then the layer is
    that of a composite's decomposition; or of the constants that the op reads, if no other op does; or else that of the
    values which it reads.
    """

    def __init__(self, graph: Table, graphs: Sequence[Table], buffers: Sequence[Table]) -> None:
        self._tensors = graph.tables(fields.TENSORS)
        self._graphs = graphs
        self._buffers = buffers
        self._computed: dict[int, str] = {}
        self._bodies: dict[int, str] = {}
        operators = graph.tables(fields.OPERATORS)
        self._readers = Counter(index for operator in operators for index in {*operator.numbers(fields.OP_INPUTS)})

    def of(self, inputs: Sequence[int], outputs: Sequence[int], *, body: int | None, follows: bool) -> str:
        """Returns the layer of the next op.

        Args:
            inputs: Its inputs.
            outputs: Its outputs.
            body: The subgraph with its decomposition, if it is a composite.
            follows: Whether it may be from the layer that computed its inputs.
        """
        found = next((layer for output in outputs if output >= 0 and (layer := self._named(output))), "")
        if not found and body is not None:
            if body not in self._bodies:
                self._bodies[body] = self._of_body(self._graphs[body])
            found = self._bodies[body]
        if not found:
            constants = [
                input_ for input_ in inputs if input_ >= 0 and self._readers[input_] == 1 and self._is_constant(input_)
            ]
            found = next((layer for constant in constants if (layer := self._named(constant))), "")
        if not found and follows:
            found = next((layer for input_ in inputs if (layer := self._computed.get(input_, ""))), "")
        self._computed.update(dict.fromkeys(outputs, found))
        return found

    @staticmethod
    def _of_body(body: Table) -> str:
        """Returns the layer of a decomposition, which litefuse names after the node of the result."""
        *scopes, last = body.text(fields.GRAPH_NAME).split("/")
        if layer := layer_of("/".join([*scopes, last.partition(".")[0]])):
            return layer
        tensors = body.tables(fields.TENSORS)
        results = [table.numbers(fields.OP_OUTPUTS)[:1] for table in body.tables(fields.OPERATORS)]
        layers = Counter(layer_of(tensors[index].text(fields.TENSOR_NAME)) for result in results for index in result)
        return next((layer for layer, _ in layers.most_common() if layer), "")

    def _named(self, index: int) -> str:
        return layer_of(self._tensors[index].text(fields.TENSOR_NAME))

    def _is_constant(self, index: int) -> bool:
        buffer = self._buffers[self._tensors[index].number(fields.BUFFER, "I")]
        return data_span(buffer)[1] > 0
