"""The ops of a file: what each of them is called, and which of them a signature may run."""

from __future__ import annotations

import os
from typing import NamedTuple

from litefuse.errors import InterpreterError
from litefuse.litert.inspection.operators import operators_of
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_content import check, path_and_content
from litefuse.litert.runtime.model_reader import Graph, Model, Op, Tensor
from litefuse.support.files.readable import os_errors


class FileOp(NamedTuple):
    """An op of the file.

    Attributes:
        kind: Its name in LiteRT's schema, or that of a custom op or composite.
        name: The name of its first output; empty without outputs.
        layer: The layer that it is from, as far as names tell; may be empty.
        inputs: The indices of its operands in its subgraph; -1 for one that is omitted.
        outputs: The indices of its results.
        unpacks: Whether it only converts a constant, as DEQUANTIZE does of float16.
        callees: The indices of the subgraphs that it runs.
    """

    kind: str
    name: str
    layer: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    unpacks: bool
    callees: tuple[int, ...]


class FileOps(NamedTuple):
    """The ops of the file.

    Attributes:
        ops: Those of each subgraph, in their order.
        tensors: The names of each subgraph's tensors.
        subgraphs: The indices of the subgraphs of each signature: its own, and those that it calls in turn. A model
            without signatures has one with an empty key.
        inputs: The inputs of each signature by their names, in the order of its subgraph; of a model without
            signatures, by the names of tensors.
    """

    ops: tuple[tuple[FileOp, ...], ...]
    tensors: tuple[tuple[str, ...], ...]
    subgraphs: dict[str, tuple[int, ...]]
    inputs: dict[str, dict[str, Tensor]]


def ops_of_file(model: str | os.PathLike[str] | bytes) -> FileOps:
    """Reads the ops of a valid file, or of its content."""
    with content_of(model) as data:
        read = Model(data)
        layers = {(operator.subgraph, operator.index): operator.layer for operator in operators_of(data)}
        ops = tuple(
            tuple(_op(graph, op, layers.get((number, index), "")) for index, op in enumerate(graph.ops))
            for number, graph in enumerate(read.graphs)
        )
        tensors = tuple(tuple(graph.tensor(index).name for index in range(graph.size)) for graph in read.graphs)
        starts = {key: signature.graph for key, signature in read.signatures.items()} or {"": 0}
        named = {key: signature.inputs for key, signature in read.signatures.items()} or {
            "": {read.graphs[0].tensor(index).name: index for index in read.graphs[0].inputs}
        }
        inputs = {
            key: {
                name: read.graphs[starts[key]].tensor(index)
                for name, index in sorted(
                    indices.items(), key=lambda item: read.graphs[starts[key]].inputs.index(item[1])
                )
            }
            for key, indices in named.items()
        }
        return FileOps(ops, tensors, {key: _reached(read, start) for key, start in starts.items()}, inputs)


def checked_ops(model: str | bytes, where: str) -> FileOps:
    """Reads the ops of any file.

    Raises:
        InterpreterError: It does not exist, is not a LiteRT model, or is damaged.
    """
    path, content = path_and_content(model)
    check(path, content, where)
    try:
        with os_errors("the file cannot be read", where, InterpreterError):
            return ops_of_file(content if path is None and content is not None else path or model)
    except InterpreterError as error:
        error.where = error.where or where
        raise
    except Exception as error:  # following the offsets of other data fails in many ways
        hint = "Is it a complete .tflite file?"
        raise InterpreterError("this is not a LiteRT model", where=where, hint=hint) from error


_UNPACKING = frozenset({"DEQUANTIZE", "DENSIFY"})


def _op(graph: Graph, op: Op, layer: str) -> FileOp:
    name = next((graph.tensor(index).name for index in op.outputs if index >= 0), "")
    unpacks = op.name in _UNPACKING and all(map(graph.is_constant, op.inputs))
    return FileOp(op.composite or op.name, name, layer, op.inputs, op.outputs, unpacks, op.callees)


def _reached(model: Model, start: int) -> tuple[int, ...]:
    reached: dict[int, None] = {start: None}
    waiting = [start]
    while waiting:
        for op in model.graphs[waiting.pop()].ops:
            new = [callee for callee in op.callees if 0 <= callee < len(model.graphs) and callee not in reached]
            reached.update(dict.fromkeys(new))
            waiting += new
    return tuple(sorted(reached))
