"""The graphs of a LiteRT model, as far as the flow of values through them is asked for.

It is read by the numbers of the schema's fields (schema.fbs): constants are read one by one, when they are asked for.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, cast

import ml_dtypes
import numpy as np
import numpy.typing as npt
from ai_edge_litert import schema_py_generated as schema

from litefuse.runtime.flatbuffer import Table, root
from litefuse.runtime.options import decode_map

__all__ = ["Graph", "Model", "Op", "Signature", "Tensor"]

_OPERATOR_CODES, _SUBGRAPHS, _BUFFERS, _SIGNATURES = 1, 2, 4, 7  # Model
_DEPRECATED_CODE, _CUSTOM_CODE, _CODE = 0, 1, 3  # OperatorCode
_TENSORS, _GRAPH_INPUTS, _GRAPH_OUTPUTS, _OPERATORS = range(4)  # SubGraph
_OPCODE, _INPUTS, _OUTPUTS = range(3)  # Operator
_OPTIONS, _CUSTOM_OPTIONS, _OPTIONS_2 = 4, 5, 12  # Operator
_SHAPE, _TYPE, _BUFFER, _TENSOR_NAME, _QUANTIZATION, _SHAPE_SIGNATURE, _HAS_RANK = 0, 1, 2, 3, 4, 7, 8  # Tensor
_SCALE, _ZERO_POINT = 2, 3  # QuantizationParameters
_DATA, _OFFSET, _SIZE = 0, 1, 2  # Buffer
_SIGNATURE_INPUTS, _SIGNATURE_OUTPUTS, _KEY, _SIGNATURE_GRAPH = 0, 1, 2, 4  # SignatureDef
_NAME, _INDEX = 0, 1  # TensorMap

_TYPES = cast("type", schema.TensorType)
_DTYPES: dict[int, np.dtype[Any]] = {
    number: np.dtype({"STRING": "O", "BFLOAT16": ml_dtypes.bfloat16}.get(name, name.lower()))
    for name, number in vars(_TYPES).items()
    if name
    in {"FLOAT16", "FLOAT32", "FLOAT64", "BFLOAT16", "COMPLEX64", "COMPLEX128", "BOOL", "STRING"}
    | {f"{sign}INT{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)}
}
_NAMES = {number: name for name, number in vars(cast("type", schema.BuiltinOperator)).items() if name.isupper()}


class Tensor(NamedTuple):
    """A tensor.

    Attributes:
        name: Its name.
        dtype: Its numpy dtype, ``object`` for strings; None for a resource, a variant or packed numbers.
        shape: Its shape; None for a size that is open.
        scale: The scale of quantized numbers; 0 for others.
        zero: Their zero point.
        ranked: Whether the rank is known; some files say of no scalar that it is.
    """

    name: str
    dtype: np.dtype[Any] | None
    shape: tuple[int | None, ...]
    scale: float = 0.0
    zero: int = 0
    ranked: bool = True


class Op:
    """An op.

    Attributes:
        name: Its name in the schema; that of a custom op is its own.
        custom: Whether it is a custom op.
        inputs: The indices of the tensors that it takes; -1 for one that is left out.
        outputs: Those of the tensors that it gives.
    """

    def __init__(self, table: Table, name: str, *, custom: bool) -> None:
        self._table = table
        self.name = name
        self.custom = custom
        self.inputs = table.numbers(_INPUTS)
        self.outputs = table.numbers(_OUTPUTS)

    def option(self, field: int, kind: str = "i", default: int = 0) -> int:
        """A number of the builtin options, by the number of its field; ``kind`` as in the module ``struct``."""
        options = self._table.table(_OPTIONS)
        return default if options is None else options.number(field, kind, default)

    def text_option(self, field: int) -> str:
        """A text of the builtin options."""
        options = self._table.table(_OPTIONS)
        return "" if options is None else options.text(field)

    def numbers_option(self, field: int) -> tuple[int, ...]:
        """A vector of int32 of the builtin options."""
        options = self._table.table(_OPTIONS)
        return () if options is None else options.numbers(field)

    @property
    def custom_options(self) -> dict[str, Any]:
        """The options of a custom op that has a flexbuffer map of them."""
        return decode_map(self._table.content(_CUSTOM_OPTIONS)) or {}

    @property
    def callees(self) -> tuple[int, ...]:
        """The indices of the subgraphs that it runs, in the order of the schema."""
        if self.name in {"IF", "WHILE"}:
            return self.option(0), self.option(1)
        if self.name in {"CALL_ONCE", "CALL"}:
            return (self.option(0),)
        if self.name == "STABLEHLO_COMPOSITE":
            options = self._table.table(_OPTIONS_2)
            return () if options is None else (options.number(1, "i"),)
        return ()


class Graph:
    """A subgraph.

    Attributes:
        inputs: The indices of the tensors that are its inputs.
        outputs: The indices of those that are its outputs.
        size: How many tensors it has.
    """

    def __init__(self, model: Model, table: Table) -> None:
        self._model = model
        self._tables = table.tables(_TENSORS)
        self._operators = table.tables(_OPERATORS)
        self.size = len(self._tables)
        self._tensors: dict[int, Tensor] = {}
        self.inputs = table.numbers(_GRAPH_INPUTS)
        self.outputs = table.numbers(_GRAPH_OUTPUTS)

    @cached_property
    def ops(self) -> list[Op]:
        """Its ops, in the order in which they run."""
        return [self._model.op(table) for table in self._operators]

    def tensor(self, index: int) -> Tensor:
        """A tensor by its index."""
        if index not in self._tensors:
            self._tensors[index] = _tensor(self._tables[index])
        return self._tensors[index]

    def is_constant(self, index: int) -> bool:
        """Whether a tensor's value is in the file."""
        return index >= 0 and self._model.has_data(self._tables[index].number(_BUFFER, "I"))

    def constant(self, index: int) -> npt.NDArray[Any] | None:
        """The value of a constant, strings as bytes; None if the tensor is none, or of a dtype that numpy lacks."""
        if not self.is_constant(index):
            return None
        kind = self.tensor(index)
        shape = tuple(size or 0 for size in kind.shape)
        data = self._model.data(self._tables[index].number(_BUFFER, "I"))
        if kind.dtype is None:
            return None
        if kind.dtype == object:
            return _strings(data, shape)
        found = np.frombuffer(data, kind.dtype)
        return found.reshape(shape) if found.size == np.prod(shape, dtype=np.int64) else None


