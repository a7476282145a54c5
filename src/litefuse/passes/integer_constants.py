"""The values of integer constants."""

from __future__ import annotations

import numpy as np

from litefuse.engine.mlir import ir

__all__ = ["constant"]


def constant(value: ir.Value) -> int | list[int] | None:
    """The value of an integer scalar or vector that is a constant."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "tf.Const":
        return None
    attribute = owner.attributes["value"]
    if not isinstance(attribute, ir.DenseElementsAttr) or attribute.type.rank > 1:
        return None
    return np.array(attribute).reshape(attribute.type.shape).tolist()
