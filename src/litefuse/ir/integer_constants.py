"""Values of integer constants."""

from __future__ import annotations

import numpy as np

from litefuse.ir.constants import elements_of_constant
from litefuse.ir.mlir import ir

__all__ = ["constant"]


def constant(value: ir.Value) -> int | list[int] | None:
    """Returns the value of a constant integer scalar or vector; None for any other value."""
    attribute = elements_of_constant(value, "tf.Const")
    if attribute is None or attribute.type.rank > 1:
        return None
    return np.array(attribute).reshape(attribute.type.shape).tolist()
