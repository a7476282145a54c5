"""One of two models that are compared."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import InterpreterError
from litefuse.litert.differences.changes import ComparedFile
from litefuse.litert.inspection.facts import OperatorFacts, StoredTensor
from litefuse.litert.inspection.litert_model import facts_of
from litefuse.litert.metadata.associated_files import pack_of
from litefuse.litert.runtime import model_tables as fields
from litefuse.litert.runtime.flatbuffer import mapped
from litefuse.litert.runtime.model_content import check_identifier, check_model
from litefuse.litert.runtime.model_reader import Model, Scales
from litefuse.litert.runtime.schema_objects import objects_of
from litefuse.support.cloud.paths import local
from litefuse.support.files.readable import os_errors


class ComparedModel:
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
        check_identifier(content, name)
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
        self._model = Model(content)

    @classmethod
    def of(cls, model: str | os.PathLike[str] | bytes) -> ComparedModel:
        """Reads a file, or the content of one.

        Raises:
            InterpreterError: It cannot be read, is not a LiteRT model, or is damaged.
        """
        if isinstance(model, bytes):
            return cls(model, "model content")
        path = check_model(local(model))
        with os_errors("the file cannot be read", path, InterpreterError):
            content = mapped(path)
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
            self._producers[graph] = {
                output: operator for operator in self.operators[graph] for output in operator.outputs
            }
        return self._producers[graph].get(index)

    def data(self, buffer: int) -> npt.NDArray[np.uint8]:
        """Returns the bytes of a buffer, which are not copied."""
        start, size = self._model.data_span(buffer)
        return np.frombuffer(self._content, np.uint8, size, start) if size else np.zeros(0, np.uint8)

    def objects(self) -> Any:
        """Returns a new model of the schema's objects, with what is behind the flatbuffer inside."""
        return objects_of(self._content)

    def digest(self, buffer: int) -> bytes:
        if buffer not in self._digests:
            data: Any = self.data(buffer)
            self._digests[buffer] = hashlib.blake2b(data, digest_size=16).digest()
        return self._digests[buffer]

    def is_sparse(self, tensor: StoredTensor) -> bool:
        """Whether the value of a tensor is stored without its zeros."""
        return self._model.graphs[tensor.subgraph].is_sparse(tensor.index)

    def scales(self, tensor: StoredTensor) -> Scales | None:
        """Returns the scales of a tensor; None if it is not quantized."""
        return self._model.graphs[tensor.subgraph].quantization(tensor.index)

    def metadata(self) -> Mapping[str, bytes]:
        """Returns the contents of the metadata by their names."""
        return {name: self.data(buffer).tobytes() for name, buffer in self._model.metadata}

    def files(self) -> Mapping[str, str]:
        """Describes the associated files by their names."""
        pack = pack_of(self._content)
        if pack is None:
            return {}
        return {name: f"{size:,} bytes, CRC-32 {pack.sums[name]:08x}" for name, size in pack.sizes.items()}

    @property
    def version(self) -> int:
        """The version of the schema."""
        return self._model.table.number(fields.VERSION, "I")
