"""Inspection of a LiteRT model, without loading it into an interpreter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from litefuse.errors import InterpreterError
from litefuse.litert.export.op_codes import runtime_of
from litefuse.litert.inputs.graph import Model
from litefuse.litert.inspection.facts import (
    CustomOperator,
    FileFacts,
    LiteRTModelFacts,
    SignatureFacts,
    SubgraphFacts,
    TensorFacts,
)
from litefuse.litert.inspection.operator_options import known_options
from litefuse.litert.inspection.operators import operators_of
from litefuse.litert.inspection.sizes import file_sizes
from litefuse.litert.inspection.tensors import dtype_name, stored_tensors
from litefuse.litert.metadata.associated_files import pack_of
from litefuse.litert.metadata.finish import model_metadata
from litefuse.litert.runtime import model_tables as fields
from litefuse.litert.runtime.flatbuffer import content_of, root
from litefuse.litert.runtime.model_content import check_model
from litefuse.litert.runtime.model_tables import OpCode, custom_options
from litefuse.litert.runtime.operators import ops_that_run_in_litert
from litefuse.litert.runtime.soundness import IDENTIFIER, check_soundness

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
        model = schema.Model.GetRootAs(self.data, 0)
        subgraphs = [model.Subgraphs(index) for index in range(model.SubgraphsLength())]
        tensors, operators = tuple(stored_tensors(self.data)), operators_of(self.data)
        counts = Counter(each.name for each in operators)
        is_plain = all(each.kind == "builtin" for each in operators)
        custom: Counter[_OperatorKey] = Counter(() if is_plain else self._custom_operators())
        pack = pack_of(self.data)
        own = ops_that_run_in_litert(self.data) if custom else frozenset[str]()
        return LiteRTModelFacts(
            source=source,
            size=len(self.data),
            description=_text(model.Description()),
            signatures=tuple(
                _signature(model.SignatureDefs(index), subgraphs) for index in range(model.SignatureDefsLength())
            ),
            subgraphs=tuple(_subgraph(subgraph) for subgraph in subgraphs),
            op_counts=dict(sorted(counts.items())),
            custom_operators=tuple(
                CustomOperator(
                    name, kind, count, known_options(name, options), len(options), kind == "custom" and name in own
                )
                for (kind, name, options), count in sorted(custom.items())
            ),
            metadata=tuple(_text(model.Metadata(index).Name()) for index in range(model.MetadataLength())),
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


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")


def _tensor(subgraph: Any, index: int, name: str | None = None) -> TensorFacts:
    tensor = subgraph.Tensors(index)
    # The shape signature has -1 where the shape has 1 for a dynamic dimension; it is absent for static shapes.
    sizes: list[int] = [tensor.Shape(i) for i in range(tensor.ShapeLength())]
    if tensor.ShapeSignatureLength():
        sizes = [tensor.ShapeSignature(i) for i in range(tensor.ShapeSignatureLength())]
    shape = None if not sizes and not tensor.HasRank() else tuple(None if size < 0 else size for size in sizes)
    dtype = dtype_name(tensor.Type())
    scale, zero_point = _quantization(tensor.Quantization())
    return TensorFacts(_text(tensor.Name()) if name is None else name, dtype, shape, scale, zero_point, index)


def _quantization(parameters: Any) -> tuple[float | None, int | None]:
    """Returns scale and zero point of a per-tensor quantized tensor, which inputs and outputs are; else None."""
    if parameters is None or parameters.ScaleLength() != 1:
        return None, None
    # The shortest decimal that rounds to the same float32.
    scale = float(str(np.float32(parameters.Scale(0))))
    return scale, int(parameters.ZeroPoint(0)) if parameters.ZeroPointLength() else 0


def _subgraph(subgraph: Any) -> SubgraphFacts:
    return SubgraphFacts(
        name=_text(subgraph.Name()),
        inputs=tuple(_tensor(subgraph, subgraph.Inputs(index)) for index in range(subgraph.InputsLength())),
        outputs=tuple(_tensor(subgraph, subgraph.Outputs(index)) for index in range(subgraph.OutputsLength())),
        op_count=subgraph.OperatorsLength(),
        input_indices=tuple(subgraph.Inputs(index) for index in range(subgraph.InputsLength())),
        output_indices=tuple(subgraph.Outputs(index) for index in range(subgraph.OutputsLength())),
    )


def _order(indices: Sequence[int]) -> Callable[[Any], int]:
    """Returns the key by which named tensors are in the order of indices; others come last."""
    places = {index: place for place, index in reversed([*enumerate(indices)])}
    return lambda named: places.get(named.TensorIndex(), len(places))


def _signature(signature: Any, subgraphs: list[Any]) -> SignatureFacts:
    subgraph = subgraphs[signature.SubgraphIndex()]
    # In the file they are sorted by name; indices are those of the subgraph.
    inputs = sorted(
        (signature.Inputs(index) for index in range(signature.InputsLength())),
        key=_order([subgraph.Inputs(place) for place in range(subgraph.InputsLength())]),
    )
    outputs = sorted(
        (signature.Outputs(index) for index in range(signature.OutputsLength())),
        key=_order([subgraph.Outputs(place) for place in range(subgraph.OutputsLength())]),
    )
    return SignatureFacts(
        key=_text(signature.SignatureKey()),
        inputs=tuple(_tensor(subgraph, each.TensorIndex(), _text(each.Name())) for each in inputs),
        outputs=tuple(_tensor(subgraph, each.TensorIndex(), _text(each.Name())) for each in outputs),
        subgraph=signature.SubgraphIndex(),
    )
