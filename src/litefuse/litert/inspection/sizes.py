"""The bytes of a LiteRT file, by layer and dtype."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from litefuse.errors import InterpreterError
from litefuse.litert.inspection.facts import FileSizes, LayerSize, OperatorFacts, StoredTensor
from litefuse.litert.inspection.layer_names import layer_of
from litefuse.litert.metadata.associated_files import pack_of
from litefuse.litert.runtime import model_tables as fields
from litefuse.litert.runtime.flatbuffer import Table, root
from litefuse.litert.runtime.model_tables import data_span

__all__ = ["FileSizes", "LayerSize", "file_sizes"]


def file_sizes(content: Any, tensors: Sequence[StoredTensor], operators: Sequence[OperatorFacts]) -> FileSizes:
    """Adds up the sizes of what is in a file.

    The layer of a constant is that of its name, or else that of the first op that reads it.

    Args:
        content: The content of a valid ``.tflite`` file: bytes or a memory map.
        tensors: Its tensors.
        operators: Its operators.

    Raises:
        InterpreterError: The file is damaged.
    """
    try:
        model = root(content)
        spans = [_span(content, table) for table in model.tables(fields.BUFFERS)]
        pack = pack_of(content)
        spans.append((len(content) if pack is None else pack.start, len(content)))
        described = {table.number(fields.METADATA_CONTENT, "I") for table in model.tables(fields.METADATA)}
        described.update(model.numbers(fields.METADATA_BUFFER))  # of files from before metadata had names
    except Exception as error:  # following the offsets of damaged data fails in many ways
        raise InterpreterError("the model is damaged", hint="Is it complete? Convert or download it again.") from error
    readers = _reading_layers(operators)
    owners: dict[int, tuple[str, str]] = {}
    for tensor in tensors:
        if tensor.size and tensor.buffer not in owners:
            layer = layer_of(tensor.name) or readers.get((tensor.subgraph, tensor.index), "")
            owners[tensor.buffer] = layer, tensor.dtype
    sizes = _own_bytes(spans)
    found: defaultdict[tuple[str, str], int] = defaultdict(int)
    metadata = unread = 0
    *sizes, files = sizes
    for buffer, size in enumerate(sizes):
        if buffer in owners:
            found[owners[buffer]] += size
        elif buffer in described:
            metadata += size
        else:
            unread += size
    ordered = sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))
    layers = tuple(LayerSize(layer, dtype, size) for (layer, dtype), size in ordered)
    return FileSizes(layers, metadata, unread, len(content) - sum(sizes) - files, files)


def _reading_layers(operators: Iterable[OperatorFacts]) -> dict[tuple[int, int], str]:
    """Returns the layers of the first ops that read tensors, by subgraph and index."""
    layers: dict[tuple[int, int], str] = {}
    for operator in operators:
        for index in operator.inputs:
            if operator.layer:
                layers.setdefault((operator.subgraph, index), operator.layer)
    return layers


def _span(content: Any, buffer: Table) -> tuple[int, int]:
    """Returns where the bytes of a buffer begin and end in the file."""
    start, size = data_span(buffer)
    return min(start, len(content)), min(start + size, len(content))


def _own_bytes(spans: Sequence[tuple[int, int]]) -> list[int]:
    """Returns how many bytes of each span no span before it in the file has."""
    sizes = [0] * len(spans)
    end = 0
    for index in sorted(range(len(spans)), key=lambda index: spans[index]):
        start, stop = spans[index]
        sizes[index] = max(stop - max(start, end), 0)
        end = max(end, stop)
    return sizes
