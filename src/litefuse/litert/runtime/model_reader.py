"""Reads LiteRT models: graphs, ops, tensors, signatures, metadata. What else is said of a file is a view of this.

Fields are read by their numbers in the schema (schema.fbs); constants are read one by one, on demand.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.litert.runtime import model_tables as fields
from litefuse.litert.runtime.flatbuffer import Table, root
from litefuse.litert.runtime.model_tables import (
    TENSOR_TYPES,
    OpCode,
    custom_options,
    data_of,
    data_span,
    dtype_name,
    sizes_of,
)

# The type BlockwiseQuantization of the union QuantizationDetails.
_BLOCKWISE = 2

# The types that numpy has, or gets from ml_dtypes, by their names in the schema.
_NUMPY_TYPES = frozenset(
    {"FLOAT16", "FLOAT32", "FLOAT64", "BFLOAT16", "COMPLEX64", "COMPLEX128", "BOOL", "STRING"}
    | {f"{sign}INT{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)}
)


@functools.cache
def _dtype(number: int) -> np.dtype[Any] | None:
    """Returns numpy's dtype of a type of the schema; None if it has none."""
    name = TENSOR_TYPES.get(number, "")
    if name == "BFLOAT16":
        import ml_dtypes  # few models have it

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype("O" if name == "STRING" else name.lower()) if name in _NUMPY_TYPES else None


class Tensor(NamedTuple):
    """A tensor.

    Attributes:
        name: Its name.
        dtype: Its numpy dtype, ``object`` for strings; None for a resource, a variant or packed numbers.
        shape: Its shape; None for a dynamic dimension.
        scale: The scale of quantized numbers; 0 for others.
        zero: Their zero point.
        ranked: Whether the rank is known; some files never say that a tensor is a scalar.
        is_variable: Whether it keeps its value between calls.
    """

    name: str
    dtype: np.dtype[Any] | None
    shape: tuple[int | None, ...]
    scale: float = 0.0
    zero: int = 0
    ranked: bool = True
    is_variable: bool = False


class Scales(NamedTuple):
    """How the integers of a tensor stand for real numbers.

    Attributes:
        scales: float64 of shape ``[n]``.
        zeros: The zero points: int64 of the same shape.
        axis: The axis along which each slice has a scale of its own.
        block: How many neighbours in a row share a scale; 0 if scales are not for blocks.
    """

    scales: npt.NDArray[np.float64]
    zeros: npt.NDArray[np.int64]
    axis: int = 0
    block: int = 0


def are_same_scales(one: Scales | None, other: Scales | None) -> bool:
    """Whether two tensors have the same scales, or none."""
    if one is None or other is None:
        return one is other
    return (
        (one.axis if len(one.scales) > 1 else 0) == (other.axis if len(other.scales) > 1 else 0)
        and one.block == other.block
        and np.array_equal(one.scales, other.scales, equal_nan=True)
        and np.array_equal(one.zeros, other.zeros)
    )


