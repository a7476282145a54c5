"""Inspection of a LiteRT model, without loading it into an interpreter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from litefuse.errors import InterpreterError
from litefuse.litert.export.op_codes import runtime_of
from litefuse.litert.inspection.facts import (
    CustomOperator,
    FileFacts,
    FileSizes,
    LayerSize,
    OperatorFacts,
    QuantizationFacts,
    SignatureFacts,
    StoredTensor,
    SubgraphFacts,
    TensorFacts,
)
from litefuse.litert.inspection.layer_names import layer_of
from litefuse.litert.inspection.litert_model_facts import LiteRTModelFacts
from litefuse.litert.inspection.operator_options import known_options, shortest_float32
from litefuse.litert.inspection.operators import operators_in
from litefuse.litert.metadata.associated_files import Pack, pack_of, read_file
from litefuse.litert.metadata.finish import model_metadata
from litefuse.litert.metadata.json_form import associated_files_in
from litefuse.litert.runtime import model_tables as fields
from litefuse.litert.runtime.flatbuffer import content_of, damage_reported
from litefuse.litert.runtime.kernel_pack import ops_that_run_in_litert
from litefuse.litert.runtime.model_content import check_model
from litefuse.litert.runtime.model_reader import Graph, Model, Scales
from litefuse.litert.runtime.model_tables import data_span
from litefuse.litert.runtime.soundness import check_soundness
from litefuse.support.files.readable import os_errors

# The field of the table StableHLOCompositeOptions.
_COMPOSITE_ATTRIBUTES = 2

_LABELS = frozenset({"TENSOR_AXIS_LABELS", "TENSOR_VALUE_LABELS"})
_MOST_BYTES = 1 << 20  # of labels

# One kind of custom operator: its kind, its name, its options.
_OperatorKey: TypeAlias = tuple[Literal["custom", "composite"], str, bytes]


def inspect_litert_model(path: Path) -> LiteRTModelFacts:
    """Inspects a ``.tflite`` file. Weights are not read.

    Raises:
        InterpreterError: It cannot be read, is not a LiteRT model, or is damaged.
    """
    check_model(path)
    with os_errors("the file cannot be read", path, InterpreterError), content_of(path) as data:
        return facts_of(data, str(path))


def facts_of(content: Any, source: str = "") -> LiteRTModelFacts:
    """Inspects the content of a ``.tflite`` file.

    Raises:
        InterpreterError: The model is damaged.
    """
    check_soundness(content, source)
    with damage_reported(source):
        return _facts(content, Model(content), source)


def _facts(content: Any, model: Model, source: str) -> LiteRTModelFacts:
    tensors, operators = tuple(stored_tensors(model)), tuple(operators_in(model))
    custom: Counter[_OperatorKey] = Counter(_custom_operators(model))
    pack, described = pack_of(content), model_metadata(content)
    own = ops_that_run_in_litert(content) if custom else frozenset[str]()
    return LiteRTModelFacts(
        source=source,
        size=len(content),
        description=model.table.text(fields.DESCRIPTION),
        signatures=tuple(
            SignatureFacts(
                key,
                *(
                    tuple(_tensor(model.graphs[signature.graph], index, name) for name, index in named.items())
                    for named in (signature.inputs, signature.outputs)
                ),
                subgraph=signature.graph,
            )
            for key, signature in model.signatures.items()
        ),
        subgraphs=tuple(
            SubgraphFacts(
                name=graph.name,
                inputs=tuple(_tensor(graph, index) for index in graph.inputs),
                outputs=tuple(_tensor(graph, index) for index in graph.outputs),
                op_count=len(graph.operators),
                input_indices=graph.inputs,
                output_indices=graph.outputs,
            )
            for graph in model.graphs
        ),
        op_counts=dict(sorted(Counter(operator.name for operator in operators).items())),
        custom_operators=tuple(
            CustomOperator(
                name, kind, count, known_options(name, options), len(options), kind == "custom" and name in own
            )
            for (kind, name, options), count in sorted(custom.items())
        ),
        metadata=tuple(name for name, _ in model.metadata),
        tensors=tensors,
        operators=operators,
        sizes=_file_sizes(len(content), pack, model, tensors, operators),
        model_metadata=described,
        associated_files=() if pack is None else tuple(FileFacts(*file) for file in pack.sizes.items()),
        labels={} if pack is None else dict(_labels(content, pack, described or {})),
        least_runtime=str(runtime_of(content)),
        data_behind=model.has_buffers_behind,
    )


def _labels(content: Any, pack: Pack, metadata: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields the files with labels, each with its lines; damaged and huge ones have none."""
    for file in associated_files_in(metadata):
        name = file.get("name", "")
        if file.get("type") in _LABELS and pack.sizes.get(name, _MOST_BYTES) < _MOST_BYTES:
            yield name, tuple(read_file(content, name).decode(errors="replace").splitlines())


