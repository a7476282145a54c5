"""Small LiteRT models made by hand, for tests of the runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import flatbuffers
import ml_dtypes
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import flexbuffers

from litefuse.litert.runtime.tensors import encode_strings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

DTYPES: dict[str, npt.DTypeLike] = {
    "FLOAT32": np.float32,
    "FLOAT16": np.float16,
    "FLOAT64": np.float64,
    "BFLOAT16": ml_dtypes.bfloat16,
    "INT8": np.int8,
    "INT16": np.int16,
    "INT32": np.int32,
    "INT64": np.int64,
    "UINT8": np.uint8,
    "UINT16": np.uint16,
    "UINT32": np.uint32,
    "UINT64": np.uint64,
    "BOOL": np.bool_,
    "COMPLEX64": np.complex64,
    "COMPLEX128": np.complex128,
    "STRING": object,
}
_TYPE_NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}


class Graph:
    """One subgraph. Tensors and ops are added in order; the inputs and outputs are lists of tensor indices."""

    def __init__(self) -> None:
        self.tensors: list[tuple[Any, bytes | None]] = []
        self.operators: list[tuple[Any, str, str | None]] = []
        self.inputs: list[int] = []
        self.outputs: list[int] = []

    def tensor(
        self,
        name: str,
        shape: Sequence[int],
        dtype: npt.DTypeLike | str = np.float32,
        *,
        signature: Sequence[int] | None = None,
        value: npt.ArrayLike | None = None,
    ) -> int:
        """Adds a tensor, a constant if it has a value; ``dtype`` may be the schema's name of a type."""
        made = schema.TensorT()
        made.name, made.shape, made.hasRank = name, list(shape), True
        made.shapeSignature = None if signature is None else list(signature)
        type_name = dtype if isinstance(dtype, str) else _TYPE_NAMES[np.dtype(dtype)]
        made.type = getattr(schema.TensorType, type_name)
        array = None if value is None else np.asarray(value, DTYPES[type_name])
        data = array if array is None else encode_strings(array) if type_name == "STRING" else array.tobytes()
        self.tensors.append((made, data))
        return len(self.tensors) - 1

    def input(self, name: str, shape: Sequence[int], dtype: npt.DTypeLike | str = np.float32, **more: Any) -> int:
        """Adds a tensor that is an input of the graph."""
        index = self.tensor(name, shape, dtype, **more)
        self.inputs.append(index)
        return index

    def output(self, name: str, shape: Sequence[int], dtype: npt.DTypeLike | str = np.float32, **more: Any) -> int:
        """Adds a tensor that is an output of the graph."""
        index = self.tensor(name, shape, dtype, **more)
        self.outputs.append(index)
        return index

    def custom(
        self, name: str, inputs: Sequence[int], outputs: Sequence[int], options: Mapping[str, Any] | bytes = b""
    ) -> None:
        """Adds a custom op; options that are no bytes are written as a flexbuffer map."""
        operator = self._operator(inputs, outputs)
        data = options if isinstance(options, bytes) else bytes(flexbuffers.Dumps(dict(options)))
        operator.customOptions = list(data)
        self.operators.append((operator, "CUSTOM", name))

    def builtin(self, name: str, inputs: Sequence[int], outputs: Sequence[int], **options: Any) -> None:
        """Adds a builtin op; its options class must be called like it, as ``AddOptions`` is for ADD.

        That of UNIDIRECTIONAL_SEQUENCE_RNN is ``SequenceRNNOptions``.
        """
        operator = self._operator(inputs, outputs)
        kinds = {kind.lower(): kind for kind in cast("dict[str, int]", vars(schema.BuiltinOptions))}
        names = (f"{form.replace('_', '').lower()}options" for form in (name, name.removeprefix("UNIDIRECTIONAL_")))
        words = next((kinds[each] for each in names if each in kinds), None)
        if words is not None:
            operator.builtinOptionsType = getattr(schema.BuiltinOptions, words)
            operator.builtinOptions = getattr(schema, words + "T")()
            for key, value in options.items():
                setattr(operator.builtinOptions, key, value)
        self.operators.append((operator, name, None))

    def composite(
        self,
        name: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        attributes: Mapping[str, Any],
        decomposition: int,
    ) -> None:
        """Adds a STABLEHLO_COMPOSITE."""
        operator = self._operator(inputs, outputs)
        operator.builtinOptions2Type = schema.BuiltinOptions2.StableHLOCompositeOptions
        operator.builtinOptions2 = schema.StableHLOCompositeOptionsT()
        operator.builtinOptions2.name = name
        operator.builtinOptions2.decompositionSubgraphIndex = decomposition
        operator.builtinOptions2.compositeAttributes = list(flexbuffers.Dumps(dict(attributes)))
        self.operators.append((operator, "STABLEHLO_COMPOSITE", None))

    @staticmethod
    def _operator(inputs: Sequence[int], outputs: Sequence[int]) -> Any:
        operator = schema.OperatorT()
        operator.inputs, operator.outputs = list(inputs), list(outputs)
        return operator