class Op:
    """An op.

    Attributes:
        table: Its table in the file.
        name: Its name in the schema; that of a custom op is its own.
        custom: Whether it is a custom op.
        version: Its version.
        code: The index of its op code.
        inputs: The indices of its operands; -1 for one that is omitted.
        outputs: The indices of its results.
    """

    def __init__(self, table: Table, name: str, *, custom: bool, version: int = 1) -> None:
        self.table = table
        self.code = table.number(fields.OPCODE, "I")
        self.name = name
        self.custom = custom
        self.version = version
        self.inputs = table.numbers(fields.OP_INPUTS)
        self.outputs = table.numbers(fields.OP_OUTPUTS)

    def option(self, field: int, kind: str = "i", default: int = 0) -> int:
        """Returns a number of the builtin options, by its field number; ``kind`` as in the module ``struct``."""
        options = self.table.table(fields.OPTIONS)
        return default if options is None else options.number(field, kind, default)

    def text_option(self, field: int) -> str:
        """Returns a text of the builtin options."""
        options = self.table.table(fields.OPTIONS)
        return "" if options is None else options.text(field)

    @property
    def custom_options(self) -> dict[str, Any]:
        """The options of a custom op, if they are a flexbuffer map."""
        from litefuse.litert.runtime.options import decode_map  # few models have such ops

        return decode_map(self.custom_bytes) or {}

    @property
    def custom_bytes(self) -> bytes:
        """The options of a custom op as they are in the file."""
        return custom_options(self.table)

    @property
    def composite(self) -> str:
        """The name of the composite; empty if it is not a composite."""
        options = self.table.table(fields.OPTIONS_2) if self.name == "STABLEHLO_COMPOSITE" else None
        return "" if options is None else options.text(0)

    @property
    def callees(self) -> tuple[int, ...]:
        """The indices of the subgraphs that it runs, in the order of the schema."""
        if self.name in {"IF", "WHILE"}:
            return self.option(0), self.option(1)
        if self.name in {"CALL_ONCE", "CALL"}:
            return (self.option(0),)
        if self.name == "STABLEHLO_COMPOSITE":
            options = self.table.table(fields.OPTIONS_2)
            return () if options is None else (options.number(1, "i"),)
        return ()


class Graph:
    """A subgraph.

    Attributes:
        inputs: The indices of its input tensors.
        outputs: The indices of its output tensors.
        size: How many tensors it has.
        operators: The tables of its ops.
        place_of_outputs: Where the file says where the list of outputs is; 0 if it has none.
    """

    def __init__(self, model: Model, table: Table) -> None:
        self._model = model
        self._tables = table.tables(fields.TENSORS)
        self.operators = table.tables(fields.OPERATORS)
        self.size = len(self._tables)
        self.place_of_outputs = table.place(fields.GRAPH_OUTPUTS)
        self._table = table
        self._tensors: dict[int, Tensor] = {}
        self.inputs = table.numbers(fields.GRAPH_INPUTS)
        self.outputs = table.numbers(fields.GRAPH_OUTPUTS)

    @property
    def name(self) -> str:
        """Its name; empty if it has none."""
        return self._table.text(fields.GRAPH_NAME)

    @cached_property
    def ops(self) -> list[Op]:
        """Its ops, in the order in which they run."""
        return [self._model.op(table) for table in self.operators]

    def tensor(self, index: int) -> Tensor:
        if index not in self._tensors:
            self._tensors[index] = _tensor(self._tables[index])
        return self._tensors[index]

    def type_name(self, index: int) -> str:
        """Returns the name of a tensor's type in the schema, such as ``INT4``."""
        number = self._tables[index].number(fields.TYPE, "b")
        return TENSOR_TYPES.get(number, str(number))

    def dtype_name(self, index: int) -> str:
        """Returns the name of a tensor's type as that of a dtype, such as ``int4``."""
        return dtype_name(self._tables[index].number(fields.TYPE, "b"))

    def scales(self, index: int) -> tuple[float, ...]:
        """Returns the scales of a quantized tensor; one for each of its slices where it has several."""
        parameters = self._tables[index].table(fields.QUANTIZATION)
        count = 0 if parameters is None else parameters.length(fields.SCALE)
        if parameters is None or not count:
            return ()
        return struct.unpack_from(f"<{count}f", parameters.data, parameters.vector(fields.SCALE))

    def quantization(self, index: int) -> Scales | None:
        """Returns the scales of a tensor with its zero points; None if it is not quantized."""
        parameters = self._tables[index].table(fields.QUANTIZATION)
        if parameters is None:
            return None
        details = parameters.table(fields.QUANTIZATION_DETAILS + 1)
        if parameters.number(fields.QUANTIZATION_DETAILS, "B") == _BLOCKWISE and details is not None:
            scales = self._floats(details.number(0, "i"))
            return Scales(scales, np.zeros(len(scales), np.int64), block=details.number(2, "i"))
        if not parameters.length(fields.SCALE):
            return None
        scales = _vector(parameters, fields.SCALE, "<f4").astype(np.float64)
        zeros = _vector(parameters, fields.ZERO_POINT, "<i8")
        zeros = np.resize(zeros, len(scales)) if len(zeros) else np.zeros(len(scales), np.int64)
        return Scales(scales, zeros, parameters.number(fields.QUANTIZED_DIMENSION, "i"))

    def _floats(self, index: int) -> npt.NDArray[np.float64]:
        """Returns the numbers of a constant of real numbers; none where it is of another type."""
        data = self._model.data(self.buffer(index))
        dtype = self.tensor(index).dtype
        if dtype is None or dtype.name not in {"float16", "float32", "bfloat16"} or len(data) % dtype.itemsize:
            return np.zeros(0)
        return np.frombuffer(data, dtype).astype(np.float64)

    def is_sparse(self, index: int) -> bool:
        """Whether only those numbers of a constant are stored that are not 0."""
        return self._tables[index].has(fields.SPARSITY)

    def is_constant(self, index: int) -> bool:
        """Whether a tensor's value is in the file."""
        return index >= 0 and self.stored_bytes(index) > 0

    def is_external(self, index: int) -> bool:
        """Whether a tensor's value is in another file, which belongs to this one."""
        return self._tables[index].number(fields.EXTERNAL_BUFFER, "I") > 0

    def buffer(self, index: int) -> int:
        """Returns the index of the buffer with a tensor's value; several tensors may have one."""
        return self._tables[index].number(fields.BUFFER, "I")

    def stored_bytes(self, index: int) -> int:
        """Returns how many bytes a tensor's value takes in the file."""
        return self._model.data_span(self.buffer(index))[1]

    def is_quantized(self, index: int) -> bool:
        """Whether a tensor has scales, which those of blocks have in a tensor of their own."""
        parameters = self._tables[index].table(fields.QUANTIZATION)
        if parameters is None:
            return False
        return bool(parameters.length(fields.SCALE) or parameters.number(fields.QUANTIZATION_DETAILS, "B"))

    def constant(self, index: int) -> npt.NDArray[Any] | None:
        """Returns a constant's value, strings as bytes; None if it is not a constant, or numpy lacks its dtype."""
        if not self.is_constant(index):
            return None
        kind = self.tensor(index)
        shape = tuple(size or 0 for size in kind.shape)
        data = self._model.data(self.buffer(index))
        if kind.dtype is None:
            return None
        if kind.dtype == object:
            return _strings(data, shape)
        values = np.frombuffer(data, kind.dtype)
        return values.reshape(shape) if values.size == np.prod(shape, dtype=np.int64) else None


