"""One of two files that are compared."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import numpy.typing as npt

from litefuse.errors import InterpreterError
from litefuse.litert.differences.changes import ComparedFile
from litefuse.litert.inspection.facts import OperatorFacts, StoredTensor
from litefuse.litert.inspection.litert_model import facts_of
from litefuse.litert.metadata.associated_files import pack_of
from litefuse.litert.runtime import model_tables as fields
from litefuse.litert.runtime.flatbuffer import Table, mapped, root
from litefuse.litert.runtime.model_content import check_model
from litefuse.litert.runtime.model_tables import IDENTIFIER, data_span
from litefuse.litert.runtime.schema_objects import objects_of
from litefuse.support.cloud.paths import local

__all__ = ["Side", "TensorScales"]

_BLOCKS = 2  # the type BlockwiseQuantization of the union QuantizationDetails


class TensorScales(NamedTuple):
    """How the integers of a tensor stand for real numbers.

    Attributes:
        scales: float64 of shape ``[n]``.
        zeros: The zero points, of the same shape.
        axis: The axis along which each slice has a scale of its own.
        block: How many neighbours in a row share a scale; 0 if scales are not for blocks.
    """

    scales: npt.NDArray[np.float64]
    zeros: npt.NDArray[np.float64]
    axis: int
    block: int = 0

    def is_same(self, other: TensorScales) -> bool:
        """Whether another tensor's are the same."""
        return (
            (self.axis if len(self.scales) > 1 else 0) == (other.axis if len(other.scales) > 1 else 0)
            and self.block == other.block
            and np.array_equal(self.scales, other.scales, equal_nan=True)
            and np.array_equal(self.zeros, other.zeros)
        )