class Signature(NamedTuple):
    """A signature.

    Attributes:
        graph: The index of its subgraph.
        inputs: Its inputs' tensors by their names.
        outputs: Its outputs'.
    """

    graph: int
    inputs: dict[str, int]
    outputs: dict[str, int]


class Model:
    """A LiteRT model.

    Args:
        content: The content of the file, which is sound: bytes or a memory map.
    """

    def __init__(self, content: Any) -> None:
        self._content = content
        model = root(content)
        self._buffers = model.tables(_BUFFERS)
        self._codes = [_op_name(code) for code in model.tables(_OPERATOR_CODES)]
        self.graphs = [Graph(self, table) for table in model.tables(_SUBGRAPHS)]
        self.signatures = {table.text(_KEY): _signature(table) for table in model.tables(_SIGNATURES)}

    def constant_shapes(self) -> frozenset[tuple[int, ...]]:
        """The shapes of all constants that have axes."""
        return frozenset(
            tuple(size or 0 for size in graph.tensor(index).shape)
            for graph in self.graphs
            for index in range(graph.size)
            if graph.is_constant(index) and graph.tensor(index).shape
        )

    def op(self, table: Table) -> Op:
        """The op of a table."""
        name, custom = self._codes[table.number(_OPCODE, "I")]
        return Op(table, name, custom=custom)

    def has_data(self, buffer: int) -> bool:
        """Whether a buffer holds anything."""
        table = self._buffers[buffer]
        return table.length(_DATA) > 0 or table.number(_SIZE, "Q") > 0

    def data(self, buffer: int) -> Any:
        """What a buffer holds."""
        table = self._buffers[buffer]
        if size := table.number(_SIZE, "Q"):  # it stands behind the flatbuffer
            offset = table.number(_OFFSET, "Q")
            return memoryview(self._content)[offset : offset + size]
        return table.content(_DATA)


def _op_name(code: Table) -> tuple[str, bool]:
    # Old files have the code in a field of one byte only.
    number = max(code.number(_CODE, "i"), code.number(_DEPRECATED_CODE, "b"))
    name = _NAMES.get(number, f"BUILTIN_{number}")
    return (code.text(_CUSTOM_CODE), True) if name == "CUSTOM" else (name, False)


def _tensor(table: Table) -> Tensor:
    sizes = table.numbers(_SHAPE_SIGNATURE) or table.numbers(_SHAPE)
    scale, zero = 0.0, 0
    parameters = table.table(_QUANTIZATION)
    if parameters is not None and parameters.length(_SCALE) == 1:
        scale = struct.unpack("<f", _vector(parameters, _SCALE, 4))[0]
        zero = struct.unpack("<q", _vector(parameters, _ZERO_POINT, 8))[0] if parameters.length(_ZERO_POINT) else 0
    shape = tuple(None if size < 0 else size for size in sizes)
    ranked = bool(shape) or bool(table.number(_HAS_RANK, "B"))
    return Tensor(table.text(_TENSOR_NAME), _DTYPES.get(table.number(_TYPE, "b")), shape, scale, zero, ranked)


def _vector(table: Table, field: int, size: int) -> bytes:
    """The first element of a vector of numbers of a size."""
    start = table.vector(field)
    return bytes(table.data[start : start + size])


def _signature(table: Table) -> Signature:
    def named(field: int) -> dict[str, int]:
        return {each.text(_NAME): each.number(_INDEX, "I") for each in table.tables(field)}

    return Signature(table.number(_SIGNATURE_GRAPH, "I"), named(_SIGNATURE_INPUTS), named(_SIGNATURE_OUTPUTS))


def _strings(data: bytes, shape: Sequence[int]) -> npt.NDArray[Any] | None:
    """Strings in the runtime's form: their count, where each begins and the last one ends, and their bytes."""
    count = int.from_bytes(data[:4], "little")
    places = np.frombuffer(data, np.int32, count + 1, 4)
    found = np.empty(count, object)
    found[:] = [bytes(data[places[i] : places[i + 1]]) for i in range(count)]
    return found.reshape(shape) if count == np.prod(shape, dtype=np.int64) else None
