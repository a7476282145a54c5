"""Changes of models with composites: of the ops of bodies, of what these take, and of the constants that rules read."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from copy import copy
from typing import Any

from ai_edge_litert import schema_py_generated as schema

from fuzz.values import hostile_integer
from litefuse.kernels.generator import rules
from litefuse.kernels.generator.graph import RULES

assert rules  # which registers them

_TYPES = (*range(11), 12, 15, 16)


def _graph(draw: random.Random, model: Any) -> Any:
    """A body, or a part of one."""
    return draw.choice(model.subgraphs[1:] or model.subgraphs)


def _operator(draw: random.Random, model: Any) -> Any:
    return draw.choice(_graph(draw, model).operators or [schema.OperatorT()])


def _other_op(draw: random.Random, model: Any) -> None:
    """Makes an op another that there is a rule for, with its options or without."""
    name = draw.choice(sorted(set(RULES) - {"SAME"}))
    code = schema.OperatorCodeT()
    code.builtinCode = getattr(schema.BuiltinOperator, name)
    code.deprecatedBuiltinCode, code.version = min(code.builtinCode, 127), draw.choice((1, 1, 2, 3))
    model.operatorCodes.append(code)
    operator = _operator(draw, model)
    operator.opcodeIndex = len(model.operatorCodes) - 1
    if draw.random() < 0.4:
        _without_options(operator)


def _without_options(operator: Any) -> None:
    operator.builtinOptions = operator.builtinOptions2 = None
    operator.builtinOptionsType = operator.builtinOptions2Type = 0


def _no_options(draw: random.Random, model: Any) -> None:
    _without_options(_operator(draw, model))


def _options_of_another(draw: random.Random, model: Any) -> None:
    one, other = _operator(draw, model), _operator(draw, model)
    for field in ("builtinOptions", "builtinOptionsType", "builtinOptions2", "builtinOptions2Type"):
        setattr(one, field, getattr(other, field))


def _operands(draw: random.Random, model: Any) -> None:
    """Changes which tensors an op takes: others, fewer, more, in another order."""
    graph = _graph(draw, model)
    operator = draw.choice(graph.operators or [schema.OperatorT()])
    field = draw.choice(("inputs", "inputs", "inputs", "outputs"))
    indices = _numbers_of(getattr(operator, field))
    other = draw.choice((*range(len(graph.tensors)), -1))
    match draw.randrange(4):
        case 0 if indices:
            indices[draw.randrange(len(indices))] = other
        case 1:
            indices.insert(draw.randrange(len(indices) + 1), other)
        case 2 if indices:
            del indices[draw.randrange(len(indices))]
        case _:
            draw.shuffle(indices)
    setattr(operator, field, indices)


def _numbers(draw: random.Random, model: Any) -> None:
    """Changes integers of a constant: axes, shapes, begins."""
    constants = [
        (tensor, model.buffers[tensor.buffer])
        for graph in model.subgraphs
        for tensor in graph.tensors
        if tensor.type in (schema.TensorType.INT32, schema.TensorType.INT64) and _data(model, tensor)
    ]
    if not constants:
        return
    tensor, buffer = draw.choice(constants)
    bits = 32 if tensor.type == schema.TensorType.INT32 else 64
    data = _data(model, tensor)
    place = draw.randrange(len(data) * 8 // bits + 1) * bits // 8
    few = (-3, -2, -1, 0, 1, 2, 3, 5)
    value = draw.choice(few) if draw.random() < 0.7 else hostile_integer(draw, bits)
    buffer.data = list(data[:place] + value.to_bytes(bits // 8, "little", signed=True) + data[place + bits // 8 :])


def _data(model: Any, tensor: Any) -> bytes:
    found = model.buffers[tensor.buffer].data if 0 < tensor.buffer < len(model.buffers) else None
    return b"" if found is None else bytes(bytearray(found))


def _constant(draw: random.Random, model: Any) -> None:
    """Cuts or fills a constant with its shape: one of other sizes."""
    tensor = draw.choice(_graph(draw, model).tensors or [schema.TensorT()])
    data = _data(model, tensor)
    if data:
        size = len(data) // max(math.prod(_numbers_of(tensor.shape)), 1) or 1
        count = draw.choice((0, 1, 2, 3, 4, 6))
        tensor.shape = draw.choice(([count], [count], [1, count], [count, 2], []))
        length = math.prod(_numbers_of(tensor.shape)) * size
        buffer = schema.BufferT()
        buffer.data = list((data * (length // len(data) + 1))[:length])
        tensor.buffer, tensor.shapeSignature = len(model.buffers), None
        model.buffers.append(buffer)


def _numbers_of(values: Any) -> list[int]:
    return [] if values is None else [int(value) for value in values]


def _shape(draw: random.Random, model: Any) -> None:
    """Gives an argument another shape, with open sizes, in the body and where it is called."""
    graph = _graph(draw, model)
    if graph.inputs is None or not len(graph.inputs):
        return
    place = draw.randrange(len(graph.inputs))
    rank = draw.choice((0, 1, 2, 2, 3, 4, 17))
    sizes = [draw.choice((-1, -1, 0, 1, 2, 3, 64, 65536, 2**31 - 1)) for _ in range(rank)]
    for tensor in _same_arguments(model, graph, place):
        tensor.hasRank, tensor.shape, tensor.shapeSignature = True, [max(each, 1) for each in sizes], sizes


def _same_arguments(model: Any, graph: Any, place: int) -> list[Any]:
    """An argument of a body, and the operand of its call."""
    main = model.subgraphs[0]
    calls = [call for call in main.operators or () if call.inputs is not None and place < len(call.inputs)]
    places = [(graph, graph.inputs[place]), *((main, call.inputs[place]) for call in calls[:1])]
    return [within.tensors[index] for within, index in places if 0 <= index < len(within.tensors)]


def _types(draw: random.Random, model: Any) -> None:
    """Makes all tensors of one type of another."""
    old, new = draw.choice((0, 0, 2, 4, 6, 9)), draw.choice(_TYPES)
    for graph in model.subgraphs:
        for tensor in graph.tensors or ():
            if tensor.type == old:
                tensor.type = new


def _open(_: random.Random, model: Any) -> None:
    """Makes all sizes of arguments open."""
    for graph in model.subgraphs:
        for index in graph.inputs if graph.inputs is not None else ():
            tensor = graph.tensors[index] if 0 <= index < len(graph.tensors) else schema.TensorT()
            tensor.shapeSignature = [-1] * (len(tensor.shape) if tensor.shape is not None else 0)


def _again(draw: random.Random, model: Any) -> None:
    """Has an op take the result of another in the place of an operand."""
    operators: list[Any] = _graph(draw, model).operators or []
    if len(operators) < 2:
        return
    later = draw.randrange(1, len(operators))
    made = [index for operator in operators[:later] for index in _numbers_of(operator.outputs)]
    inputs = _numbers_of(operators[later].inputs)
    if made and inputs:
        inputs[draw.randrange(len(inputs))] = draw.choice(made)
        operators[later].inputs = inputs


def _composite(draw: random.Random, model: Any) -> None:
    """Puts calls of the composite into its own body, or into one more, in a number of levels."""
    if len(model.subgraphs) < 2 or not model.subgraphs[0].operators:
        return
    call = model.subgraphs[0].operators[0]
    for _ in range(draw.choice((1, 2, 14))):
        inner = len(model.subgraphs) - 1
        graph = copy(model.subgraphs[inner])
        again = copy(call)
        again.builtinOptions2 = copy(call.builtinOptions2)
        if again.builtinOptions2 is None or not hasattr(again.builtinOptions2, "decompositionSubgraphIndex"):
            return
        again.builtinOptions2.decompositionSubgraphIndex = inner + (draw.random() < 0.1)
        again.inputs, again.outputs = graph.inputs, graph.outputs
        graph.operators = [again, again]
        model.subgraphs.append(graph)
    call.builtinOptions2.decompositionSubgraphIndex = len(model.subgraphs) - 1


CHANGES: tuple[Callable[[random.Random, Any], None], ...] = (
    *(_other_op, _other_op, _no_options, _options_of_another, _operands, _operands, _numbers, _numbers, _numbers),
    *(_constant, _shape, _shape, _types, _open, _again, _again, _composite),
)
