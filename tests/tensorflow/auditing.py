"""Converted models without running them: what no comparison of numbers shows, but costs time in every call."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# Ops that rearrange: of a constant, what they give is one, and XNNPACK takes convolutions and products with constant
# filters only.
_REARRANGING = frozenset({"SPLIT", "SPLIT_V", "TRANSPOSE", "UNPACK"})
# litert-quantizer says no rank of what it puts around scalars.
_OF_QUANTIZER = frozenset({"DEQUANTIZE", "QUANTIZE"})


def findings(model: bytes) -> list[str]:
    """What is wrong with a LiteRT model whose numbers are right, one sentence for each place.

    Results without a rank, which XNNPACK does not take; constants that each call rearranges; casts and reshapes that
    change nothing.
    """
    found: list[str] = []
    for root, graph, name, op in operators(model):
        operands = [graph.tensors[index] for index in op.inputs if index >= 0]
        results = [graph.tensors[index] for index in op.outputs]
        where = f"{graph.name.decode()}: {name} {(results[0].name or b'').decode()!r}" if results else name
        found += [f"{where} {problem}" for problem in _problems(name, operands, results, root.buffers)]
    return found


def operators(model: bytes) -> Iterator[tuple[Any, Any, str, Any]]:
    """The ops of a model: the model, the subgraph, the op's name (a custom op's own), and the op."""
    schema: Any = importlib.import_module("ai_edge_litert.schema_py_generated")
    numbers: Mapping[str, int] = {name: getattr(schema.BuiltinOperator, name) for name in dir(schema.BuiltinOperator)}
    builtins = {code: name for name, code in numbers.items() if not name.startswith("_")}
    root = schema.ModelT.InitFromObj(schema.Model.GetRootAs(model, 0))
    names: list[str] = [
        code.customCode.decode()
        if code.builtinCode == schema.BuiltinOperator.CUSTOM
        else builtins[max(code.builtinCode, code.deprecatedBuiltinCode)]
        for code in root.operatorCodes
    ]
    for graph in root.subgraphs:
        for op in graph.operators or ():
            yield root, graph, names[op.opcodeIndex], op


def _problems(name: str, operands: Sequence[Any], results: Sequence[Any], buffers: Sequence[Any]) -> Iterator[str]:
    if name not in _OF_QUANTIZER and not all(map(_has_rank, results)):
        yield "has a result of unknown rank"
    if name in _REARRANGING and all(_is_constant(each, buffers) for each in operands):
        yield "rearranges a constant"
    if name == "CAST" and operands[0].type == results[0].type:
        yield "changes nothing"
    static = all(_has_rank(each) and each.shapeSignature is None for each in (*operands, *results))
    if name == "RESHAPE" and static and _shape(operands[0]) == _shape(results[0]):
        yield "changes nothing"


def _has_rank(tensor: Any) -> bool:
    return bool(tensor.hasRank) or bool(_shape(tensor))


def _shape(tensor: Any) -> list[int]:
    return [] if tensor.shape is None else list(tensor.shape)


def _is_constant(tensor: Any, buffers: Sequence[Any]) -> bool:
    buffer = buffers[tensor.buffer]
    return buffer.size > 0 or (buffer.data is not None and len(buffer.data) > 0)
