"""Weights that stay in the mapped checkpoint until they are written to the model's file."""

from __future__ import annotations

from litefuse.passes.weights.place_weights import takes_placeholder, takes_stub
from litefuse.passes.weights.weights import Weight, Weights

__all__ = ["Weight", "Weights", "takes_placeholder", "takes_stub"]
