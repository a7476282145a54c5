"""LiteRT models that are wrong in one place."""

from __future__ import annotations

import importlib
from typing import Any, cast

import numpy as np
from ai_edge_litert import schema_py_generated as schema

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


def spoiled(content: bytes, what: str, how: float, place: float | str) -> tuple[bytes, frozenset[str]]:
    """An int8 model that is wrong in one number, or in the weights of one channel or op.

    Args:
        content: The model.
        what: ``channel``, whose weights are multiplied by ``how``; ``channels``, in another order; ``weights``, moved
            by ``how`` places; ``bias``, times ``how``; ``channel scale`` and ``scale``, of one channel's weights and of
            the result, times ``how``; ``zero``, the zero point of the result, moved by ``how``.
        how: By how much.
        place: Which of the ops with weights, from 0 to 1; or a kind, of which it is the first op.

    Returns:
        The model, and the names of the layers that may be blamed: the op's, and for scales and zero points of results
        those of the ops that take it.
    """
    model: Any = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0))
    for each in model.buffers:
        if each.offset > 1:
            each.data = np.frombuffer(content, np.uint8, each.size, each.offset)
            each.offset = each.size = 0
    graph = model.subgraphs[0]
    kinds = {
        number: _NAMES[max(c.builtinCode, c.deprecatedBuiltinCode)] for number, c in enumerate(model.operatorCodes)
    }
    ops = [op for op in graph.operators if kinds[op.opcodeIndex] in {"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"}]
    if isinstance(place, str):
        op = next(each for each in graph.operators if kinds[each.opcodeIndex] == place)
    else:
        op = ops[int(place * (len(ops) - 1))]
    result = graph.tensors[op.outputs[0]]
    names = [result.name]
    if what in {"scale", "zero"}:
        names += [graph.tensors[each.outputs[0]].name for each in graph.operators if op.outputs[0] in each.inputs]
        parameters = result.quantization
        if what == "scale":
            parameters.scale = np.array(parameters.scale, np.float32) * np.float32(how)
        else:
            parameters.zeroPoint = np.array(parameters.zeroPoint, np.int64) + int(how)
    else:
        _spoil_weights(model, op, what, how, 3 if kinds[op.opcodeIndex] == "DEPTHWISE_CONV_2D" else 0)
    pack: Any = importlib.import_module("ai_edge_litert.tools.flatbuffer_utils").convert_object_to_bytearray
    return bytes(pack(model)), frozenset(name.decode() for name in names)


def _spoil_weights(model: Any, op: Any, what: str, how: float, axis: int) -> None:
    weights = model.subgraphs[0].tensors[op.inputs[1]]
    data: Any = np.array(model.buffers[weights.buffer].data)
    values: Any = data.view(np.int8).reshape(weights.shape)
    by_channel: Any = np.moveaxis(values, axis, 0)
    channel = int(np.argmax(np.abs(by_channel.astype(np.int64)).reshape(len(by_channel), -1).sum(1)))
    if what == "channel":
        by_channel[channel] = np.clip(by_channel[channel] * how, -127, 127)
    elif what == "channels":
        by_channel[:] = np.roll(by_channel, int(how), 0)
    elif what == "weights":
        values[...] = np.roll(values.reshape(-1), int(how)).reshape(values.shape)
    elif what == "bias":
        bias = model.buffers[model.subgraphs[0].tensors[op.inputs[2]].buffer]
        bias.data = (np.array(bias.data).view(np.int32) * how).astype(np.int32).view(np.uint8)
    else:
        assert what == "channel scale"
        scales = np.array(weights.quantization.scale, np.float32)
        scales[channel % len(scales)] *= np.float32(how)
        weights.quantization.scale = scales
    model.buffers[weights.buffer].data = values.reshape(-1).view(np.uint8)
