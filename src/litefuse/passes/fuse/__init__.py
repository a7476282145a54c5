"""Composites: a body replaced by its fused op, or kept with the reason."""

from litefuse.passes.fuse.composites import FuseComposites
from litefuse.passes.fuse.outcome import Check, Outcome

__all__ = ["Check", "FuseComposites", "Outcome"]
