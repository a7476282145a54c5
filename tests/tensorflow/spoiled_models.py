"""LiteRT models that are wrong in one place."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from ai_edge_litert import schema_py_generated as schema

__all__ = ["with_wrong_weights", "without_activation", "without_names"]

_NAMES = {number: name for name, number in vars(cast("type", schema.BuiltinOperator)).items() if name.isupper()}
_DTYPES = {schema.TensorType.FLOAT32: np.float32, schema.TensorType.INT8: np.int8}


def _operator(model: Any, op: str, number: int) -> Any:
    graph = model.Subgraphs(0)
    every = [graph.Operators(index) for index in range(graph.OperatorsLength())]
    return [each for each in every if _NAMES[model.OperatorCodes(each.OpcodeIndex()).BuiltinCode()] == op][number]


def with_wrong_weights(content: bytes, op: str, number: int = 0) -> bytes:
    """A model with other weights in one op.

    Args:
        content: The model.
        op: The op's name.
        number: Which of these ops, from 0.
    """
    data = bytearray(content)
    model: Any = schema.Model.GetRootAs(data, 0)
    tensor = model.Subgraphs(0).Tensors(_operator(model, op, number).Inputs(1))
    weights = model.Buffers(tensor.Buffer()).DataAsNumpy().view(_DTYPES[tensor.Type()])
    weights[::2] = -weights[::2]
    return bytes(data)


def without_activation(content: bytes, op: str, number: int = 0) -> bytes:
    """A model without the activation that is fused into one op, of which it is the first option."""
    data = bytearray(content)
    model: Any = schema.Model.GetRootAs(data, 0)
    options = _operator(model, op, number).BuiltinOptions()
    place = options.Pos + options.Offset(4)
    assert data[place] == schema.ActivationFunctionType.RELU
    data[place] = schema.ActivationFunctionType.NONE
    return bytes(data)


def without_names(content: bytes) -> bytes:
    """A model whose tensors have empty names."""
    data = bytearray(content)
    model: Any = schema.Model.GetRootAs(data, 0)
    graph = model.Subgraphs(0)
    for index in range(graph.TensorsLength()):
        tensor = graph.Tensors(index)._tab  # noqa: SLF001
        place = tensor.Indirect(tensor.Pos + tensor.Offset(10))
        data[place : place + 5] = bytes(5)  # a length of 0, and the zero that ends each string
    return bytes(data)
