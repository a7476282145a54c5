"""Calls of ops in LiteRT models: read from a file, and as models of one call."""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from litefuse.errors import InterpreterError
from litefuse.kernels.generator.body import subgraph_references
from litefuse.litert.runtime.model_content import check_model
from litefuse.litert.runtime.model_tables import DTYPE_NUMBERS
from litefuse.litert.runtime.options import decode_map
from litefuse.litert.runtime.schema_objects import (
    bytes_of,
    custom_code,
    dtype_of,
    flatbuffer_of,
    made,
    objects_of,
    op_name,
)
from litefuse.support.files.readable import os_errors
from litefuse.support.report.sections import shape_text


class Scales(NamedTuple):
    """How real numbers became the integers of a tensor.

    Attributes:
        scales: One, or one for each slice along the axis.
        zero_points: Likewise.
        axis: The axis.
    """

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int


@dataclass(frozen=True)
class CallTensor:
    """An input or output of an op.

    Attributes:
        name: Its name, a valid identifier.
        dtype: Its dtype, such as ``float32``.
        shape: Its shape; None for an unknown dimension, or instead of the tuple for an unknown rank.
        data: Its value as bytes if it is a constant of the model; it does not distinguish calls.
        scales: Its scales and zero points if it is quantized, which do not distinguish calls either.
    """

    name: str
    dtype: str
    shape: tuple[int | None, ...] | None
    data: bytes | None = None
    scales: Scales | None = None

    def __str__(self) -> str:
        return f"{self.dtype} {shape_text(self.shape)}"


@dataclass(frozen=True)
class Call:
    """A call of an op in a model.

    Attributes:
        inputs: Its inputs; None for an optional one that is absent.
        outputs: Its outputs.
        options: Its decoded options; None when they have another format.
        raw_options: The options as they are in the file.
        reference: A model that computes the op's outputs, from its body; None when there is none.
    """

    inputs: tuple[CallTensor | None, ...]
    outputs: tuple[CallTensor, ...]
    options: Mapping[str, Any] | None
    raw_options: bytes
    reference: bytes | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """The types and options that distinguish this call from others of the same op."""
        types = [
            [tensor and (tensor.dtype, tensor.shape) for tensor in tensors] for tensors in (self.inputs, self.outputs)
        ]
        return str(types), self.raw_options


# Weights beyond this size become inputs of the one-op model.
_LARGEST_CONSTANT = 1 << 20
_LONGEST_NAME = 30


def read_calls(path: Path, ops: Collection[str]) -> tuple[dict[str, list[Call]], list[str]]:
    """Reads the calls of custom ops or composites in a ``.tflite`` file.

    Returns:
        The calls of each op, one for each combination of types and options, and the names of all custom ops and
        composites in the model, sorted.

    Raises:
        InterpreterError: The file cannot be read, is not a LiteRT model, or is damaged.
    """
    check_model(path)
    with os_errors("the file cannot be read", path, InterpreterError):
        data = path.read_bytes()
    try:
        model = objects_of(data)
        return {op: _calls(model, op) for op in ops}, _custom_names(model)
    except Exception as error:  # following the offsets and indices of damaged data fails in many ways
        raise InterpreterError(
            "the model is damaged", where=str(path), hint="Is it complete? Convert or download it again."
        ) from error


def _custom_names(model: Any) -> list[str]:
    names = {
        name
        for graph in model.subgraphs
        for operator in graph.operators or ()
        if (name := _name(model, operator)) is not None
    }
    return sorted(names)


def _calls(model: Any, op: str) -> list[Call]:
    calls: dict[tuple[object, ...], Call] = {}
    for graph in model.subgraphs:
        for operator in graph.operators or ():
            if _name(model, operator) == op:
                call = _call(model, graph, operator)
                calls.setdefault(call.key, call)
    return list(calls.values())


def one_op_model(op: str, call: Call) -> bytes:
    """Returns the file content of a model of one custom op with the inputs, outputs and options of a call."""
    tensors: list[Any] = []
    buffers = [made("Buffer")]
    operator, graph = made("Operator", inputs=[]), made("SubGraph", inputs=[], name="main")
    for tensor in call.inputs:
        operator.inputs.append(-1 if tensor is None else len(tensors))
        if tensor is None:
            continue
        tensors.append(_tensor(tensor))
        if tensor.data is not None:
            tensors[-1].buffer = len(buffers)
            buffers.append(_buffer(tensor.data))
        else:
            graph.inputs.append(len(tensors) - 1)
    operator.outputs = graph.outputs = list(range(len(tensors), len(tensors) + len(call.outputs)))
    tensors += map(_tensor, call.outputs)
    operator.customOptions = list(call.raw_options)
    graph.tensors, graph.operators = tensors, [operator]
    model = made("Model", version=3, subgraphs=[graph], buffers=buffers, operatorCodes=[custom_code(op)])
    return bytes(flatbuffer_of(model))


def bind_constants(reference: bytes, call: Call) -> bytes:
    """Returns the reference with the same inputs bound to constants as in ``one_op_model``."""
    model = objects_of(reference)
    graph = model.subgraphs[0]
    inputs = [int(index) for index in graph.inputs]
    for index, tensor in zip(inputs, call.inputs, strict=True):
        if tensor is not None and tensor.data is not None:
            graph.tensors[index].buffer = len(model.buffers)
            model.buffers.append(_buffer(tensor.data))
    constant = [tensor is not None and tensor.data is not None for tensor in call.inputs]
    graph.inputs = [index for index, bound in zip(inputs, constant, strict=True) if not bound]
    model.signatureDefs = []
    return bytes(flatbuffer_of(model))