def _custom_operators(model: Model) -> Iterator[_OperatorKey]:
    """Yields the kind, the name and the options of each custom op and composite, as they are in the file."""
    for graph in model.graphs:
        for op in graph.ops:
            if op.custom:
                yield "custom", op.name, op.custom_bytes
            elif op.name == "STABLEHLO_COMPOSITE" and (options := op.table.table(fields.OPTIONS_2)) is not None:
                yield "composite", op.composite, options.content(_COMPOSITE_ATTRIBUTES)


def _tensor(graph: Graph, index: int, name: str | None = None) -> TensorFacts:
    tensor, scales = graph.tensor(index), graph.scales(index)
    # Inputs and outputs have one scale or none.
    scale, zero = (shortest_float32(scales[0]), tensor.zero) if len(scales) == 1 else (None, None)
    shape = tensor.shape if tensor.ranked else None
    return TensorFacts(tensor.name if name is None else name, graph.dtype_name(index), shape, scale, zero, index)


def stored_tensors(model: Model) -> Iterator[StoredTensor]:
    """Yields all tensors of a model."""
    for number, graph in enumerate(model.graphs):
        computed = {*graph.inputs, *(output for op in graph.ops for output in op.outputs)}
        for index in range(graph.size):
            tensor, size = graph.tensor(index), graph.stored_bytes(index)
            is_empty = 0 in tensor.shape and index not in computed
            yield StoredTensor(
                subgraph=number,
                name=tensor.name,
                dtype=graph.dtype_name(index),
                shape=tensor.shape,
                size=size,
                quantization=_quantization(graph.quantization(index)),
                index=index,
                buffer=graph.buffer(index),
                is_constant=bool(size or graph.is_external(index) or is_empty),
                is_variable=tensor.is_variable,
            )


def _quantization(scales: Scales | None) -> QuantizationFacts | None:
    if scales is None:
        return None
    values, zeros = scales.scales, scales.zeros
    return QuantizationFacts(
        count=len(values),
        scale=(shortest_float32(values.min()), shortest_float32(values.max())) if len(values) else (0.0, 0.0),
        zero_point=(int(zeros.min()), int(zeros.max())) if len(zeros) else (0, 0),
        axis=scales.axis if len(values) > 1 and not scales.block else None,
        block=scales.block or None,
    )


def _file_sizes(
    total: int, pack: Pack | None, model: Model, tensors: Sequence[StoredTensor], operators: Sequence[OperatorFacts]
) -> FileSizes:
    """Adds up the sizes of what is in a file.

    The layer of a constant is that of its name, or else that of the first op that reads it.
    """
    spans = [(min(start, total), min(start + size, total)) for start, size in map(data_span, model.buffers)]
    spans.append((total if pack is None else pack.start, total))
    described = {buffer for _, buffer in model.metadata}
    described.update(model.table.numbers(fields.METADATA_BUFFER))  # of files from before metadata had names
    readers = _reading_layers(operators)
    owners: dict[int, tuple[str, str]] = {}
    for tensor in tensors:
        if tensor.size and tensor.buffer not in owners:
            layer = layer_of(tensor.name) or readers.get((tensor.subgraph, tensor.index), "")
            owners[tensor.buffer] = layer, tensor.dtype
    *sizes, files = _own_bytes(spans)
    by_layer, metadata, unread = Counter[tuple[str, str]](), 0, 0
    for buffer, size in enumerate(sizes):
        if buffer in owners:
            by_layer[owners[buffer]] += size
        elif buffer in described:
            metadata += size
        else:
            unread += size
    ordered = sorted(by_layer.items(), key=lambda entry: (-entry[1], entry[0]))
    layers = tuple(LayerSize(layer, dtype, size) for (layer, dtype), size in ordered)
    return FileSizes(layers, metadata, unread, total - sum(sizes) - files, files)


def _reading_layers(operators: Iterable[OperatorFacts]) -> dict[tuple[int, int], str]:
    """Returns the layers of the first ops that read tensors, by subgraph and index."""
    layers: dict[tuple[int, int], str] = {}
    for operator in operators:
        for index in operator.inputs:
            if operator.layer:
                layers.setdefault((operator.subgraph, index), operator.layer)
    return layers


def _own_bytes(spans: Sequence[tuple[int, int]]) -> list[int]:
    """Returns how many bytes of each span no span before it in the file has."""
    sizes = [0] * len(spans)
    end = 0
    for index in sorted(range(len(spans)), key=lambda index: spans[index]):
        start, stop = spans[index]
        sizes[index] = max(stop - max(start, end), 0)
        end = max(end, stop)
    return sizes
