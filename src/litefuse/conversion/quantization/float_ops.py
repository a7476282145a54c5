"""The ops of a quantized model that do not compute in integers throughout, and the reason for each."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from litefuse.errors import QuantizationError
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_reader import Graph, Model, Op
from litefuse.support.report.quantized import FloatOp, OpKinds
from litefuse.support.report.sections import count_of

# Ops between integers and floating point, whose places follow from the other ops, and those that read shapes alone.
_PASSED = frozenset({"DEQUANTIZE", "QUANTIZE", "RANK", "SHAPE"})
# The ops that litert-quantizer calls by another name than the schema.
_OTHER_NAMES = {"TRANSPOSE_CONV": "CONV_2D_TRANSPOSE"}
# The ops of real numbers whose kernels take no int8. Source: the kernels in tflite/kernels of LiteRT.
_WITHOUT_KERNELS = frozenset(
    {
        *("ADD_N", "ATAN2", "CEIL", "COMPLEX_ABS", "CONV_3D", "CONV_3D_TRANSPOSE", "COS", "CUMSUM", "FLOOR", "IMAG"),
        *("LOCAL_RESPONSE_NORMALIZATION", "POW", "RANDOM_STANDARD_NORMAL", "RANDOM_UNIFORM", "REAL", "RFFT2D"),
        *("ROUND", "SEGMENT_SUM", "SIGN", "SIN", "SQUARE", "UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_MIN"),
        *("UNSORTED_SEGMENT_PROD", "UNSORTED_SEGMENT_SUM", "ZEROS_LIKE"),
    }
)
#: The ops that read and write variables.
STATES = frozenset({"ASSIGN_VARIABLE", "READ_VARIABLE"})
# What the ops run that have subgraphs.
_CALLERS = {
    "CALL_ONCE": "the initialization of states",
    "IF": "a branch",
    "STABLEHLO_COMPOSITE": "the decomposition of a composite",
    "WHILE": "a loop that stays in floating point",
}
#: The ops whose weights become smaller without samples, and the positions of those operands that are biases.
BIASES = {
    "BATCH_MATMUL": -1,
    "CONV_2D": 2,
    "DEPTHWISE_CONV_2D": 2,
    "EMBEDDING_LOOKUP": -1,
    "FULLY_CONNECTED": 2,
    "TRANSPOSE_CONV": 3,
}
_KEPT = "kept in floating point, as requested"
# Fewer float32 weights than this many bytes do not matter where they are not those of products.
_SMALL = 4096
# An error lists this many groups of ops.
_LISTED = 12


class OpsByKind(NamedTuple):
    """The ops of a quantized model.

    Attributes:
        kinds: The number of each kind.
        floats: Those that do not compute in integers throughout, in the order of the file; of a model of which only
            weights are quantized, those with weights that were not.
    """

    kinds: OpKinds
    floats: tuple[FloatOp, ...]


def ops_by_kind(
    path: Path,
    *,
    integer: bool,
    masked: Collection[str] = (),
    kept: Collection[str] = (),
    reasons: Mapping[str, str] = MappingProxyType({}),
) -> OpsByKind:
    """Classifies the ops of a quantized model by the numbers that they compute with.

    Args:
        path: The model.
        integer: Whether activations are quantized, too.
        masked: The names of tensors that stayed in floating point for their masks.
        kept: The names of tensors that the user wants in floating point.
        reasons: Why other ops stayed in floating point, by the names of their results.
    """
    integers, floats = 0, list[FloatOp]()
    with content_of(path) as content:
        model = Model(content)
        places = dict(_places(model))
        for index, graph in enumerate(model.graphs):
            ops = _Ops(graph, places.get(index, ""), masked, kept, reasons)
            for op in graph.ops:
                if op.name in _PASSED:
                    continue
                if ops.reals(op):
                    floats.append(ops.described(op))
                else:
                    integers += ops.is_quantized(op)
    kinds = [op.kind for op in floats]
    counts = OpKinds(integers, kinds.count("hybrid"), kinds.count("float"))
    if not integer:
        floats = [of_weights for op in floats if (of_weights := _of_weights(op, reasons)) is not None]
    return OpsByKind(counts, tuple(floats))


def require_integer(ops: Sequence[FloatOp]) -> None:
    """Checks that no ops stay in floating point.

    Raises:
        QuantizationError: Some do not; the message lists them.
    """
    if not ops:
        return
    groups: dict[tuple[str, str], list[FloatOp]] = {}
    for op in ops:
        groups.setdefault((op.op, op.reason), []).append(op)
    lines = [
        f"  {op}, {len(group):,} ({group[0].name}{' and others' if len(group) > 1 else ''}): {reason}"
        for (op, reason), group in groups.items()
    ]
    if len(lines) > _LISTED:
        lines[_LISTED:] = [f"  and {len(lines) - _LISTED:,} kinds more"]
    raise QuantizationError(
        f"{count_of(len(ops), 'op')} would not compute in integers throughout:\n" + "\n".join(lines),
        hint="Leave out require_integer (on the command line, --require-integer) to convert the model anyway.",
    )


class _Ops:
    """The ops of a subgraph.

    Args:
        graph: The subgraph.
        place: What it is for the op that runs it; empty for that of a signature.
        masked: See :func:`ops_by_kind`.
        kept: Likewise.
        reasons: Likewise.
    """

    def __init__(
        self, graph: Graph, place: str, masked: Collection[str], kept: Collection[str], reasons: Mapping[str, str]
    ) -> None:
        self._graph = graph
        self._place = place
        self._masked = masked
        self._kept = kept
        self._reasons = reasons
        # Weights that are integers or float16 in the file only, by what DEQUANTIZE makes of them.
        self._stored: Mapping[int, int] = {
            op.outputs[0]: op.inputs[0]
            for op in graph.ops
            if op.name == "DEQUANTIZE" and graph.is_constant(op.inputs[0])
        }

    def reals(self, op: Op) -> list[int]:
        """Returns the operands and results in floating point that are not constants."""
        return [
            index
            for index in (*op.inputs, *op.outputs)
            if self._is_real(index) and not self._graph.is_constant(index) and index not in self._stored
        ]

    def is_quantized(self, op: Op) -> bool:
        """Whether an operand or a result has a scale."""
        return any(index >= 0 and self._graph.is_quantized(index) for index in (*op.inputs, *op.outputs))

    def described(self, op: Op) -> FloatOp:
        """Describes an op with activations in floating point."""
        name = self._graph.tensor(op.outputs[0] if op.outputs else self.reals(op)[0]).name
        size, smaller = self._weights(op)
        return FloatOp(op.composite or op.name, name, "hybrid" if smaller else "float", self._reason(op), size)

    def _weights(self, op: Op) -> tuple[int, bool]:
        """Returns the bytes of an op's constants of real numbers, and whether they are quantized."""
        total, smaller = 0, False
        for position, operand in enumerate(op.inputs):
            stored = self._stored.get(operand, operand)
            if position == BIASES.get(op.name) or not self._graph.is_constant(stored):
                continue
            quantized = operand in self._stored or self._graph.is_quantized(stored)
            if quantized or self._is_real(stored):
                total += self._graph.stored_bytes(stored)
                smaller = smaller or quantized
        return total, smaller

    def _is_real(self, index: int) -> bool:
        dtype = None if index < 0 else self._graph.tensor(index).dtype
        if dtype is None:
            return False
        return dtype.kind in "fc" or str(dtype) == "bfloat16"  # which is of the kind V

    def _reason(self, op: Op) -> str:
        names = [self._graph.tensor(index).name for index in op.outputs or op.inputs]  # some ops only write a state
        if any(name in self._kept for name in names):
            return _KEPT
        if (known := next(filter(None, map(self._reasons.get, names)), None)) is not None:
            return known
        if op.custom:
            return "a custom op, whose kernel takes floating point"
        if self._place:
            return f"in {self._place}, where only weights become integers"
        if any(name in self._masked for name in names):
            return "masks are among its numbers, whose scale leaves nothing of the others"
        if op.callees and op.name == "WHILE" and self.is_quantized(op):
            return "ops in its loop stay in floating point"
        if op.callees:
            return f"it runs {_CALLERS.get(op.name, 'another subgraph')}, which keeps its types"
        other = {str(self._graph.tensor(real).dtype) for real in self.reals(op)} - {"float32"}
        if other:
            return f"of {' and '.join(sorted(other))}: only float32 becomes integers"
        if op.name in STATES:
            return "this form leaves states in floating point"
        if op.name in _WITHOUT_KERNELS:
            return "LiteRT has no integer kernel of it"
        if _OTHER_NAMES.get(op.name, op.name) not in quantizable_ops():
            return "it has no integer form"
        return "it has no integer form with these operands"


def _of_weights(op: FloatOp, reasons: Collection[str]) -> FloatOp | None:
    """Gives the reason for weights that stayed as they were; None if there are none."""
    if op.kind == "hybrid" or not op.weights:
        return None
    if op.reason == _KEPT or op.name in reasons:
        return op
    if op.op in BIASES:
        return replace(op, reason="too few weights, or a constant as the first factor")
    if op.weights < _SMALL:
        return None
    return replace(op, reason="litert-quantizer makes no smaller weights of this op")


@cache
def quantizable_ops() -> frozenset[str]:
    """Returns the ops that litert-quantizer quantizes, by its names of them."""
    names: Any = importlib.import_module("litert_quantizer.qtyping").TFLOperationName
    return frozenset(str(name.value) for name in names)


def _places(model: Model) -> Iterator[tuple[int, str]]:
    """Yields the subgraphs that other subgraphs run, and what they are for these, but for bodies with integers."""
    for graph in model.graphs:
        for op in graph.ops:
            carries_integers = op.name == "WHILE" and any(map(graph.is_quantized, op.inputs))
            for callee in op.callees[:1] if carries_integers else op.callees:
                yield callee, "a condition" if carries_integers else _CALLERS.get(op.name, "another subgraph")
