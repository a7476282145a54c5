"""The defining op of a value, behind ops that only forward it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.ir.call_graph import is_public, operands_of_calls
from litefuse.ir.constants import DENSE_CONSTANTS, stored
from litefuse.ir.mlir import func, ir, producer

_COPIES = frozenset({"tf.EnsureShape", "tf.Identity", "tf.PreventGradient", "tf.Snapshot", "tf.StopGradient"})


def source(value: ir.Value) -> ir.Value:
    """Returns the value behind ops that forward it, cast it to its own dtype, or multiply it by 1 (Keras 2 dropout)."""
    while not isinstance(value.owner, ir.Block) and _hands_on(value.owner):
        value = value.owner.operands[0]
    return value


def _hands_on(op: ir.OpView) -> bool:
    """Whether the result equals the first operand."""
    if op.name == "tf.Cast":  # between equal dtypes once widened, in mixed precision models
        before, after = (ir.ShapedType(value.type).element_type for value in (op.operands[0], op.results[0]))
        return before == after
    if op.name != "tf.Mul":
        return op.name in _COPIES
    value, factor = op.operands
    owner = factor.owner
    return not isinstance(owner, ir.Block) and owner.name == "tf.OnesLike" and owner.operands[0] == value


def is_constant(value: ir.Value) -> bool:
    """Whether a value is a constant of the graph."""
    return producer(value, *DENSE_CONSTANTS) is not None


def is_size(value: ir.Value) -> bool:
    """Whether a value is the size of a dimension."""
    taken = producer(value, "tf.StridedSlice", "tf.Unpack", "tf.Squeeze")
    return producer(value if taken is None else taken.operands[0], "tf.Shape") is not None


def same(one: ir.Value, other: ir.Value) -> bool:
    """Whether two values are the same value, or equal constants."""
    if one == other:
        return True
    if not is_constant(one) or not is_constant(other) or one.type != other.type:
        return False
    first, second = one.owner, other.owner
    assert not isinstance(first, ir.Block)
    assert not isinstance(second, ir.Block)
    return first.attributes["value"] == second.attributes["value"]


def through_calls(calls: Mapping[str, Sequence[ir.OpView]], value: ir.Value) -> ir.Value:
    """Returns what an argument of a function is in all its calls, and in those of functions around it; or the value."""
    seen: set[ir.Value] = set()  # of functions that call each other, and that nothing else calls
    while isinstance(block := value.owner, ir.Block) and isinstance(block.owner, func.FuncOp) and value not in seen:
        seen.add(value)
        index = ir.BlockArgument(value).arg_number
        values = [source(operands[index]) for operands in operands_of_calls(calls, block.owner)]
        if not values or is_public(block.owner) or not all(same(other, values[0]) for other in values):
            break
        value = values[0]
    return value


def constant_number(value: ir.Value) -> float | None:
    """Returns the number that all elements of a constant equal; None for any other value."""
    attribute = stored(source(value))
    if attribute is None:
        return None
    kind = ir.ShapedType(attribute.type)
    if str(kind.element_type) not in {"f16", "f32", "f64", "i32", "i64"}:
        return None
    if not attribute.is_splat:
        return None
    elements: npt.NDArray[Any] = np.array(attribute)
    return float(elements.reshape(-1)[0]) if elements.size else None


def products_of_shared_weights(function: func.FuncOp) -> list[list[ir.Value]]:
    """Returns the matrix products of a function that have a weight in common, as those of unrolled layers have.

    Returns:
        Groups of two or more, in the function's order; most functions have none.
    """
    groups: dict[tuple[Any, ...], list[ir.Value]] = {}
    for op in function.entry_block.operations:
        if op.name == "tf.MatMul":
            groups.setdefault(_key(source(op.operands[1])), []).append(op.results[0])
    return [group for group in groups.values() if len(group) > 1]


def _key(weight: ir.Value) -> tuple[Any, ...]:
    """Returns a key that is equal for equal constants and equal parts of constants."""
    owner = weight.owner
    if isinstance(owner, ir.Block):
        return (weight,)
    if owner.name == "tf.Const":
        return (owner.attributes["value"],)
    if owner.name == "tf.Split":
        return (*_key(source(owner.operands[1])), ir.OpResult(weight).result_number)
    if owner.name == "tf.StridedSlice":
        return tuple(key for operand in owner.operands for key in _key(source(operand)))
    return (weight,)
