"""Steps that are skipped by Keras masks or by TensorFlow 1's lengths."""

from __future__ import annotations

from collections.abc import Sequence

from litefuse.ir.defining_ops import is_constant, source
from litefuse.ir.mlir import ir

__all__ = ["unmasked"]

# Ops between a mask and the select op.
_SHAPING = frozenset(
    {"tf.BroadcastTo", "tf.ExpandDims", "tf.LogicalNot", "tf.Reshape", "tf.Squeeze", "tf.Tile", "tf.TensorListGetItem"}
)
_COMPARING = frozenset({"tf.Greater", "tf.GreaterEqual", "tf.Less", "tf.LessEqual"})
_ZEROS = frozenset({"tf.Fill", "tf.ZerosLike"})


def unmasked(value: ir.Value, old: Sequence[ir.Value]) -> ir.Value:
    """Returns a value in steps that are not skipped.

    Args:
        value: A value that may select between a new value and an old one, or zero.
        old: The loop variables that may be the old value.

    Returns:
        The new value; ``value`` itself if it is not such a select.
    """
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name not in {"tf.Select", "tf.SelectV2"} or not _is_mask(owner.operands[0]):
        return value
    one, other = (source(operand) for operand in list(owner.operands)[1:])
    for kept, new in ((one, other), (other, one)):
        if (kept in old or _is_zero(kept)) and not _is_zero(new):
            return new
    return value


def _is_mask(value: ir.Value) -> bool:
    owner = source(value).owner
    if isinstance(owner, ir.Block):
        return False
    return owner.name in _COMPARING or (owner.name in _SHAPING and _is_listed(owner))


def _is_listed(op: ir.OpView) -> bool:
    return op.name == "tf.TensorListGetItem" or _is_mask(op.operands[0])


def _is_zero(value: ir.Value) -> bool:
    """Whether a value is the same in every step, as zeros are."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return False
    return is_constant(value) or owner.name in _ZEROS
