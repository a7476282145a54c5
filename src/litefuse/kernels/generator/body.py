"""Decompositions of composites in ``.tflite`` files: read, and as models of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from litefuse.errors import InterpreterError
from litefuse.kernels.generator.nodes import CPP_TYPES
from litefuse.litert.runtime.model_content import check_identifier
from litefuse.litert.runtime.model_tables import TENSOR_TYPES
from litefuse.litert.runtime.schema_objects import bytes_of, flatbuffer_of, made, objects_of, op_name
from litefuse.litert.runtime.soundness import check_soundness

Found = TypeVar("Found")

_NUMPY = {
    "FLOAT32": np.float32,
    "FLOAT64": np.float64,
    "FLOAT16": np.float16,
    "BOOL": np.bool_,
    "COMPLEX64": np.complex64,
    **{f"INT{bits}": np.dtype(f"int{bits}").type for bits in (8, 16, 32, 64)},
    **{f"UINT{bits}": np.dtype(f"uint{bits}").type for bits in (8, 16, 32, 64)},
}


@dataclass(frozen=True, eq=False)
class BodyTensor:
    """A tensor of a decomposition.

    Attributes:
        dtype: The name of its type.
        shape: Its sizes; None for one that is not known.
        value: Its value, if it is a constant of a type that numpy has.
        is_constant: Whether it has a value.
        scale: The scale of quantized numbers, with one for the whole tensor; 0 for numbers that stand for themselves.
        zero_point: Their zero point.
        is_quantized: Whether it is quantized in any way.
        is_variable: Whether it keeps its value between calls.
        name: Its name.
    """

    dtype: str
    shape: tuple[int | None, ...]
    value: npt.NDArray[Any] | None
    is_constant: bool
    scale: float = 0.0
    zero_point: int = 0
    is_quantized: bool = False
    is_variable: bool = False
    name: str = ""


@dataclass(frozen=True, eq=False)
class BodyOp:
    """An op of a decomposition.

    Attributes:
        name: Its name, such as ``ADD``.
        inputs: The indices of its operands; -1 for an absent one.
        outputs: The indices of its results.
        options: Its options, an object of the schema; None if it has none.
        parts: The condition and the body of a loop.
    """

    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Any
    parts: tuple[Body, ...] = ()


@dataclass(frozen=True, eq=False)
class Body:
    """The decomposition of a composite, as the calls of one kind have it; or a part of it."""

    name: str
    attributes: bytes
    tensors: tuple[BodyTensor, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    ops: tuple[BodyOp, ...]
    graph: int

    @property
    def key(self) -> tuple[object, ...]:
        """Key that identifies calls of this body: the attributes, and the types and shapes of the arguments."""
        arguments = [self.tensors[index] for index in self.inputs]
        return (self.attributes, *((argument.dtype, argument.shape) for argument in arguments))


def read_bodies(content: bytes, where: str) -> dict[str, list[Body]]:
    """Reads the decompositions of all composites in a file.

    Returns:
        By the composites' names, their different bodies.

    Raises:
        InterpreterError: It is not a LiteRT model, or it is damaged.
    """
    return _read(content, where, _Reader.bodies)


def read_signatures(content: bytes, where: str) -> list[Body]:
    """Reads the graphs of a file's signatures, in which composites are ops like others.

    Returns:
        The graphs; of a file without signatures, its first one.

    Raises:
        InterpreterError: It is not a LiteRT model, or it is damaged.
    """
    return _read(content, where, _Reader.signatures)


def _read(content: bytes, where: str, read: Callable[[_Reader], Found]) -> Found:
    check_identifier(content, where)
    check_soundness(content, where)
    try:
        return read(_Reader(objects_of(content)))
    except Exception as error:  # following the offsets and indices of damaged data fails in many ways
        raise InterpreterError(
            "the model is damaged", where=where, hint="Is it complete? Convert or download it again."
        ) from error


# Composites within a body, and loops, are read up to so many ops: each may be there many times.
_MOST_OPS = 1 << 12
_MOST_OPS_IN_FILE = 1 << 15


class _Reader:
    def __init__(self, model: Any) -> None:
        self._model = model
        self._left = 0
        self._total = _MOST_OPS_IN_FILE
        self._tensors: dict[int, list[BodyTensor]] = {}

    def bodies(self) -> dict[str, list[Body]]:
        bodies: dict[str, dict[int, Body]] = {}
        for graph in self._model.subgraphs:
            for operator in graph.operators or ():
                if self._name(operator) == "STABLEHLO_COMPOSITE" and operator.builtinOptions2 is not None:
                    options = operator.builtinOptions2
                    name = bytes(options.name).decode() if isinstance(options.name, bytes) else str(options.name)
                    index = int(options.decompositionSubgraphIndex)
                    attributes = bytes_of(options.compositeAttributes)
                    if index not in bodies.setdefault(name, {}) and 0 <= index < len(self._model.subgraphs):
                        self._left = most = min(_MOST_OPS, self._total)
                        bodies[name][index] = self._body(name, attributes, index)
                        self._total -= most - max(self._left, 0)
        return {name: list(by_graph.values()) for name, by_graph in bodies.items()}

    def signatures(self) -> list[Body]:
        numbers = {int(signature.subgraphIndex) for signature in self._model.signatureDefs or ()} or {0}
        bodies: list[Body] = []
        for index in sorted(numbers):
            graph = self._model.subgraphs[index]
            inputs, outputs = (tuple(_list(indices)) for indices in (graph.inputs, graph.outputs))
            ops = tuple(map(self._op, graph.operators or ()))
            bodies.append(Body("", b"", tuple(map(self._tensor, graph.tensors)), inputs, outputs, ops, index))
        return bodies

    def _name(self, operator: Any) -> str:
        code = self._model.operatorCodes[operator.opcodeIndex]
        kind = op_name(code)
        if kind == "CUSTOM":
            name = code.customCode or b""
            return f"the custom op {name.decode('utf-8', 'replace') if isinstance(name, bytes) else name}"
        return kind

    def _body(self, name: str, attributes: bytes, index: int) -> Body:
        tensors: list[BodyTensor] = []
        ops: list[BodyOp] = []
        inputs, outputs = self._add(index, tensors, ops)
        return Body(name, attributes, tuple(tensors), inputs, outputs, tuple(ops), index)

    def _add(
        self, index: int, tensors: list[BodyTensor], ops: list[BodyOp], arguments: Sequence[int] | None = None
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Adds a subgraph's tensors and ops, with those of the composites in it; returns its inputs and outputs.

        Without ``arguments``, it is called with its own inputs.
        """
        graph = self._model.subgraphs[index]
        if index not in self._tensors:
            self._tensors[index] = [*map(self._tensor, graph.tensors)]
        places = dict(enumerate(range(len(tensors), len(tensors) + len(self._tensors[index])))) | {-1: -1}
        tensors += self._tensors[index]
        self._left -= len(self._tensors[index]) // 4  # they take time as well
        if arguments is not None:
            places |= zip(_list(graph.inputs), arguments, strict=True)

        def placed(values: Any) -> tuple[int, ...]:
            return tuple(places[value] for value in _list(values))

        for operator in graph.operators or ():
            op = self._op(operator)
            own = (placed(operator.inputs), placed(operator.outputs))
            self._left -= 1
            if op.name in ("STABLEHLO_COMPOSITE", "WHILE") and self._left < 0:
                ops.append(BodyOp(f"{op.name} within too many ops", *own, None))
            elif op.name == "STABLEHLO_COMPOSITE" and self._has_body(op) and -1 not in own[0]:
                _, made = self._add(int(op.options.decompositionSubgraphIndex), tensors, ops, own[0])
                ops += [BodyOp("SAME", (one,), (to,), None) for one, to in zip(made, own[1], strict=True)]
            elif op.name == "WHILE":
                parts = [int(op.options.condSubgraphIndex), int(op.options.bodySubgraphIndex)]
                read = tuple(self._body("", b"", part) for part in parts)
                ops.append(BodyOp(op.name, *own, op.options, read))
            else:
                ops.append(BodyOp(op.name, *own, op.options))
        return placed(graph.inputs), placed(graph.outputs)

    def _has_body(self, op: BodyOp) -> bool:
        return op.options is not None and 0 <= op.options.decompositionSubgraphIndex < len(self._model.subgraphs)

    def _op(self, operator: Any) -> BodyOp:
        options = operator.builtinOptions if operator.builtinOptions is not None else operator.builtinOptions2
        inputs, outputs = (tuple(map(int, _list(indices))) for indices in (operator.inputs, operator.outputs))
        return BodyOp(self._name(operator), inputs, outputs, options)

    def _tensor(self, tensor: Any) -> BodyTensor:
        dtype = TENSOR_TYPES.get(int(tensor.type), f"TYPE_{tensor.type}")
        signature = _list(tensor.shapeSignature) or _list(tensor.shape)
        shape = tuple(None if size < 0 else int(size) for size in signature)
        data = bytes_of(self._model.buffers[tensor.buffer].data) if tensor.buffer else b""
        value = None
        is_constant = bool(data) or (tensor.buffer and 0 in shape and dtype in CPP_TYPES)
        if is_constant and dtype in _NUMPY and None not in shape:
            value = np.frombuffer(data, np.dtype(_NUMPY[dtype])).reshape(cast("tuple[int, ...]", shape))
        scales = tensor.quantization
        scale, zero_point, quantized = 0.0, 0, False
        if scales is not None and scales.scale is not None and len(scales.scale):
            quantized = True
            if len(scales.scale) == 1 and scales.details is None:
                scale = float(scales.scale[0])
                zero_point = int(scales.zeroPoint[0]) if scales.zeroPoint is not None else 0
        name = tensor.name.decode("utf-8", "replace") if isinstance(tensor.name, bytes) else tensor.name or ""
        variable = bool(tensor.isVariable)
        return BodyTensor(dtype, shape, value, bool(is_constant), scale, zero_point, quantized, variable, name)


