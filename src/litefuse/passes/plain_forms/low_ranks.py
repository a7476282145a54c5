"""Ops on tensors of fewer axes, where some can be treated as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from litefuse.ir.call_graph import attributes_of
from litefuse.ir.constants import pseudo_constant
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_op
from litefuse.ir.passes import visit_ops
from litefuse.passes.plain_forms.low_forms import FORMS, LowForm, LowOperand
from litefuse.passes.plain_forms.reshapes import is_fixed, reshaped, resized

__all__ = ["LowerRanks"]


@dataclass(frozen=True)
class LowerRanks:
    """Computes with tensors of at most some rank, between reshapes::

        %y = tfl.tile(%x : tensor<1x16x2x1x8xf32>, [1, 1, 1, 2, 1]) : tensor<1x16x2x2x8xf32>
        -->  %0 = tfl.reshape(%x, [32, 8])
             %1 = tfl.tile(%0, [1, 2]) : tensor<32x16xf32>
             %y = tfl.reshape(%1, [1, 16, 2, 2, 8])

    Axes that an op treats alike, and that are neighbors in memory before it and behind it, are one axis for it. What
    cannot be computed at the rank stays as it is. Between two ops, only one reshape is left (:class:`JoinReshapes`),
    so that no tensor of the higher rank is.

    Attributes:
        rank: The highest rank.
    """

    rank: int
    name: ClassVar[str] = "lower-ranks"

    def run(self, module: ir.Module) -> bool:
        return visit_ops(module, dict.fromkeys(FORMS, self._lowered))

    def _lowered(self, op: ir.OpView) -> list[ir.Value] | None:
        if max(map(_rank, [*op.operands, *op.results]), default=0) <= self.rank:
            return None
        form = FORMS[op.name](op) if is_fixed(*op.results, *_tensors(op)) else None
        return _of_form(op, form) if form is not None and form.rank <= self.rank else None


def _tensors(op: ir.OpView) -> list[ir.Value]:
    """Returns the operands that are present."""
    return [value for value in op.operands if isinstance(value.type, ir.ShapedType)]


def _rank(value: ir.Value) -> int:
    return value.type.rank if isinstance(value.type, ir.RankedTensorType) else 0


def _of_form(op: ir.OpView, form: LowForm) -> list[ir.Value]:
    values = [_operand(operand) for operand in form.operands]
    kinds = [resized(value.type, shape) for value, shape in zip(op.results, form.results, strict=True)]
    attributes = attributes_of(op) if form.attributes is None else dict(form.attributes)
    low = create_op(form.name or op.name, kinds, values, attributes).results
    shapes = [ir.RankedTensorType(value.type).shape for value in op.results]
    return [reshaped(result, shape) for result, shape in zip(low, shapes, strict=True)]


def _operand(given: LowOperand) -> ir.Value:
    if isinstance(given, np.ndarray):
        return pseudo_constant(ir.DenseElementsAttr.get(given))
    value, shape = given
    return value if shape is None else reshaped(value, shape)