def with_signature(content: bytes, inputs: Sequence[str], outputs: Sequence[str]) -> bytes:
    """Returns a model whose first subgraph has the signature ``serving_default``."""
    model = objects_of(content)
    graph, signature = model.subgraphs[0], made("SignatureDef", signatureKey="serving_default", subgraphIndex=0)
    signature.inputs, signature.outputs = _maps(inputs, graph.inputs), _maps(outputs, graph.outputs)
    model.signatureDefs = [signature]
    return bytes(flatbuffer_of(model))


def _maps(names: Sequence[str], indices: Sequence[int]) -> list[Any]:
    pairs = zip(names, indices, strict=True)
    return [made("TensorMap", name=name, tensorIndex=int(index)) for name, index in pairs]


def _buffer(data: bytes) -> Any:
    return made("Buffer", data=list(data))


def _tensor(tensor: CallTensor) -> Any:
    new = made("Tensor", name=tensor.name, type=DTYPE_NUMBERS[tensor.dtype], hasRank=tensor.shape is not None)
    if tensor.shape is not None:
        new.shape = [1 if size is None else size for size in tensor.shape]
        if None in tensor.shape:
            new.shapeSignature = [-1 if size is None else size for size in tensor.shape]
    if tensor.scales is not None:
        scale, zero_point, axis = tensor.scales
        new.quantization = made("QuantizationParameters", scale=scale, zeroPoint=zero_point, quantizedDimension=axis)
    return new


def _scales(found: Any) -> Scales | None:
    """Returns the parameters of a tensor; None if it has none, or scales in blocks."""
    if found is None or found.scale is None or len(found.scale) == 0 or found.details is not None:
        return None
    zero_points = tuple(map(int, found.zeroPoint if found.zeroPoint is not None else ()))
    return Scales(tuple(map(float, found.scale)), zero_points, int(found.quantizedDimension))


def _name(model: Any, operator: Any) -> str | None:
    code = model.operatorCodes[operator.opcodeIndex]
    if op_name(code) == "CUSTOM":
        return _text(code.customCode)
    if op_name(code) == "STABLEHLO_COMPOSITE" and operator.builtinOptions2 is not None:
        return _text(operator.builtinOptions2.name)
    return None


def _call(model: Any, graph: Any, operator: Any) -> Call:
    composite = operator.builtinOptions2 if operator.builtinOptions2 is not None else None
    raw = composite.compositeAttributes if composite is not None else operator.customOptions
    data = bytes_of(raw)
    used: set[str] = set()
    inputs = tuple(
        None if index < 0 else _call_tensor(model, graph.tensors[index], f"input_{place}", used)
        for place, index in enumerate(operator.inputs)
    )
    outputs = tuple(
        _call_tensor(model, graph.tensors[index], f"output_{place}", used)
        for place, index in enumerate(operator.outputs)
    )
    options = decode_map(data)
    reference = _decomposition(model, composite.decompositionSubgraphIndex, inputs) if composite is not None else None
    return Call(inputs, outputs, options if data else {}, data, reference)


def _call_tensor(model: Any, tensor: Any, default: str, used: set[str]) -> CallTensor:
    signature = tensor.shapeSignature
    sizes = signature if signature is not None and len(signature) else tensor.shape
    known = sizes is not None and (len(sizes) > 0 or bool(tensor.hasRank))
    shape = tuple(None if size < 0 else int(size) for size in sizes) if known and sizes is not None else None
    buffer = model.buffers[tensor.buffer].data if tensor.buffer else None
    data = bytes_of(buffer) if buffer is not None and 0 < len(buffer) <= _LARGEST_CONSTANT else None
    # The last part of a tensor's name is the most informative: "model/layer/weights:0".
    name = re.sub(r"\W", "_", _text(tensor.name).split(";")[0].split(":")[0].rpartition("/")[2]).lower()
    for key in model.signatureDefs or ():  # the inputs of signatures: "serving_default_x"
        name = name.removeprefix(f"{_text(key.signatureKey).lower()}_")
    usable = name.isidentifier() and name.isascii() and not keyword.iskeyword(name) and len(name) <= _LONGEST_NAME
    if not usable or name in used or name in _RESERVED:
        name = default
    used.add(name)
    return CallTensor(name, dtype_of(tensor), shape, data, _scales(tensor.quantization))


_RESERVED = frozenset({"self", "node", "options", "outputs", "inputs", "output", "input", "index", "litefuse", "np"})


def _text(value: bytes | str | None) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value or ""


def _decomposition(model: Any, root: int, inputs: Sequence[CallTensor | None]) -> bytes | None:
    """Returns the model of a composite's body; None if its inputs differ from the op's, or it has custom ops."""
    if None in inputs or len(model.subgraphs[root].inputs) != len(inputs):
        return None
    order = {root: 0}
    waiting = [root]
    while waiting:
        for operator in model.subgraphs[waiting.pop()].operators or ():
            if op_name(model.operatorCodes[operator.opcodeIndex]) == "CUSTOM":
                return None
            for _, _, index in subgraph_references(operator):
                if index not in order:
                    order[index] = len(order)
                    waiting.append(index)
    body = copy(model)
    body.subgraphs = deepcopy([model.subgraphs[index] for index in order])  # their indices are changed
    body.signatureDefs, body.metadata = [], []
    for graph in body.subgraphs:
        for operator in graph.operators or ():
            for holder, field, index in list(subgraph_references(operator)):
                setattr(holder, field, order[index])
    used = {0, *(tensor.buffer for graph in body.subgraphs for tensor in graph.tensors)}
    body.buffers = [buffer if index in used else made("Buffer") for index, buffer in enumerate(model.buffers)]
    return bytes(flatbuffer_of(body))
