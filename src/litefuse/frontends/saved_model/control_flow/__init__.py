"""Functionalization of TensorFlow 1 control flow (Switch, Merge, Enter, Exit, NextIteration, LoopCond)."""

from litefuse.frontends.saved_model.control_flow.functionalize import functionalize

__all__ = ["functionalize"]
