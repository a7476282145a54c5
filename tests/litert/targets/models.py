"""Small models for targets, made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.tools.flatbuffer_utils import convert_object_to_bytearray

from tests.litert.runtime.models import Graph, model

if TYPE_CHECKING:
    from collections.abc import Sequence

_RANDOM = np.random.default_rng(35)


def serving(graph: Graph) -> bytes:
    """The model of a graph, with the signature ``serving_default``."""
    return model(graph, signatures={"serving_default": 0})


def dense(*, batch: int | None = 1, names: Sequence[str] = ("x", "y")) -> bytes:
    """``y = relu(x W + b)``, float32, of 8 numbers into 4."""
    graph = Graph()
    signature = None if batch is not None else [-1, 8]
    x = graph.input(names[0], (batch or 1, 8), signature=signature)
    w = graph.tensor("w", (4, 8), value=_RANDOM.standard_normal((4, 8)))
    b = graph.tensor("b", (4,), value=_RANDOM.standard_normal(4))
    y = graph.output(names[1], (batch or 1, 4), signature=None if batch is not None else [-1, 4])
    graph.builtin("FULLY_CONNECTED", [x, w, b], [y], keepNumDims=True)
    return serving(graph)


def lookup(*, rank: int = 2) -> bytes:
    """Rows of a table, by ids of a rank, times 2."""
    graph = Graph()
    shape = (2, 3)[:rank]
    table = graph.tensor("table", (10, 4), value=_RANDOM.standard_normal((10, 4)))
    ids = graph.input("ids", shape, np.int32)
    rows = graph.tensor("layer/Gather", (*shape, 4))
    two = graph.tensor("two", (), value=2)
    y = graph.output("y", (*shape, 4))
    graph.builtin("GATHER", [table, ids], [rows])
    graph.builtin("MUL", [rows, two], [y])
    return serving(graph)


def remembering() -> bytes:
    """A model with a variable tensor, which nothing reads."""
    graph = Graph()
    x = graph.input("x", (1, 4))
    y = graph.output("y", (1, 4))
    state = graph.tensor("state", (1, 4))
    graph.tensors[state][0].isVariable = True
    graph.builtin("TANH", [x], [y])
    return serving(graph)


def unknown_sizes() -> bytes:
    """A model whose result has a shape that is an input."""
    graph = Graph()
    x = graph.input("x", (1, 4))
    sizes = graph.input("sizes", (2,), np.int32)
    y = graph.output("reshaped", (1, 1), signature=[-1, -1])
    graph.builtin("RESHAPE", [x, sizes], [y])
    return serving(graph)


def _scaled(graph: Graph, index: int, scale: float, zero: int = 0) -> int:
    parameters: Any = schema.QuantizationParametersT()
    parameters.scale, parameters.zeroPoint = [scale], [zero]
    graph.tensors[index][0].quantization = parameters
    return index


def integers(*, reverse: bool = False) -> bytes:
    """``dense`` in int8 throughout; with ``reverse``, an op before it that Vela leaves to the CPU."""
    graph = Graph()
    x = _scaled(graph, graph.input("x", (1, 8), np.int8), 0.05, -3)
    if reverse:
        axis = graph.tensor("axis", (1,), np.int32, value=[1])
        turned = _scaled(graph, graph.tensor("layer/Reverse", (1, 8), np.int8), 0.05, -3)
        graph.builtin("REVERSE_V2", [x, axis], [turned])
        x = turned
    w = _scaled(graph, graph.tensor("w", (4, 8), np.int8, value=_RANDOM.integers(-127, 128, (4, 8))), 0.01)
    b = _scaled(graph, graph.tensor("b", (4,), np.int32, value=_RANDOM.integers(-500, 500, 4)), 0.05 * 0.01)
    y = _scaled(graph, graph.output("y", (1, 4), np.int8), 0.1, 5)
    graph.builtin("FULLY_CONNECTED", [x, w, b], [y])
    return serving(graph)


def buffers_behind(content: bytes) -> bytes:
    """The model with all data, and the options of custom ops, behind the flatbuffer, as in files of more than 2 GB."""
    made: Any = schema.ModelT.InitFromPackedBuf(content, 0)
    ops = [op for graph in made.subgraphs for op in graph.operators or () if op.customOptions is not None]
    data = [b"" if buffer.data is None else bytes(buffer.data) for buffer in made.buffers]
    options = [bytes(bytearray(op.customOptions)) for op in ops]

    def packed(offset: int) -> bytes:
        def behind(part: bytes) -> tuple[int, int]:
            nonlocal offset
            start, offset = offset, offset + -(-len(part) // 16) * 16
            return (start, len(part)) if part else (0, 0)

        for buffer, part in zip(made.buffers, data, strict=True):
            buffer.data, (buffer.offset, buffer.size) = None, behind(part)
        for op, part in zip(ops, options, strict=True):
            op.customOptions, (op.largeCustomOptionsOffset, op.largeCustomOptionsSize) = None, behind(part)
        return bytes(convert_object_to_bytearray(made))

    start = -(-len(packed(1 << 20)) // 16) * 16
    parts = [part.ljust(-(-len(part) // 16) * 16, b"\0") for part in (*data, *options)]
    return packed(start).ljust(start, b"\0") + b"".join(parts)
