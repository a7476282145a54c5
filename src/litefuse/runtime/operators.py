"""Where an op that the runtime names in a message stands in the model."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, cast

from ai_edge_litert import schema_py_generated as schema

from litefuse.runtime.flatbuffer import Table, root

__all__ = ["FailedOp", "OpPlace", "failed_op", "op_at"]

# The numbers of the schema's fields (schema.fbs).
_OPERATOR_CODES, _SUBGRAPHS = 1, 2  # Model
_DEPRECATED_CODE, _CUSTOM_CODE, _CODE = 0, 1, 3  # OperatorCode
_TENSORS, _GRAPH_INPUTS, _GRAPH_OUTPUTS, _OPERATORS, _GRAPH_NAME = range(5)  # SubGraph
_OPCODE, _INPUTS, _OUTPUTS = range(3)  # Operator
_SHAPE, _TYPE, _BUFFER, _TENSOR_NAME = range(4)  # Tensor
_SHAPE_SIGNATURE = 7  # Tensor

# What the runtime reports of a node that fails, the innermost first.
_FAILURE = re.compile(r"Node number (?P<number>\d+) \((?P<op>[^)\n]*)\) failed to (?P<step>prepare|invoke)")


class OpPlace(NamedTuple):
    """An op of a model.

    Attributes:
        op: Its name.
        names: The names of its outputs, which are those of the model's nodes and layers.
        operands: The types of its inputs, such as ``float32[1,?]``.
        subgraph: The name of the subgraph, if that is not the first.
    """

    op: str
    names: tuple[str, ...]
    operands: tuple[str, ...]
    subgraph: str = ""

    def __str__(self) -> str:
        where = f" in {self.subgraph}" if self.subgraph else ""
        return f"{self.op}({', '.join(self.operands)}) at {', '.join(map(repr, self.names))}{where}"


def op_at(content: Any, subgraph: int, position: int) -> OpPlace | None:
    """The op at a position in a subgraph; None if there is none.

    Args:
        content: The content of the ``.tflite`` file: bytes or a memory map.
        subgraph: The subgraph's index.
        position: The op's position in it.
    """
    model = root(content)
    graph = model.tables(_SUBGRAPHS)[subgraph]
    operators, tensors = graph.tables(_OPERATORS), graph.tables(_TENSORS)
    if position >= len(operators):
        return None
    operator = operators[position]
    code = model.tables(_OPERATOR_CODES)[operator.number(_OPCODE, "I")]
    return OpPlace(
        _op_name(code),
        tuple(tensors[index].text(_TENSOR_NAME) for index in operator.numbers(_OUTPUTS)),
        tuple(_type(tensors[index]) if index >= 0 else "none" for index in operator.numbers(_INPUTS)),
        (graph.text(_GRAPH_NAME) or f"subgraph {subgraph}") if subgraph else "",
    )


class FailedOp(NamedTuple):
    """An op of a model that the runtime refused.

    Attributes:
        place: The op.
        step: ``prepare`` or ``invoke``.
    """

    place: OpPlace
    step: str


def failed_op(content: Any, message: str) -> FailedOp | None:
    """The op that a message of the runtime is about.

    Args:
        content: The content of the ``.tflite`` file: bytes or a memory map.
        message: What the runtime reported.

    Returns:
        The op; None if the message names none of the model's.
    """
    subgraphs = range(root(content).length(_SUBGRAPHS))
    for failure in _FAILURE.finditer(message):
        for subgraph in subgraphs:  # which of them, the message does not say
            place = op_at(content, subgraph, int(failure["number"]))
            if place is not None and place.op == failure["op"]:
                return FailedOp(place, failure["step"])
    return None


def _op_name(code: Table) -> str:
    # Old files have the code in a field of one byte only.
    number = max(code.number(_CODE, "i"), code.number(_DEPRECATED_CODE, "b"))
    name = _OPS.get(number, "")
    return code.text(_CUSTOM_CODE) if name == "CUSTOM" else name


def _type(tensor: Table) -> str:
    sizes = tensor.numbers(_SHAPE_SIGNATURE) or tensor.numbers(_SHAPE)
    shape = ",".join("?" if size < 0 else str(size) for size in sizes)
    return f"{_DTYPES.get(tensor.number(_TYPE, 'b'), 'unknown')}[{shape}]"


def _names(enumeration: object) -> dict[int, str]:
    return {number: name for name, number in vars(cast("type", enumeration)).items() if name.isupper()}


_OPS = _names(schema.BuiltinOperator)
_DTYPES = {number: name.lower() for number, name in _names(schema.TensorType).items()}
