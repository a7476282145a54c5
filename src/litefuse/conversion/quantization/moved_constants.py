"""Constants that an op moves, as the integers that are made of them.

Such is a class token that is repeated by the batch: litert-quantizer 0.11 does not know TILE, which stays in floating
point, and QUANTIZE stands behind it. Such are the rows of a table that EMBEDDING_LOOKUP makes float32 of.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.conversion.quantization.recurrent.needless_conversions import drop_unused
from litefuse.conversion.quantization.recurrent.quantized_forms import integers_of, symmetric
from litefuse.litert.export.editor import GraphEditor, Scale, editors_of
from litefuse.litert.runtime.schema_objects import dtype_of

# The ops that only move elements, and whose kernels do so with integers, and the position of what they move.
_MOVED = {"BROADCAST_TO": 0, "EMBEDDING_LOOKUP": 1, "EXPAND_DIMS": 0, "FILL": 1, "REVERSE_V2": 0, "TILE": 0}
_BLOCK_ROWS = 4096


def move_integers(model: Any, kept: Collection[str]) -> bool:
    """Quantizes the constants in place of what is made of them::

        %f = tile(%constant)                %q = tile(%integers)
        %q = quantize(%f)            -->

    Args:
        model: The quantized model, as the schema's objects.
        kept: The names of tensors whose ops stay in floating point.

    Returns:
        Whether it changed.
    """
    changed = False
    for graph in editors_of(model):
        for op in [*(graph.ops or ())]:
            position = _MOVED.get(graph.kind(op))
            if position is None or graph.name(int(op.outputs[0])) in kept:
                continue
            takers = [*graph.consumers(int(op.outputs[0]))]
            if takers and not graph.is_output(int(op.outputs[0])):
                changed = _quantize(graph, op, position, takers) or changed
    if changed:
        drop_unused(model)
    return changed


def _quantize(graph: GraphEditor, op: Any, position: int, takers: Collection[Any]) -> bool:
    """Has an op move integers of the scale that its first taker makes; the others make theirs of that."""
    if any(graph.kind(taker) != "QUANTIZE" for taker in takers):
        return False
    first, *others = takers
    result = int(first.outputs[0])
    scale, dtype = graph.scale(result), dtype_of(graph.tensor(result))
    if scale is None or dtype not in {"int8", "int16"} or graph.is_output(result):
        return False
    moved, is_lookup = int(op.inputs[position]), graph.kind(op) == "EMBEDDING_LOOKUP"
    if is_lookup and graph.shares_constant(moved):
        return False  # a second table would cost more than it gains
    if is_lookup and dtype == "int16":  # LiteRT has no lookup of int16
        return _look_up_bytes(graph, op, moved, takers)
    integers = constant_integers(graph, moved, scale, dtype, is_table=is_lookup)
    if integers is None:
        return False
    name = graph.name(moved) if is_lookup else f"{graph.name(result)}_constant"
    constant = graph.add_constant(name, integers, scale)
    graph.tensor(result).shapeSignature = graph.tensor(int(op.outputs[0])).shapeSignature
    op.inputs = [constant if place == position else int(operand) for place, operand in enumerate(op.inputs)]
    op.outputs = [result]
    graph.remove_op(first)
    for other in others:
        other.inputs = [result]
    return True


def _look_up_bytes(graph: GraphEditor, op: Any, table: int, takers: Collection[Any]) -> bool:
    """Has a lookup give int8 of one scale, of which its takers make int16."""
    values, scales = graph.constant(table, np.int8), graph.tensor(table).quantization.scale
    largest = [np.abs(values).max(initial=0) * max(scales)] if values is not None and scales is not None else []
    if values is None:
        value = graph.constant(table)
        largest = [] if value is None else [np.abs(value).max(initial=0)]
    scale = symmetric(float(largest[0]), 8) if largest else None
    integers = None if scale is None else constant_integers(graph, table, scale, "int8", is_table=True)
    if integers is None:
        return False
    result = int(op.outputs[0])
    made = graph.add_tensor(f"{graph.name(result)}_int8", graph.shape(result), "int8", scale)
    op.inputs, op.outputs = [op.inputs[0], graph.add_constant(graph.name(table), integers, scale)], [made]
    for taker in takers:
        taker.inputs = [made]
    return True


def constant_integers(
    graph: GraphEditor, index: int, scale: Scale, dtype: str, *, is_table: bool = False
) -> npt.NDArray[Any] | None:
    """Returns the integers that QUANTIZE makes of a constant in floating point, or of a table; None for others."""
    if graph.is_type(index, "float32"):
        values = graph.constant(index)
        return None if values is None else integers_of(values, scale, dtype)
    rows = graph.constant(index, np.int8) if is_table and graph.is_type(index, "int8") else None
    scales = None if rows is None else graph.tensor(index).quantization.scale
    if rows is None or scales is None:
        return None
    # A scale for each row, or one, without a zero point; a block at a time, as a table may be most of a model.
    factors = np.broadcast_to(np.asarray(scales, np.float32), (len(rows),)).reshape(-1, *[1] * (rows.ndim - 1))
    return np.concatenate(
        [
            integers_of(rows[start : start + _BLOCK_ROWS] * factors[start : start + _BLOCK_ROWS], scale, dtype)
            for start in range(0, len(rows), _BLOCK_ROWS)
        ]
    )
