"""The constants that a module's calls of a function give it, and what its author asks of its arguments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.conversion.verify.inputs import Arguments
from litefuse.ir.call_graph import all_operations, call_operands, callees, function_symbol, functions, operations
from litefuse.ir.constants import DENSE_CONSTANTS, strings_of_constant, without_copies
from litefuse.ir.importer.constants import loaded_attribute
from litefuse.ir.mlir import func, ir, producer
from litefuse.ir.types import tensor_type_of

__all__ = ["asks_for_nan", "constant_arguments"]

_ASKING = frozenset({"tf.IsFinite", "tf.IsInf", "tf.IsNan"})
_COMPARISONS = frozenset({"tf.Equal", "tf.NotEqual", "tf.Less", "tf.LessEqual", "tf.Greater", "tf.GreaterEqual"})

# More of them are weights, of which any numbers do.
_MOST_ELEMENTS = 1 << 18


def constant_arguments(module: ir.Module, function: func.FuncOp) -> list[Arguments]:
    """Returns, for each call of a function, the arguments that are constants at all of its calls.

    Such as axes, anchors, tables and matrices of filters: the function may need them as they are.
    """
    symbol = function_symbol(function)
    calls = [call_operands(op) for op in all_operations(module) if symbol in callees(op)]
    count = len(function.type.inputs)
    if not calls or any(len(operands) != count for operands in calls):  # as of a loop's condition
        return []
    values = [{f"x{index}": _value(operand) for index, operand in enumerate(operands)} for operands in calls]
    constant = [name for name in values[0] if all(value[name] is not None for value in values)]
    found: list[Arguments] = []
    for each in values:
        arguments = {name: value for name in constant if (value := each[name]) is not None}
        if not any(_equal(arguments, other) for other in found):
            found.append(arguments)
    return found if constant else []


def asks_for_nan(module: ir.Module, function: func.FuncOp) -> bool:
    """Whether a function tells NaN or infinities from numbers: its results are then meaningful for these."""
    by_symbol = functions(module)
    waiting, seen = [function_symbol(function)], set[str]()
    while waiting:
        symbol = waiting.pop()
        if symbol in seen or symbol not in by_symbol:
            continue
        seen.add(symbol)
        for op in operations(by_symbol[symbol]):
            if op.name in _ASKING or (op.name in _COMPARISONS and _with_itself_or_infinity(op)):
                return True
            waiting += callees(op)
    return False


def _with_itself_or_infinity(op: ir.OpView) -> bool:
    constants = [_value(operand) for operand in op.operands]
    kinds = [operand.type for operand in op.operands]
    if all(isinstance(kind, ir.RankedTensorType) and kind.rank == 0 for kind in kinds):
        return False  # an option, such as whether a threshold for scores is -inf
    if any(constant is not None and constant.dtype.kind == "f" and np.isinf(constant).any() for constant in constants):
        return True
    return op.name in {"tf.Equal", "tf.NotEqual"} and op.operands[0] == op.operands[1]


def _equal(one: Arguments, other: Arguments) -> bool:
    return all(np.array_equal(value, other[name]) for name, value in one.items())


def _value(operand: ir.Value) -> npt.NDArray[Any] | None:
    owner = producer(without_copies(operand), *DENSE_CONSTANTS)
    if owner is None:
        return None
    kind = owner.results[0].type
    if not isinstance(kind, ir.RankedTensorType) or not kind.has_static_shape:
        return None
    try:
        if math.prod(kind.shape) > _MOST_ELEMENTS:
            return None
        if tensor_type_of(kind).dtype == "string":
            return strings_of_constant(owner.results[0])
        elements = loaded_attribute(owner.attributes["value"])
        if not isinstance(elements, ir.DenseElementsAttr):
            return None
        numbers: npt.NDArray[Any] = np.array(elements).reshape(kind.shape)
        return numbers.astype(str(numbers.dtype))  # of numpy's two kinds of int64, the runtime takes one
    except (AttributeError, TypeError, ValueError):  # what numpy has not
        return None