def _list(values: Any) -> list[int]:
    return [] if values is None else [int(value) for value in values]


def body_model(content: bytes, body: Body) -> bytes:
    """Returns a model that is the body of a composite."""
    model = objects_of(content)
    return _of_graphs(model, _reached(model, body.graph))


def composite_model(content: bytes, body: Body) -> bytes:
    """Returns a model that is one call of a composite, with its body."""
    model = objects_of(content)
    decomposition = model.subgraphs[body.graph]
    graph, operator = made("SubGraph", name="main", tensors=[]), made("Operator")
    for index in (*body.inputs, *body.outputs):
        graph.tensors.append(_without_value(decomposition.tensors[index]))
    count = len(body.inputs)
    total = count + len(body.outputs)
    graph.inputs, graph.outputs = list(range(count)), list(range(count, total))
    call = _call_of(model, body)
    operator.inputs, operator.outputs = list(graph.inputs), list(graph.outputs)
    operator.opcodeIndex = call.opcodeIndex
    operator.builtinOptions2Type, operator.builtinOptions2 = call.builtinOptions2Type, call.builtinOptions2
    graph.operators = [operator]
    model.subgraphs.append(graph)
    return _of_graphs(model, _reached(model, len(model.subgraphs) - 1))


def _call_of(model: Any, body: Body) -> Any:
    for graph in model.subgraphs:
        for operator in graph.operators or ():
            options = operator.builtinOptions2
            if type(options).__name__ == "StableHLOCompositeOptionsT":
                name = options.name.decode() if isinstance(options.name, bytes) else options.name
                if name == body.name and options.decompositionSubgraphIndex == body.graph:
                    return operator
    raise KeyError(body.name)


