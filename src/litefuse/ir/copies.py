"""Copies that the runtime makes."""

from __future__ import annotations

import numpy as np

from litefuse.ir.constants import pseudo_constant
from litefuse.ir.mlir import ir

__all__ = ["copied"]

# What LiteRT's MAXIMUM takes; SELECT_V2, which is slower, takes everything.
_WITH_MAXIMUM = frozenset({"bf16", "f16", "f32", "i8", "i16", "i32", "i64", "ui8"})


def copied(value: ir.Value) -> ir.Value:
    """A value in memory of its own, by a LiteRT op at the current insertion point."""
    if str(ir.ShapedType(value.type).element_type) in _WITH_MAXIMUM:
        return ir.Operation.create("tfl.maximum", [value.type], [value, value]).result
    condition = pseudo_constant(ir.DenseElementsAttr.get(np.array(True)))
    return ir.Operation.create("tfl.select_v2", [value.type], [condition, value, value]).result
