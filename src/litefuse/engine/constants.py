"""Constants that passes and recognisers put beside an op."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from litefuse.engine.mlir import ir

__all__ = ["int32_constant"]


def int32_constant(values: int | Sequence[int]) -> ir.Value:
    """``tf.Const`` of int32, a scalar or a vector, at the current insertion point and location."""
    attribute = ir.DenseElementsAttr.get(np.array(values, np.int32))
    return ir.Operation.create("tf.Const", [attribute.type], [], {"value": attribute}).result
