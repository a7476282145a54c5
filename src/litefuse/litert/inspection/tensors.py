"""The tensors of a LiteRT model: dtypes, and how they are quantized."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.litert.inspection.facts import QuantizationFacts, StoredTensor
from litefuse.litert.runtime import model_tables as fields
from litefuse.litert.runtime.flatbuffer import Table, root
from litefuse.litert.runtime.model_tables import data_of, data_span, dtype_name, sizes_of

__all__ = ["stored_tensors"]

# The fields of the table BlockwiseQuantization.
_SCALES, _BLOCK_SIZE = 0, 2
# Its number among the details of a quantization.
_BLOCKWISE = 2


def stored_tensors(content: Any) -> Iterator[StoredTensor]:
    """Yields all tensors of a model.

    Args:
        content: The content of a valid ``.tflite`` file: bytes or a memory map.
    """
    model = root(content)
    buffers = model.tables(fields.BUFFERS)
    for number, graph in enumerate(model.tables(fields.SUBGRAPHS)):
        tensors, computed = graph.tables(fields.TENSORS), _computed(graph)
        for index, tensor in enumerate(tensors):
            sizes, buffer = sizes_of(tensor), tensor.number(fields.BUFFER, "I")
            _, size = data_span(buffers[buffer])
            is_empty = 0 in sizes and index not in computed
            yield StoredTensor(
                subgraph=number,
                name=tensor.text(fields.TENSOR_NAME),
                dtype=dtype_name(tensor.number(fields.TYPE, "b")),
                shape=sizes,
                size=size,
                quantization=_quantization(buffers, tensors, tensor.table(fields.QUANTIZATION)),
                index=index,
                buffer=buffer,
                is_constant=bool(size or tensor.number(fields.EXTERNAL_BUFFER, "I") or is_empty),
                is_variable=bool(tensor.number(fields.IS_VARIABLE, "B")),
            )


def _computed(graph: Table) -> set[int]:
    """Returns the tensors whose values are given or computed."""
    found = {*graph.numbers(fields.GRAPH_INPUTS)}
    for operator in graph.tables(fields.OPERATORS):
        found.update(operator.numbers(fields.OP_OUTPUTS))
    return found


def _quantization(
    buffers: Sequence[Table], tensors: Sequence[Table], parameters: Table | None
) -> QuantizationFacts | None:
    if parameters is None:
        return None
    details = parameters.table(fields.QUANTIZATION_DETAILS + 1)
    if parameters.number(fields.QUANTIZATION_DETAILS, "B") == _BLOCKWISE:
        if details is None:
            return None
        scales = _values(buffers, tensors[details.number(_SCALES, "i")])
        # Each row of a scales' tensor is for a row of weights, which has a scale for each block.
        return _facts(scales, np.zeros(0, np.int64), axis=None, block=details.number(_BLOCK_SIZE, "i"))
    if not parameters.length(fields.SCALE):
        return None
    scales = _vector(parameters, fields.SCALE, "<f4")
    axis = parameters.number(fields.QUANTIZED_DIMENSION, "i") if len(scales) > 1 else None
    return _facts(scales, _vector(parameters, fields.ZERO_POINT, "<i8"), axis=axis, block=None)


def _values(buffers: Sequence[Table], tensor: Table) -> npt.NDArray[Any]:
    """Returns the numbers of a tensor with scales; none where the schema puts them elsewhere."""
    dtype = {"float16": "<f2", "float32": "<f4"}.get(dtype_name(tensor.number(fields.TYPE, "b")))
    data = data_of(buffers[tensor.number(fields.BUFFER, "I")])
    return np.zeros(0) if dtype is None else np.frombuffer(data, dtype)


def _vector(table: Table, field: int, dtype: str) -> npt.NDArray[Any]:
    """Returns a copy of a vector of numbers."""
    count = table.length(field)
    size = count * np.dtype(dtype).itemsize
    start = table.vector(field)
    return np.frombuffer(bytes(table.data[start : start + size]), dtype, count)


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