def _without_value(tensor: Any) -> Any:
    fields = ("name", "type", "shape", "hasRank", "shapeSignature", "quantization")
    return made("Tensor", **{field: getattr(tensor, field) for field in fields})


def _reached(model: Any, root: int) -> list[int]:
    """Returns a subgraph and those that its ops refer to."""
    order = [root]
    for index in order:
        for operator in model.subgraphs[index].operators or ():
            order += [callee for _, _, callee in subgraph_references(operator) if callee not in order]
    return order


def subgraph_references(operator: Any) -> Iterator[tuple[Any, str, int]]:
    """Yields an op's references to subgraphs, such as a loop's body: the object, the field and the index."""
    for holder in (operator.builtinOptions, operator.builtinOptions2):
        for field, value in cast("dict[str, Any]", vars(holder)).items() if holder is not None else ():
            if field.endswith("ubgraphIndex") and isinstance(value, int) and value >= 0:
                yield holder, field, value


def _of_graphs(model: Any, order: list[int]) -> bytes:
    """Packs a model of some of the subgraphs, the first of which is the main one."""
    graphs = [model.subgraphs[index] for index in order]
    for letter, places in (("y", graphs[0].outputs), ("x", graphs[0].inputs)):
        for place, index in enumerate(places):
            graphs[0].tensors[index].name = f"{letter}{place}"
    changed: set[int] = set()
    for graph in graphs:
        for operator in graph.operators or ():
            for holder, field, index in list(subgraph_references(operator)):
                if id(holder) not in changed:
                    setattr(holder, field, order.index(index))
            changed |= {id(options) for options in (operator.builtinOptions, operator.builtinOptions2)}
    used = {tensor.buffer for graph in graphs for tensor in graph.tensors}
    buffers: list[Any] = [made("Buffer")]
    places: dict[int, int] = {0: 0}
    for index in sorted(used - {0}):
        places[index] = len(buffers)
        buffers.append(model.buffers[index])
    for tensor in {id(tensor): tensor for graph in graphs for tensor in graph.tensors}.values():
        tensor.buffer = places[tensor.buffer]
    model.subgraphs, model.buffers = graphs, buffers
    model.signatureDefs, model.metadata, model.metadataBuffer = [], [], None
    return bytes(flatbuffer_of(model))