def model(*graphs: Graph, signatures: Mapping[str, int] | None = None) -> bytes:
    """The model's file; ``signatures`` maps a key to the index of a graph, whose tensor names become its names."""
    made = schema.ModelT()
    made.version = 3
    buffers: list[Any] = [schema.BufferT()]
    subgraphs: list[Any] = []
    codes: dict[tuple[str, str | None], int] = {}
    for graph in graphs:
        tensors: list[Any] = []
        operators: list[Any] = []
        for tensor, data in graph.tensors:
            if data is not None:
                tensor.buffer = len(buffers)
                buffer = schema.BufferT()
                buffer.data = list(data)
                buffers.append(buffer)
            tensors.append(tensor)
        for operator, builtin, custom in graph.operators:
            if (builtin, custom) not in codes:
                codes[builtin, custom] = len(codes)
            operator.opcodeIndex = codes[builtin, custom]
            operators.append(operator)
        subgraph = schema.SubGraphT()
        subgraph.tensors, subgraph.operators = tensors, operators
        subgraph.inputs, subgraph.outputs = graph.inputs, graph.outputs
        subgraphs.append(subgraph)
    made.buffers, made.subgraphs = buffers, subgraphs
    made.operatorCodes = [_operator_code(builtin, custom) for builtin, custom in codes]
    made.signatureDefs = [_signature(key, graphs[index], index) for key, index in (signatures or {}).items()]
    builder = flatbuffers.Builder(1024)
    builder.Finish(made.Pack(builder), file_identifier=b"TFL3")
    return bytes(builder.Output())


def unary(
    op: str,
    options: Mapping[str, Any] | bytes = b"",
    *,
    shape: Sequence[int] = (2, 3),
    dtype: npt.DTypeLike | str = np.float32,
    output_shape: Sequence[int] | None = None,
    output_dtype: npt.DTypeLike | str | None = None,
) -> bytes:
    """A model of one custom op with one input ``x`` (tensor 0) and one output ``y`` (tensor 1)."""
    graph = Graph()
    x = graph.input("x", shape, dtype)
    y = graph.output("y", shape if output_shape is None else output_shape, output_dtype or dtype)
    graph.custom(op, [x], [y], options)
    return model(graph)


def _operator_code(builtin: str, custom: str | None) -> Any:
    code = schema.OperatorCodeT()
    code.builtinCode = getattr(schema.BuiltinOperator, builtin)
    code.deprecatedBuiltinCode = min(code.builtinCode, schema.BuiltinOperator.PLACEHOLDER_FOR_GREATER_OP_CODES)
    code.customCode, code.version = custom, 1
    return code


def _signature(key: str, graph: Graph, index: int) -> Any:
    def tensor_maps(indices: Sequence[int]) -> list[Any]:
        maps: list[Any] = []
        for tensor in indices:
            entry = schema.TensorMapT()
            entry.name, entry.tensorIndex = graph.tensors[tensor][0].name, tensor
            maps.append(entry)
        return maps

    signature = schema.SignatureDefT()
    signature.signatureKey, signature.subgraphIndex = key, index
    signature.inputs, signature.outputs = tensor_maps(graph.inputs), tensor_maps(graph.outputs)
    return signature
