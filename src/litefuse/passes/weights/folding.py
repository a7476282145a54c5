"""Code shared by the passes that fold constants."""

from __future__ import annotations

from collections.abc import Container

from litefuse.ir.mlir import ir

__all__ = ["LARGEST_FOLDED", "is_used_among"]

LARGEST_FOLDED = 10 << 20
"""The limit of TensorFlow's own folding, in bytes (tensorflow/core/grappler/optimizers/constant_folding.cc)."""


def is_used_among(use: ir.OpOperand, values: Container[ir.Value]) -> bool:
    """Whether the user of a value makes one of these values."""
    results = use.owner.results
    return len(results) > 0 and results[0] in values