class Signature(NamedTuple):
    """A signature.

    Attributes:
        graph: The index of its subgraph.
        inputs: Its inputs' tensors by their names, in the order of the subgraph's.
        outputs: Its outputs'.
    """

    graph: int
    inputs: dict[str, int]
    outputs: dict[str, int]


class Model:
    """A LiteRT model.

    Args:
        content: The content of a valid file: bytes or a memory map.
    """

    def __init__(self, content: Any) -> None:
        self.table = root(content)
        self.buffers = self.table.tables(fields.BUFFERS)
        self.codes = [OpCode.read(code) for code in self.table.tables(fields.OPERATOR_CODES)]
        self.graphs = [Graph(self, table) for table in self.table.tables(fields.SUBGRAPHS)]

    @cached_property
    def signatures(self) -> dict[str, Signature]:
        return {
            table.text(fields.SIGNATURE_KEY): self._signature(table) for table in self.table.tables(fields.SIGNATURES)
        }

    @property
    def metadata(self) -> list[tuple[str, int]]:
        """The names of its metadata, and the buffers with their contents."""
        tables = self.table.tables(fields.METADATA)
        return [(table.text(fields.METADATA_NAME), table.number(fields.METADATA_CONTENT, "I")) for table in tables]

    def metadata_content(self, name: str) -> bytes | None:
        """Returns the content of the metadata of a name; None if there are none."""
        return next((self.data(buffer) for other, buffer in self.metadata if other == name), None)

    @property
    def has_buffers_behind(self) -> bool:
        """Whether data of buffers is stored behind the flatbuffer."""
        return any(not table.length(fields.DATA) and data_span(table)[1] for table in self.buffers)

    def places_of_offsets(self) -> dict[int, int]:
        """Returns where the file says where data and options behind the flatbuffer are, and what it says there."""
        behind = [(table, fields.OFFSET, fields.SIZE) for table in self.buffers]
        options = (fields.LARGE_OPTIONS_OFFSET, fields.LARGE_OPTIONS_SIZE)
        behind += [(table, *options) for graph in self.graphs for table in graph.operators]
        offsets = {
            table.place(field): table.number(field, "Q") for table, field, size in behind if table.number(size, "Q")
        }
        return {place: offset for place, offset in offsets.items() if offset > 1}

    def constant_shapes(self) -> frozenset[tuple[int, ...]]:
        """Returns the shapes of all constants that have axes."""
        return frozenset(
            tuple(size or 0 for size in graph.tensor(index).shape)
            for graph in self.graphs
            for index in range(graph.size)
            if graph.is_constant(index) and graph.tensor(index).shape
        )

    def _signature(self, table: Table) -> Signature:
        number = table.number(fields.SIGNATURE_GRAPH, "I")
        graph = self.graphs[number]

        def named(field: int, order: Sequence[int]) -> dict[str, int]:
            # In the file they are sorted by name; those that are none of the subgraph's come last.
            entries = [
                (entry.text(fields.MAP_NAME), entry.number(fields.MAP_INDEX, "I")) for entry in table.tables(field)
            ]
            places = {index: place for place, index in reversed([*enumerate(order)])}
            return dict(sorted(entries, key=lambda entry: places.get(entry[1], len(places))))

        return Signature(
            number, named(fields.SIGNATURE_INPUTS, graph.inputs), named(fields.SIGNATURE_OUTPUTS, graph.outputs)
        )

    def op(self, table: Table) -> Op:
        code = self.codes[table.number(fields.OPCODE, "I")]
        return Op(table, code.shown, custom=code.name == "CUSTOM", version=code.version)

    def data_span(self, buffer: int) -> tuple[int, int]:
        """Returns where the data of a buffer begin in the file, inside or behind the flatbuffer, and how many bytes."""
        return data_span(self.buffers[buffer])

    def data(self, buffer: int) -> bytes:
        return data_of(self.buffers[buffer])


