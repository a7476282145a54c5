"""The tensors of a LiteRT model: dtypes, and how they are quantized."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from ai_edge_litert import schema_py_generated as schema

from litefuse.inspection.facts import QuantizationFacts, StoredTensor
from litefuse.runtime.model_tables import TENSOR_TYPES

__all__ = ["dtype_name", "stored_tensors"]


def dtype_name(number: int) -> str:
    """Returns the name of a type of the schema, such as ``int8``."""
    return TENSOR_TYPES[number].lower() if number in TENSOR_TYPES else f"type_{number}"


def stored_tensors(model: Any, subgraphs: Sequence[Any]) -> Iterator[StoredTensor]:
    """Yields all tensors of a model, which is an object of the schema."""
    for number, subgraph in enumerate(subgraphs):
        computed = _computed(subgraph)
        for index in range(subgraph.TensorsLength()):
            tensor = subgraph.Tensors(index)
            sizes = [tensor.Shape(axis) for axis in range(tensor.ShapeLength())]
            if tensor.ShapeSignatureLength():
                sizes = [tensor.ShapeSignature(axis) for axis in range(tensor.ShapeSignatureLength())]
            size = _data_size(model, tensor)
            yield StoredTensor(
                subgraph=number,
                name=(tensor.Name() or b"").decode("utf-8", "replace"),
                dtype=dtype_name(tensor.Type()),
                shape=tuple(None if size < 0 else size for size in sizes),
                size=size,
                quantization=_quantization(model, subgraph, tensor.Quantization()),
                index=index,
                buffer=tensor.Buffer(),
                is_constant=bool(size or tensor.ExternalBuffer() or (0 in sizes and index not in computed)),
                is_variable=bool(tensor.IsVariable()),
            )


def _computed(subgraph: Any) -> set[int]:
    """Returns the tensors whose values are given or computed."""
    found = {subgraph.Inputs(index) for index in range(subgraph.InputsLength())}
    for index in range(subgraph.OperatorsLength()):
        operator = subgraph.Operators(index)
        found.update(operator.Outputs(output) for output in range(operator.OutputsLength()))
    return found


def _data_size(model: Any, tensor: Any) -> int:
    """Returns the bytes of a tensor's value in the file."""
    buffer = model.Buffers(tensor.Buffer())
    return int(buffer.DataLength() or buffer.Size())


def _quantization(model: Any, subgraph: Any, parameters: Any) -> QuantizationFacts | None:
    if parameters is None:
        return None
    if parameters.DetailsType() == schema.QuantizationDetails.BlockwiseQuantization:
        details = schema.BlockwiseQuantization()
        table = parameters.Details()
        details.Init(table.Bytes, table.Pos)
        scales = _values(model, subgraph.Tensors(details.Scales()))
        # Each row of a scales' tensor is for a row of weights, which has a scale for each block.
        return _facts(scales, np.zeros(0, np.int64), axis=None, block=int(details.BlockSize()))
    if not parameters.ScaleLength():
        return None
    count = parameters.ScaleLength()
    zeros = parameters.ZeroPointAsNumpy() if parameters.ZeroPointLength() else np.zeros(0, np.int64)
    axis = parameters.QuantizedDimension() if count > 1 else None
    return _facts(parameters.ScaleAsNumpy(), zeros, axis=axis, block=None)


def _values(model: Any, tensor: Any) -> npt.NDArray[Any]:
    """Returns the numbers of a tensor with scales; none where the schema puts them elsewhere."""
    dtype = {"float16": np.float16, "float32": np.float32}.get(dtype_name(tensor.Type()))
    buffer = model.Buffers(tensor.Buffer())
    return np.zeros(0) if dtype is None or not buffer.DataLength() else buffer.DataAsNumpy().view(dtype)


def _facts(
    scales: npt.NDArray[Any], zeros: npt.NDArray[Any], *, axis: int | None, block: int | None
) -> QuantizationFacts:
    return QuantizationFacts(
        count=len(scales),
        scale=(_shortest(scales.min()), _shortest(scales.max())) if len(scales) else (0.0, 0.0),
        zero_point=(int(zeros.min()), int(zeros.max())) if len(zeros) else (0, 0),
        axis=axis,
        block=block,
    )


def _shortest(scale: Any) -> float:
    """Returns the shortest decimal that rounds to the same float32."""
    return float(str(np.float32(scale)))
