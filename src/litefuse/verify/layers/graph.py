"""The ops of a signature of a LiteRT model, and the tensors that they compute."""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ai_edge_litert import schema_py_generated as schema

from litefuse.errors import InterpreterError

__all__ = ["LayerGraph", "LayerTensor", "layer_graph", "opened"]

# What has no values that can be read, or none that can be compared: handles, and integers narrower than a byte.
_UNREADABLE = frozenset({"resource", "variant", "int4", "int2", "uint4"})


@dataclass(frozen=True)
class LayerTensor:
    """A tensor that an op of the main subgraph computes.

    Attributes:
        index: Its index in the subgraph.
        name: Its name in the file.
        op: The op that computes it: its name in LiteRT's schema, or that of a custom op or a composite.
        position: Which of the op's outputs it is.
        count: How many outputs the op has.
        operands: The indices of the op's inputs.
        dtype: Its dtype in the file.
        readable: Whether it has values that can be read.
    """

    index: int
    name: str
    op: str
    position: int
    count: int
    operands: tuple[int, ...]
    dtype: str
    readable: bool


@dataclass(frozen=True)
class LayerGraph:
    """The main subgraph of a signature.

    Attributes:
        subgraph: Its index.
        outputs: The indices of its outputs.
        stored: The indices of tensors that ops take that compute none: what they store in variables.
        results: The names of the signature's outputs, by the indices of their tensors.
        tensors: What its ops compute, in the order in which they run.
    """

    subgraph: int
    outputs: tuple[int, ...]
    stored: frozenset[int]
    results: dict[int, str]
    tensors: tuple[LayerTensor, ...]

    @property
    def ends(self) -> frozenset[int]:
        """The indices of tensors whose values last: outputs, and what is stored."""
        return self.stored | frozenset(self.outputs)


@contextlib.contextmanager
def opened(model: str | bytes) -> Generator[Any]:
    """The content of a model: a file as a memory map."""
    if isinstance(model, bytes):
        yield model
        return
    with open(model, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:  # noqa: PTH123
        yield data


def layer_graph(model: str | bytes, signature: str) -> LayerGraph:
    """The main subgraph of a signature.

    Args:
        model: The model's file, or its content; it has been run.
        signature: The signature's key.

    Raises:
        InterpreterError: There is no such signature.
    """
    with opened(model) as data:
        root: Any = schema.Model.GetRootAs(data, 0)
        for index in range(root.SignatureDefsLength()):
            each = root.SignatureDefs(index)
            if _text(each.SignatureKey()) == signature:
                number = each.SubgraphIndex()
                outputs = [each.Outputs(i) for i in range(each.OutputsLength())]
                results = {output.TensorIndex(): _text(output.Name()) for output in reversed(outputs)}
                return _read(root, number, results)
    raise InterpreterError(f"the file says nothing of the signature {signature!r}")


def _read(root: Any, number: int, results: dict[int, str]) -> LayerGraph:
    graph = root.Subgraphs(number)
    names = [_op_name(root.OperatorCodes(index)) for index in range(root.OperatorCodesLength())]
    tensors: list[LayerTensor] = []
    stored: set[int] = set()
    for index in range(graph.OperatorsLength()):
        operator = graph.Operators(index)
        code: int = operator.OpcodeIndex()
        op = _composite(operator) or names[code]
        operands = tuple(operator.Inputs(i) for i in range(operator.InputsLength()))
        outputs = [operator.Outputs(i) for i in range(operator.OutputsLength())]
        if not outputs:
            stored.update(operands)
        tensors += [_tensor(graph, output, op, place, operands, outputs) for place, output in enumerate(outputs)]
    ends = tuple(graph.Outputs(i) for i in range(graph.OutputsLength()))
    return LayerGraph(number, ends, frozenset(stored), results, tuple(tensors))


def _tensor(
    graph: Any, index: int, op: str, position: int, operands: tuple[int, ...], outputs: Sequence[int]
) -> LayerTensor:
    tensor = graph.Tensors(index)
    dtype = _DTYPES.get(tensor.Type(), f"type_{tensor.Type()}")
    readable = dtype not in _UNREADABLE and not tensor.IsVariable()
    return LayerTensor(index, _text(tensor.Name()), op, position, len(outputs), operands, dtype, readable)


def _op_name(code: Any) -> str:
    number: int = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())  # old files have it in a field of one byte only
    if number == schema.BuiltinOperator.CUSTOM:
        return _text(code.CustomCode())
    return _BUILTINS.get(number, f"BUILTIN_{number}")


def _composite(operator: Any) -> str:
    """The name of the composite that an op is; empty if it is none."""
    table = operator.BuiltinOptions2()
    if table is None or operator.BuiltinOptions2Type() != schema.BuiltinOptions2.StableHLOCompositeOptions:
        return ""
    options: Any = schema.StableHLOCompositeOptions()
    options.Init(table.Bytes, table.Pos)
    return _text(options.Name())


def _names(enumeration: Any) -> dict[int, str]:
    members = cast("dict[str, object]", vars(enumeration))
    return {value: name for name, value in members.items() if isinstance(value, int)}


_BUILTINS = _names(schema.BuiltinOperator)
_DTYPES = {number: name.lower() for number, name in _names(schema.TensorType).items()}


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")