def _tensor(table: Table) -> Tensor:
    shape = sizes_of(table)
    scale, zero = _quantization(table.table(fields.QUANTIZATION))
    return Tensor(
        table.text(fields.TENSOR_NAME),
        _dtype(table.number(fields.TYPE, "b")),
        shape,
        scale,
        zero,
        ranked=bool(shape) or bool(table.number(fields.HAS_RANK, "B")),
        is_variable=bool(table.number(fields.IS_VARIABLE, "B")),
    )


def _quantization(parameters: Table | None) -> tuple[float, int]:
    """Returns scale and zero point of a tensor that has one of each; 0 if it has none, or several."""
    if parameters is None or parameters.length(fields.SCALE) != 1:
        return 0.0, 0
    (scale,) = struct.unpack_from("<f", parameters.data, parameters.vector(fields.SCALE))
    if not parameters.length(fields.ZERO_POINT):
        return scale, 0
    return scale, struct.unpack_from("<q", parameters.data, parameters.vector(fields.ZERO_POINT))[0]


def _vector(table: Table, field: int, dtype: str) -> npt.NDArray[Any]:
    """Returns a copy of a vector of numbers."""
    start, count = table.vector(field), table.length(field)
    return np.array(np.frombuffer(table.data, dtype, count, start)) if count else np.zeros(0, dtype)


def _strings(data: bytes, shape: Sequence[int]) -> npt.NDArray[Any] | None:
    from litefuse.litert.runtime.tensors import decode_strings  # few models have any

    strings = decode_strings(data)
    return strings.reshape(shape) if strings.size == np.prod(shape, dtype=np.int64) else None
