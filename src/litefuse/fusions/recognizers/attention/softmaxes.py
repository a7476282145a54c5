"""Softmaxes, in one op or spelled out."""

from __future__ import annotations

from typing import NamedTuple

from litefuse.ir.constants import integer_constant
from litefuse.ir.defining_ops import source
from litefuse.ir.mlir import ir, producer
from litefuse.ir.types import tensor_type_of

__all__ = ["Softmax", "softmax"]

_SPREADING = frozenset({"tf.BroadcastTo", "tf.ExpandDims", "tf.Reshape"})


class Softmax(NamedTuple):
    """A softmax.

    Attributes:
        argument: What it is of.
        axis: The axis whose elements it makes 1 in sum, from 0.
    """

    argument: ir.Value
    axis: int


def softmax(op: ir.OpView) -> Softmax | None:
    """Reads a softmax that an op computes; None if it computes none."""
    if op.name == "tf.Softmax":
        rank = tensor_type_of(op.operands[0]).rank
        return Softmax(source(op.operands[0]), rank - 1) if rank else None
    if op.name != "tf.RealDiv":
        return None
    exponential = source(op.operands[0])
    total, computed = _reduced(op.operands[1], "tf.Sum"), producer(exponential, "tf.Exp")
    if total is None or computed is None or total[0] != exponential:
        return None
    argument = source(computed.operands[0])
    shifted = producer(argument, "tf.Sub")  # by the maximum, which changes nothing but the range of numbers
    if shifted is not None:
        largest = _reduced(shifted.operands[1], "tf.Max")
        if largest is not None and largest == (source(shifted.operands[0]), total[1]):
            argument = largest[0]
    return Softmax(argument, total[1])


def _reduced(value: ir.Value, name: str) -> tuple[ir.Value, int] | None:
    """Returns what is reduced along which one axis, behind ops that give the axis back."""
    value = source(value)
    while not isinstance(value.owner, ir.Block) and value.owner.name in _SPREADING:
        value = source(value.owner.operands[0])
    reduced = producer(value, name)
    if reduced is None:
        return None
    rank, axes = tensor_type_of(reduced.operands[0]).rank, integer_constant(source(reduced.operands[1]))
    axis = axes[0] if isinstance(axes, list) and len(axes) == 1 else axes
    return (source(reduced.operands[0]), axis % rank) if rank and isinstance(axis, int) else None
