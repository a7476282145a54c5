"""Constants as passes and recognisers read them, and put them beside an op."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from litefuse.engine.mlir import ir

__all__ = ["elements_of_constant", "int32_constant", "pseudo_constant"]


def elements_of_constant(value: ir.Value, *names: str) -> ir.DenseElementsAttr | None:
    """The elements of a constant that an op of one of these names makes; None for any other value."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name not in names:
        return None
    attribute = owner.attributes["value"]
    return attribute if isinstance(attribute, ir.DenseElementsAttr) else None


def int32_constant(values: int | Sequence[int]) -> ir.Value:
    """``tf.Const`` of int32, a scalar or a vector, at the current insertion point and location."""
    attribute = ir.DenseElementsAttr.get(np.array(values, np.int32))
    return ir.Operation.create("tf.Const", [attribute.type], [], {"value": attribute}).result


def pseudo_constant(elements: ir.DenseElementsAttr) -> ir.Value:
    """``tfl.pseudo_const``, as it stands in a lowered module, at the current insertion point and location."""
    return ir.Operation.create("tfl.pseudo_const", [elements.type], [], {"value": elements}).result