class Side:
    """A file, with what its parts are compared by.

    Attributes:
        file: Its name, size and hash.
        facts: What is in it.
        operators: The operators of each subgraph.
        tensors: The tensors of each subgraph.

    Args:
        content: The content of the ``.tflite`` file: bytes or a memory map.
        name: The file's name.

    Raises:
        InterpreterError: It is not a LiteRT model, or damaged.
    """

    def __init__(self, content: Any, name: str) -> None:
        if content[4:8] != IDENTIFIER:
            raise InterpreterError("this is not a LiteRT model", where=name)
        self._content = content
        self._digests: dict[int, bytes] = {}
        self._producers: dict[int, dict[int, OperatorFacts]] = {}
        self.facts = facts_of(content, name)
        self.file = ComparedFile(name, len(content), hashlib.sha256(content).hexdigest())
        count = len(self.facts.subgraphs)
        self.operators: list[list[OperatorFacts]] = [[] for _ in range(count)]
        self.tensors: list[list[StoredTensor]] = [[] for _ in range(count)]
        for operator in self.facts.operators:
            self.operators[operator.subgraph].append(operator)
        for tensor in self.facts.tensors:
            self.tensors[tensor.subgraph].append(tensor)
        model = root(content)
        self._model = model
        self._buffers = model.tables(fields.BUFFERS)
        self._tables = [graph.tables(fields.TENSORS) for graph in model.tables(fields.SUBGRAPHS)]

    @classmethod
    def of(cls, model: str | os.PathLike[str] | bytes) -> Side:
        """Reads a file, or the content of one.

        Raises:
            InterpreterError: It cannot be read, is not a LiteRT model, or is damaged.
        """
        if isinstance(model, bytes):
            return cls(model, "model content")
        path = check_model(local(model))
        try:
            if path.stat().st_size < 8:
                raise InterpreterError("this is not a LiteRT model", where=str(path))
            content = mapped(path)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise InterpreterError(f"the file cannot be read: {reason}", where=str(path)) from error
        return cls(content, str(path))

    def inputs(self, graph: int) -> tuple[int, ...]:
        """Returns the indices of the inputs of a subgraph."""
        return self.facts.subgraphs[graph].input_indices

    def outputs(self, graph: int) -> tuple[int, ...]:
        """Returns the indices of the outputs of a subgraph."""
        return self.facts.subgraphs[graph].output_indices

    def result(self, operator: OperatorFacts) -> str:
        """Returns the name of the first result of an operator; empty if it has none."""
        return self.tensors[operator.subgraph][operator.outputs[0]].name if operator.outputs else ""

    def producer(self, graph: int, index: int) -> OperatorFacts | None:
        """Returns the operator that computes a tensor of a subgraph; None if none does."""
        if graph not in self._producers:
            self._producers[graph] = {output: each for each in self.operators[graph] for output in each.outputs}
        return self._producers[graph].get(index)

    def data(self, buffer: int) -> npt.NDArray[np.uint8]:
        """Returns the bytes of a buffer, which are not copied."""
        start, size = data_span(self._buffers[buffer])
        return np.frombuffer(self._content, np.uint8, size, start) if size else np.zeros(0, np.uint8)

    def objects(self) -> Any:
        """Returns a new model of the schema's objects, with what is behind the flatbuffer inside."""
        return objects_of(self._content)

    def digest(self, buffer: int) -> bytes:
        """Returns a hash of the bytes of a buffer."""
        if buffer not in self._digests:
            data: Any = self.data(buffer)
            self._digests[buffer] = hashlib.blake2b(data, digest_size=16).digest()
        return self._digests[buffer]

    def is_sparse(self, tensor: StoredTensor) -> bool:
        """Whether the value of a tensor is stored without its zeros."""
        return self._table(tensor).table(fields.SPARSITY) is not None

    def scales(self, tensor: StoredTensor) -> TensorScales | None:
        """Returns the scales of a tensor; None if it is not quantized."""
        parameters = self._table(tensor).table(fields.QUANTIZATION)
        if parameters is None:
            return None
        details = parameters.table(fields.QUANTIZATION_DETAILS + 1)
        if parameters.number(fields.QUANTIZATION_DETAILS, "B") == _BLOCKS and details is not None:
            scales = self._block_scales(tensor.subgraph, details.number(0, "i"))
            return TensorScales(scales, np.zeros_like(scales), 0, details.number(2, "i"))
        count = parameters.length(fields.SCALE)
        if not count:
            return None
        scales = _vector(parameters, fields.SCALE, np.dtype("<f4")).astype(np.float64)
        zeros = _vector(parameters, fields.ZERO_POINT, np.dtype("<i8")).astype(np.float64)
        zeros = np.resize(zeros, count) if len(zeros) else np.zeros(count)
        return TensorScales(scales, zeros, parameters.number(fields.QUANTIZED_DIMENSION, "i"))

    def _block_scales(self, graph: int, index: int) -> npt.NDArray[np.float64]:
        tensor = self.tensors[graph][index]
        data = self.data(tensor.buffer)
        dtype = {"float16": np.dtype("<f2"), "float32": np.dtype("<f4"), "bfloat16": np.dtype(ml_dtypes.bfloat16)}.get(
            tensor.dtype
        )
        return np.zeros(0) if dtype is None or data.size % dtype.itemsize else data.view(dtype).astype(np.float64)

    def metadata(self) -> Mapping[str, bytes]:
        """Returns the contents of the metadata by their names."""
        return {
            table.text(fields.METADATA_NAME): self.data(table.number(fields.METADATA_CONTENT, "I")).tobytes()
            for table in self._model.tables(fields.METADATA)
        }

    def files(self) -> Mapping[str, str]:
        """Describes the associated files by their names."""
        pack = pack_of(self._content)
        return (
            {}
            if pack is None
            else {name: f"{size:,} bytes, CRC-32 {pack.sums[name]:08x}" for name, size in pack.sizes.items()}
        )

    @property
    def version(self) -> int:
        """The version of the schema."""
        return self._model.number(fields.VERSION, "I")

    def _table(self, tensor: StoredTensor) -> Table:
        return self._tables[tensor.subgraph][tensor.index]


def _vector(table: Table, field: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    start, count = table.vector(field), table.length(field)
    return np.frombuffer(table.data, dtype, count, start) if count else np.zeros(0, dtype)
