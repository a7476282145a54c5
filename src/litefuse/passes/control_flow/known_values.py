"""Small integers in the body of a loop that are known before it runs: its counters, and places computed of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from litefuse.ir.call_graph import operations
from litefuse.ir.constants import stored
from litefuse.ir.mlir import func, ir

__all__ = ["KnownValues", "known_values", "small_integers"]

KnownValues: TypeAlias = "Mapping[ir.Value, npt.NDArray[Any]]"

_LARGEST = 8
_DTYPES: dict[str, npt.DTypeLike] = {"i1": np.bool_, "i32": np.int32, "i64": np.int64}

_RULES: dict[str, Callable[..., Any]] = {
    "tf.Add": np.add,
    "tf.AddV2": np.add,
    "tf.Equal": np.equal,
    "tf.Greater": np.greater,
    "tf.GreaterEqual": np.greater_equal,
    "tf.Less": np.less,
    "tf.LessEqual": np.less_equal,
    "tf.LogicalAnd": np.logical_and,
    "tf.LogicalNot": np.logical_not,
    "tf.LogicalOr": np.logical_or,
    "tf.Maximum": np.maximum,
    "tf.Minimum": np.minimum,
    "tf.Mul": np.multiply,
    "tf.Neg": np.negative,
    "tf.NotEqual": np.not_equal,
    "tf.Pack": lambda *parts: np.stack(parts),
    "tf.Sub": np.subtract,
}
# Casts are the only of these ops whose result has a dtype of its own.
_MOVING = frozenset({"tf.Cast", "tf.Identity"})


def known_values(function: func.FuncOp, arguments: KnownValues) -> dict[ir.Value, npt.NDArray[Any]]:
    """Evaluates what a function computes of known integers and booleans, of a few elements each.

    Args:
        function: The body or the condition of a loop.
        arguments: Those of its arguments that are known.

    Returns:
        The known values of the function, the arguments included.
    """
    known = {**arguments}
    for op in operations(function):
        if len(op.results) != 1:
            continue
        value = _value(op, known)
        if value is not None:
            known[op.results[0]] = value
    return known


def small_integers(value: ir.Value) -> npt.NDArray[Any] | None:
    """Returns the elements of a ``tf.Const`` of a few integers or booleans; None for any other value."""
    elements = stored(value)
    dtype = _dtype(value)
    if elements is None or dtype is None or elements.type.rank > 1 or math.prod(elements.type.shape) > _LARGEST:
        return None
    return np.array(elements, dtype).reshape(elements.type.shape)


def _value(op: ir.OpView, known: KnownValues) -> npt.NDArray[Any] | None:
    if op.name == "tf.Const":
        return small_integers(op.results[0])
    dtype = _dtype(op.results[0])
    if dtype is None or (op.name not in _RULES and op.name not in _MOVING):
        return None
    operands = [known[operand] for operand in op.operands if operand in known]
    if len(operands) < len(op.operands) or (op.name == "tf.Pack" and any(operand.ndim for operand in operands)):
        return None
    if op.name in _MOVING:
        return operands[0].astype(dtype)
    with np.errstate(over="ignore"):  # integers wrap, as they do in the model
        return np.asarray(_RULES[op.name](*operands), dtype)


def _dtype(value: ir.Value) -> npt.DTypeLike | None:
    return _DTYPES.get(str(ir.ShapedType(value.type).element_type)) if isinstance(value.type, ir.ShapedType) else None
