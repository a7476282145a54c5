"""Ranked shape inference, and folding of shape arithmetic, by one small rule for each op."""

from litefuse.shapes.infer_shapes import InferShapes

__all__ = ["InferShapes"]
