"""Ranked shape inference, and folding of shape arithmetic, by one small rule for each op."""

from litefuse.shapes.infer_shapes import InferLoopTypes, InferShapes
from litefuse.shapes.set_input_shapes import SetInputShapes
from litefuse.shapes.simplify import ASSERTS_SIZES

__all__ = ["ASSERTS_SIZES", "InferLoopTypes", "InferShapes", "SetInputShapes"]
