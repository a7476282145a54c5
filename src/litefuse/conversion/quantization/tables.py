"""Constants that several ops read, and tables that rows are gathered from, as litert-quantizer makes them smaller.

Each change takes the model in floating point, as the schema's objects, and returns whether it changed.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np

from litefuse.litert.export.editor import GraphEditor, editors_of
from litefuse.litert.runtime.model_tables import DTYPE_NUMBERS
from litefuse.litert.runtime.schema_objects import made, set_options


def look_rows_up(model: Any, kept: Container[str] = ()) -> bool:
    """Looks the rows of constant tables up instead of gathering them::

        %y = gather(%table[1000, 8], %ids[?, 5])
        -->  %r = embedding_lookup(reshape(%ids, [-1]), %table)
             %y = reshape(%r, [-1, 5, 8])

    The embedding tables that make up most of many language models are operands of gathers where nobody marked the
    lookup. litert-quantizer makes the tables of EMBEDDING_LOOKUP smaller, not those of GATHER.

    Args:
        model: The model.
        kept: The names of results whose ops stay in floating point.
    """
    gathers = [
        (graph, op)
        for graph in editors_of(model)
        for op in graph.ops or ()
        if graph.kind(op) == "GATHER" and _takes_rows(graph, op) and graph.name(op.outputs[0]) not in kept
    ]
    for graph, op in gathers:
        _look_up(graph, op)
    return bool(gathers)


def _takes_rows(graph: GraphEditor, op: Any) -> bool:
    table, options = int(op.inputs[0]), op.builtinOptions
    data = graph.model.buffers[graph.tensor(table).buffer].data
    if data is None or not len(data) or len(graph.shape(table)) != 2 or not graph.is_type(table, "float32"):
        return False
    ranked = graph.tensor(op.inputs[1]).hasRank or len(graph.shape(op.inputs[1]))
    return bool(ranked) and (options is None or not (options.axis or options.batchDims))


def _look_up(graph: GraphEditor, op: Any) -> None:
    table, ids = map(int, op.inputs)
    result, sizes, width = int(op.outputs[0]), graph.shape(ids), graph.shape(table)[1]
    name = graph.name(result)
    if not graph.is_type(ids, "int32"):
        narrow = graph.add_tensor(f"{name}/ids", sizes, "int32")
        set_options(graph.add_op(op, "CAST", [ids], [narrow]), made("CastOptions", outDataType=DTYPE_NUMBERS["int32"]))
        ids = narrow
    rows = result
    if len(sizes) != 1:
        count = -1 if -1 in sizes else int(np.prod(sizes))
        flat = graph.add_tensor(f"{name}/flat_ids", (count,), "int32")
        shape = graph.add_constant(f"{name}/flat_shape", np.array([-1], np.int32))
        graph.add_op(op, "RESHAPE", [ids, shape], [flat])
        rows = graph.add_tensor(f"{name}/rows", (count, width), "float32")
        graph.add_op(graph.after(op), "RESHAPE", [rows, _shape(graph, op, ids, width)], [result])
        ids = flat
    graph.add_op(op, "EMBEDDING_LOOKUP", [ids, table], [rows])
    graph.remove_op(op)


def _shape(graph: GraphEditor, before: Any, ids: int, width: int) -> int:
    """Returns the shape of the ids with one more dimension."""
    sizes, name = graph.shape(ids), graph.name(before.outputs[0])
    if sizes.count(-1) < 2:
        return graph.add_constant(f"{name}/shape", np.array([*sizes, width], np.int32))
    of_ids = graph.add_tensor(f"{name}/ids_shape", (len(sizes),), "int32")
    shape = graph.add_tensor(f"{name}/shape", (len(sizes) + 1,), "int32")
    reads = graph.add_op(before, "SHAPE", [ids], [of_ids])
    set_options(reads, made("ShapeOptions", outType=DTYPE_NUMBERS["int32"]))
    last = graph.add_constant(f"{name}/width", np.array([width], np.int32))
    joined = graph.add_op(before, "CONCATENATION", [of_ids, last], [shape])
    set_options(joined, made("ConcatenationOptions"))
    return shape


def separate_shapes(model: Any) -> bool:
    """Gives tensors of one buffer that differ in shape buffers of their own.

    litert-quantizer writes the same scales for all tensors of a buffer, one for each row of the first.
    """
    buffers: dict[tuple[int, tuple[int, ...]], int] = {}
    shapes = dict[int, tuple[int, ...]]()
    changed = False
    for graph in editors_of(model):
        for index, tensor in enumerate(graph.graph.tensors):
            data, shape = model.buffers[tensor.buffer].data, graph.shape(index)
            if data is None or shapes.setdefault(tensor.buffer, shape) == shape:
                continue
            key = (tensor.buffer, shape)
            if key not in buffers:
                model.buffers.append(made("Buffer", data=data))
                buffers[key] = len(model.buffers) - 1
            tensor.buffer, changed = buffers[key], True
    return changed
