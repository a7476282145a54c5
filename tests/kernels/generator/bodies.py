"""Writes LiteRT models whose composites have given bodies, op by op, without a converter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import flatbuffers
import numpy as np
import numpy.typing as npt
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import flexbuffers

# The first versions of ops that have none of version 1, or not for integers.
_VERSIONS = {"BROADCAST_TO": 2, "DEQUANTIZE": 2}
_TYPES: dict[str, int] = {
    name.lower(): number for name, number in vars(cast("type", schema.TensorType)).items() if name.isupper()
}


@dataclass
class BodyWriter:
    """A body in the making. Values are indices of tensors.

    Attributes:
        name: The composite's name.
        attributes: Its attributes.
    """

    name: str
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tensors: list[Any] = field(default_factory=list[Any])
    values: dict[int, npt.NDArray[Any]] = field(default_factory=dict[int, "npt.NDArray[Any]"])
    inputs: list[int] = field(default_factory=list[int])
    outputs: list[int] = field(default_factory=list[int])
    ops: list[tuple[str, list[int], list[int], Any]] = field(default_factory=list[Any])

    def _tensor(self, dtype: str, shape: Sequence[int | None] | None) -> int:
        made = schema.TensorT()
        made.type, made.hasRank = _TYPES[dtype], shape is not None
        made.name = f"t{len(self.tensors)}"
        made.shape = [1 if size is None else size for size in shape or ()]
        if shape is not None and None in shape:
            made.shapeSignature = [-1 if size is None else size for size in shape]
        self.tensors.append(made)
        return len(self.tensors) - 1

    def input(self, dtype: str, *shape: int | None) -> int:
        self.inputs.append(self._tensor(dtype, shape))
        return self.inputs[-1]

    def constant(self, value: Any, dtype: str = "float32") -> int:
        array = np.asarray(value, dtype)
        made = self._tensor(dtype, array.shape)
        self.values[made] = array
        return made

    def op(self, name: str, inputs: Sequence[int], *dtypes: str, **options: Any) -> Any:
        """Appends an op; returns its result, or a list of them. ``kind`` names the class of the options if it is not
        the op's name in title case."""
        results = [self._tensor(dtype, None) for dtype in dtypes]
        kind = options.pop("kind", "".join(word.capitalize() for word in name.split("_"))) + "Options"
        made = getattr(schema, f"{kind}T", type("None", (), {}))()
        for key, value in options.items():
            assert hasattr(made, key), key
            setattr(made, key, value)
        self.ops.append((name, [*inputs], results, made if type(made).__name__ != "None" else None))
        return results[0] if len(results) == 1 else results

    def scaled(self, tensor: int, scale: float, zero_point: int) -> int:
        """Has the integers of a tensor stand for real numbers."""
        made = schema.QuantizationParametersT()
        made.scale, made.zeroPoint = [scale], [zero_point]
        self.tensors[tensor].quantization = made
        return tensor

    def give(self, *results: int) -> BodyWriter:
        self.outputs += results
        return self


def file_of(*bodies: BodyWriter) -> bytes:
    """Returns a model that calls each composite once."""
    model = schema.ModelT()
    model.version, model.buffers, model.operatorCodes = 3, [schema.BufferT()], []
    main: Any = schema.SubGraphT()
    main.name, main.tensors, main.inputs, main.outputs, main.operators = "main", [], [], [], []
    model.subgraphs = [main]
    codes: dict[str, int] = {}

    def code(name: str) -> int:
        if name not in codes:
            codes[name] = len(codes)
            made = schema.OperatorCodeT()
            made.builtinCode = getattr(schema.BuiltinOperator, name)
            made.deprecatedBuiltinCode, made.version = min(made.builtinCode, 127), _VERSIONS.get(name, 1)
            model.operatorCodes.append(made)
        return codes[name]

    for number, body in enumerate(bodies):
        graph = schema.SubGraphT()
        graph.name, graph.tensors = f"body_{number}", body.tensors
        graph.inputs, graph.outputs, graph.operators = body.inputs, body.outputs, []
        for index, value in body.values.items():
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(value.tobytes(), np.uint8)
            body.tensors[index].buffer = len(model.buffers)
            model.buffers.append(buffer)
        for name, inputs, outputs, options in body.ops:
            operator = schema.OperatorT()
            operator.opcodeIndex, operator.inputs, operator.outputs = code(name), inputs, outputs
            if options is not None:
                kind = type(options).__name__.removesuffix("T")
                second = not hasattr(schema.BuiltinOptions, kind)
                number_of = getattr(schema.BuiltinOptions2 if second else schema.BuiltinOptions, kind)
                if second:
                    operator.builtinOptions2Type, operator.builtinOptions2 = number_of, options
                else:
                    operator.builtinOptionsType, operator.builtinOptions = number_of, options
            graph.operators.append(operator)
        model.subgraphs.append(graph)
        call = schema.OperatorT()
        call.opcodeIndex = code("STABLEHLO_COMPOSITE")
        call.builtinOptions2Type = schema.BuiltinOptions2.StableHLOCompositeOptions
        call.builtinOptions2 = schema.StableHLOCompositeOptionsT()
        call.builtinOptions2.name = body.name
        call.builtinOptions2.decompositionSubgraphIndex = number + 1
        builder: Any = flexbuffers.Builder()
        with builder.Map():
            for key, value in body.attributes.items():
                builder.Key(key)
                builder.Add(value)
        call.builtinOptions2.compositeAttributes = list(builder.Finish())
        call.inputs, call.outputs = [], []
        for places, own, of_call in (
            (body.inputs, main.inputs, call.inputs),
            (body.outputs, main.outputs, call.outputs),
        ):
            for index in places:
                copy = schema.TensorT()
                copy.name = f"{body.name}_{number}_{index}"
                copy.type, copy.shape, copy.hasRank = (
                    body.tensors[index].type,
                    body.tensors[index].shape,
                    body.tensors[index].hasRank,
                )
                copy.shapeSignature, copy.quantization = (
                    body.tensors[index].shapeSignature,
                    body.tensors[index].quantization,
                )
                position = len(cast("list[Any]", main.tensors))
                own.append(position)
                of_call.append(position)
                main.tensors.append(copy)
        main.operators.append(call)
    output = flatbuffers.Builder(1024)
    output.Finish(model.Pack(output), file_identifier=b"TFL3")
    return bytes(output.Output())
