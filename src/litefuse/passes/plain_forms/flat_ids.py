"""Ids of rank 1 for GATHER."""

from __future__ import annotations

import math

import numpy as np

from litefuse.ir.constants import stored
from litefuse.ir.litert_ops import gathered, int32_vector
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_value
from litefuse.ir.passes import visit_ops
from litefuse.passes.plain_forms.reshapes import is_fixed, reshaped, resized

__all__ = ["FlattenIds"]

_INT32 = np.iinfo(np.int32)


class FlattenIds:
    """Gathers by a vector of int32 ids::

        %y = tfl.gather(%table : tensor<100x8xf32>, %ids : tensor<2x5xi64>)
        -->  %i = tfl.reshape(tfl.cast(%ids), [10]) : tensor<10xi32>
             %g = tfl.gather(%table, %i) : tensor<10x8xf32>
             %y = tfl.reshape(%g, [2, 5, 8])

    An id that int32 cannot hold is in no table, and an error in LiteRT. Constant ids of a batched gather, such as those
    of relative positions, become the places of the elements in all of the table; other batched gathers, and those of
    open size, stay.
    """

    name = "flatten-ids"

    def run(self, module: ir.Module) -> bool:
        return visit_ops(module, {"tfl.gather": _rewritten})


def _rewritten(op: ir.OpView) -> ir.Value | None:
    if not is_fixed(*op.operands, *op.results):
        return None
    kind = ir.RankedTensorType(op.operands[1].type)
    if _number(op, "batch_dims"):
        return _unbatched(op)
    return _flat(op) if kind.rank != 1 or kind.element_type != ir.IntegerType.get_signless(32) else None


def _flat(op: ir.OpView) -> ir.Value:
    table, ids = op.operands
    kind = ir.RankedTensorType(table.type)
    axis = _number(op, "axis") % kind.rank
    count = math.prod(ir.RankedTensorType(ids.type).shape)
    flat = reshaped(ids, [count])
    vector = ir.RankedTensorType.get([count], ir.IntegerType.get_signless(32))
    if flat.type != vector:
        flat = create_value("tfl.cast", vector, [flat])
    rows = gathered(table, flat, resized(table.type, [*kind.shape[:axis], count, *kind.shape[axis + 1 :]]), axis)
    return reshaped(rows, ir.RankedTensorType(op.results[0].type).shape)


def _unbatched(op: ir.OpView) -> ir.Value | None:
    """Gathers by constant ids from a table in which the batch and what is gathered are one axis."""
    table, ids = op.operands
    elements = stored(ids)
    shape: list[int] = ir.RankedTensorType(table.type).shape
    axis, batch_dims = _number(op, "axis") % len(shape), _number(op, "batch_dims")
    if elements is None or axis != batch_dims:
        return None
    own = np.array(elements).reshape(math.prod(shape[:axis]), -1).astype(np.int64)
    if own.min() < 0 or own.max() >= shape[axis]:  # an error in LiteRT, which it must stay
        return None
    places = own + shape[axis] * np.arange(len(own))[:, np.newaxis]
    if len(own) * shape[axis] > _INT32.max:
        return None
    width = math.prod(shape[axis + 1 :])
    rows = reshaped(table, [len(own) * shape[axis], width])
    taken = gathered(rows, int32_vector(places.reshape(-1).tolist()), resized(rows.type, [places.size, width]), 0)
    return reshaped(taken, ir.RankedTensorType(op.results[0].type).shape)


def _number(op: ir.OpView, name: str) -> int:
    return ir.IntegerAttr(op.attributes[name]).value
