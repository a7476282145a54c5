"""Recognizes bodies that compute nothing: their authors mean the op that takes their place."""

from __future__ import annotations

from litefuse.ir.call_graph import terminator_of
from litefuse.ir.defining_ops import source
from litefuse.ir.mlir import func, ir
from litefuse.ir.purity import is_pure

__all__ = ["is_placeholder"]

# Ops that take nothing but the shape of their operands.
_OF_SHAPES = frozenset({"tf.OnesLike", "tf.Rank", "tf.Shape", "tf.ShapeN", "tf.Size", "tf.ZerosLike"})


def is_placeholder(body: func.FuncOp) -> bool:
    """Whether the body of a composite computes nothing.

    Each of its results is an argument as it is, or depends on constants and shapes alone, as ``tf.zeros`` does. What
    reads a variable, draws random numbers or calls a function computes something.
    """
    return all(
        isinstance(source(value).owner, ir.Block) or not _is_computed(value)
        for value in terminator_of(body.entry_block).operands
    )


def _is_computed(result: ir.Value) -> bool:
    """Whether a value depends on anything but constants and shapes."""
    waiting, seen = [result], set[ir.Value]()
    while waiting:
        value = waiting.pop()
        op = value.owner
        if isinstance(op, ir.Block):  # it is an argument
            return True
        if value in seen or op.name in _OF_SHAPES:
            continue
        if not is_pure(op.name) or len(op.regions):
            return True
        seen.add(value)
        waiting += op.operands
    return False
