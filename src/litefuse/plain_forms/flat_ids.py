"""Ids of rank 1 for GATHER."""

from __future__ import annotations

from typing import ClassVar

from litefuse.ir.call_graph import all_operations
from litefuse.ir.litert_ops import gathered
from litefuse.ir.mlir import ir
from litefuse.plain_forms.reshapes import is_fixed, reshaped, resized

__all__ = ["FlattenIds"]


class FlattenIds:
    """Gathers by a vector of int32 ids::

        %y = tfl.gather(%table : tensor<100x8xf32>, %ids : tensor<2x5xi64>)
        -->  %i = tfl.reshape(tfl.cast(%ids), [10]) : tensor<10xi32>
             %g = tfl.gather(%table, %i) : tensor<10x8xf32>
             %y = tfl.reshape(%g, [2, 5, 8])

    An id that int32 cannot hold is in no table, and an error in LiteRT. Batched gathers, and those of open size, stay.
    """

    name: ClassVar[str] = "flatten-ids"

    def run(self, module: ir.Module) -> bool:
        found = [op for op in all_operations(module) if op.name == "tfl.gather" and _is_to_flatten(op)]
        for op in found:
            _flatten(op)
        return bool(found)


def _is_to_flatten(op: ir.OpView) -> bool:
    if not is_fixed(*op.operands, *op.results) or ir.IntegerAttr(op.attributes["batch_dims"]).value:
        return False
    ids = ir.RankedTensorType(op.operands[1].type)
    return ids.rank != 1 or ids.element_type != ir.IntegerType.get_signless(32)


def _flatten(op: ir.OpView) -> None:
    table, ids = op.operands
    kind, shape = ir.RankedTensorType(table.type), ir.RankedTensorType(ids.type).shape
    axis = ir.IntegerAttr(op.attributes["axis"]).value % kind.rank
    count = 1
    for size in shape:
        count *= size
    with ir.InsertionPoint(op), op.location:
        int32 = ir.IntegerType.get_signless(32)
        flat = reshaped(ids, [count])
        if ir.RankedTensorType(flat.type).element_type != int32:
            flat = ir.Operation.create("tfl.cast", [ir.RankedTensorType.get([count], int32)], [flat]).result
        rows = gathered(table, flat, resized(table.type, [*kind.shape[:axis], count, *kind.shape[axis + 1 :]]), axis)
        op.results[0].replace_all_uses_with(reshaped(rows, ir.RankedTensorType(op.results[0].type).shape))
    op.erase()
