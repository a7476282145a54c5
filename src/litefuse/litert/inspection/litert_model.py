"""Inspection of a LiteRT model, without loading it into an interpreter."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from litefuse.errors import InterpreterError
from litefuse.litert.export.op_codes import runtime_of
from litefuse.litert.inputs.graph import Model
from litefuse.litert.inspection.facts import CustomOperator, FileFacts, SignatureFacts, SubgraphFacts, TensorFacts
from litefuse.litert.inspection.litert_model_facts import LiteRTModelFacts
from litefuse.litert.inspection.operator_options import known_options
from litefuse.litert.inspection.operators import operators_of
from litefuse.litert.inspection.sizes import file_sizes
from litefuse.litert.inspection.tensors import stored_tensors
from litefuse.litert.metadata.associated_files import pack_of
from litefuse.litert.metadata.finish import model_metadata
from litefuse.litert.runtime import model_tables as fields
from litefuse.litert.runtime.flatbuffer import Table, content_of, root
from litefuse.litert.runtime.known_custom_ops import ops_that_run_in_litert
from litefuse.litert.runtime.model_content import check_model
from litefuse.litert.runtime.model_tables import IDENTIFIER, OpCode, custom_options, dtype_name, sizes_of
from litefuse.litert.runtime.soundness import check_soundness

__all__ = ["facts_of", "inspect_litert_model", "is_litert_model"]

# The fields of the table StableHLOCompositeOptions.
_COMPOSITE_NAME, _COMPOSITE_ATTRIBUTES = 0, 2

# One kind of custom operator: its kind, its name, its options.
_OperatorKey: TypeAlias = tuple[Literal["custom", "composite"], str, bytes]


def is_litert_model(path: Path) -> bool:
    """Whether the file has the identifier of LiteRT models."""
    try:
        with path.open("rb") as file:
            return file.read(8)[4:] == IDENTIFIER
    except OSError:
        return False


def inspect_litert_model(path: Path) -> LiteRTModelFacts:
    """Inspects a ``.tflite`` file. Weights are not read.

    Raises:
        InterpreterError: It cannot be read, is not a LiteRT model, or is damaged.
    """
    check_model(path)
    try:
        with content_of(path) as data:
            if data[4:8] != IDENTIFIER:
                raise InterpreterError(
                    "this is not a LiteRT model", where=str(path), hint="Is it a complete .tflite file?"
                )
            return facts_of(data, str(path))
    except OSError as error:
        raise InterpreterError(f"the file cannot be read: {error.strerror or error}", where=str(path)) from error


def facts_of(content: Any, source: str = "") -> LiteRTModelFacts:
    """Inspects the content of a ``.tflite`` file.

    Args:
        content: The content: bytes or a memory map.
        source: The name of the file.

    Raises:
        InterpreterError: The model is damaged.
    """
    check_soundness(content, source)
    try:
        return _Reader(content).facts(source)
    except Exception as error:  # following the offsets of damaged data fails in many ways
        raise InterpreterError(
            "the model is damaged",
            where=source,
            hint="Is it complete? Convert or download it again.",
        ) from error


@dataclass(frozen=True)
class _Reader:
    data: Any

    def facts(self, source: str) -> LiteRTModelFacts:
        model = root(self.data)
        subgraphs = model.tables(fields.SUBGRAPHS)
        tensors, operators = tuple(stored_tensors(self.data)), operators_of(self.data)
        counts = Counter(operator.name for operator in operators)
        is_plain = all(operator.kind == "builtin" for operator in operators)
        custom: Counter[_OperatorKey] = Counter(() if is_plain else self._custom_operators())
        pack = pack_of(self.data)
        own = ops_that_run_in_litert(self.data) if custom else frozenset[str]()
        return LiteRTModelFacts(
            source=source,
            size=len(self.data),
            description=model.text(fields.DESCRIPTION),
            signatures=tuple(_signature(table, subgraphs) for table in model.tables(fields.SIGNATURES)),
            subgraphs=tuple(_subgraph(subgraph) for subgraph in subgraphs),
            op_counts=dict(sorted(counts.items())),
            custom_operators=tuple(
                CustomOperator(
                    name, kind, count, known_options(name, options), len(options), kind == "custom" and name in own
                )
                for (kind, name, options), count in sorted(custom.items())
            ),
            metadata=tuple(table.text(fields.METADATA_NAME) for table in model.tables(fields.METADATA)),
            tensors=tensors,
            operators=operators,
            sizes=file_sizes(self.data, tensors, operators),
            model_metadata=model_metadata(self.data),
            associated_files=() if pack is None else tuple(FileFacts(*each) for each in pack.sizes.items()),
            least_runtime=str(runtime_of(self.data)),
            data_behind=Model(self.data).has_buffers_behind,
        )

    def _custom_operators(self) -> Iterator[_OperatorKey]:
        """Yields the kind, the name and the options of each custom op and composite, as they are in the file."""
        model = root(self.data)
        codes = [OpCode.read(code) for code in model.tables(fields.OPERATOR_CODES)]
        for graph in model.tables(fields.SUBGRAPHS):
            for operator in graph.tables(fields.OPERATORS):
                code = codes[operator.number(fields.OPCODE, "I")]
                if code.name == "CUSTOM":
                    yield "custom", code.custom, custom_options(operator)
                elif code.name == "STABLEHLO_COMPOSITE":
                    options = operator.table(fields.OPTIONS_2)
                    if options is not None:
                        yield "composite", options.text(_COMPOSITE_NAME), options.content(_COMPOSITE_ATTRIBUTES)


def _tensor(tensors: Sequence[Table], index: int, name: str | None = None) -> TensorFacts:
    tensor = tensors[index]
    shape = sizes_of(tensor)
    dtype = dtype_name(tensor.number(fields.TYPE, "b"))
    scale, zero_point = _quantization(tensor.table(fields.QUANTIZATION))
    known = shape if shape or tensor.number(fields.HAS_RANK, "B") else None
    return TensorFacts(
        tensor.text(fields.TENSOR_NAME) if name is None else name, dtype, known, scale, zero_point, index
    )


def _quantization(parameters: Table | None) -> tuple[float | None, int | None]:
    """Returns scale and zero point of a per-tensor quantized tensor, which inputs and outputs are; else None."""
    if parameters is None or parameters.length(fields.SCALE) != 1:
        return None, None
    (scale,) = struct.unpack_from("<f", parameters.data, parameters.vector(fields.SCALE))
    zero_point = 0
    if parameters.length(fields.ZERO_POINT):
        (zero_point,) = struct.unpack_from("<q", parameters.data, parameters.vector(fields.ZERO_POINT))
    # The shortest decimal that rounds to the same float32.
    return float(str(np.float32(scale))), zero_point


def _subgraph(subgraph: Table) -> SubgraphFacts:
    tensors = subgraph.tables(fields.TENSORS)
    inputs, outputs = subgraph.numbers(fields.GRAPH_INPUTS), subgraph.numbers(fields.GRAPH_OUTPUTS)
    return SubgraphFacts(
        name=subgraph.text(fields.GRAPH_NAME),
        inputs=tuple(_tensor(tensors, index) for index in inputs),
        outputs=tuple(_tensor(tensors, index) for index in outputs),
        op_count=subgraph.length(fields.OPERATORS),
        input_indices=inputs,
        output_indices=outputs,
    )


def _signature(signature: Table, subgraphs: Sequence[Table]) -> SignatureFacts:
    number = signature.number(fields.SIGNATURE_GRAPH, "I")
    tensors = subgraphs[number].tables(fields.TENSORS)

    def named(field: int, order: int) -> tuple[TensorFacts, ...]:
        # In the file they are sorted by name; indices are those of the subgraph. Others come last.
        indices = subgraphs[number].numbers(order)
        places = {index: place for place, index in reversed([*enumerate(indices)])}
        entries = [
            (entry.number(fields.MAP_INDEX, "I"), entry.text(fields.MAP_NAME)) for entry in signature.tables(field)
        ]
        entries.sort(key=lambda entry: places.get(entry[0], len(places)))
        return tuple(_tensor(tensors, *entry) for entry in entries)

    return SignatureFacts(
        key=signature.text(fields.SIGNATURE_KEY),
        inputs=named(fields.SIGNATURE_INPUTS, fields.GRAPH_INPUTS),
        outputs=named(fields.SIGNATURE_OUTPUTS, fields.GRAPH_OUTPUTS),
        subgraph=number,
    )
