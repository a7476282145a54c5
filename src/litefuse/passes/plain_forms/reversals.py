"""Reversals of a known number of items by ops that Vela has on the NPU."""

from __future__ import annotations

from functools import reduce
from typing import ClassVar

from litefuse.ir.litert_ops import integers
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_op, create_value
from litefuse.ir.passes import visit_ops
from litefuse.support.options.limits import MAX_REVERSED_ITEMS

__all__ = ["UnpackReversals"]


class UnpackReversals:
    """Takes a tensor apart and packs it in the other order::

        %y = tfl.reverse_v2(%x : tensor<3x1x4xf32>, [0])
        -->  %0, %1, %2 = tfl.unpack(%x)
             %y = tfl.pack(%2, %1, %0)

    For targets that leave REVERSE_V2 to the CPU. Neither op computes anything, and both keep the scale of integers.
    """

    name: ClassVar[str] = "unpack-reversals"

    def run(self, module: ir.Module) -> bool:
        return visit_ops(module, {"tfl.reverse_v2": _unpacked})


def _unpacked(op: ir.OpView) -> ir.Value | None:
    axes = _axes(op)
    return None if axes is None else reduce(_reversed, axes, op.operands[0])


def _axes(op: ir.OpView) -> list[int] | None:
    """Returns the dimensions of several items that are reversed; None where REVERSE_V2 stays."""
    kind, axes = ir.ShapedType(op.operands[0].type), integers(op.operands[1])
    if axes is None or not kind.has_rank or not kind.has_static_shape or not isinstance(kind.element_type, ir.F32Type):
        return None
    found = [axis for axis in (axis % kind.rank for axis in axes) if kind.shape[axis] > 1]
    return found if all(kind.shape[axis] <= MAX_REVERSED_ITEMS for axis in found) else None


def _reversed(value: ir.Value, axis: int) -> ir.Value:
    kind = ir.RankedTensorType(value.type)
    shape = list(kind.shape)
    count = shape.pop(axis)
    kinds = [ir.RankedTensorType.get(shape, kind.element_type)] * count
    items = create_op("tfl.unpack", kinds, [value], {"axis": axis, "num": count}).results
    return create_value("tfl.pack", kind, [*items][::-1], {"axis": axis, "values_count": count})
