"""The constants that a module's calls of a function give it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.importer.constants import loaded_attribute
from litefuse.ir.call_graph import all_operations, call_operands, callees, function_symbol
from litefuse.ir.constants import without_copies
from litefuse.ir.mlir import func, ir
from litefuse.verify.inputs import Arguments

__all__ = ["constant_arguments"]

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
    constant = [name for name in values[0] if all(each[name] is not None for each in values)]
    found: list[Arguments] = []
    for each in values:
        arguments = {name: value for name in constant if (value := each[name]) is not None}
        if not any(_equal(arguments, other) for other in found):
            found.append(arguments)
    return found if constant else []


def _equal(one: Arguments, other: Arguments) -> bool:
    return all(np.array_equal(value, other[name]) for name, value in one.items())


def _value(operand: ir.Value) -> npt.NDArray[Any] | None:
    owner = without_copies(operand).owner
    if isinstance(owner, ir.Block) or owner.name != "tf.Const":
        return None
    kind = owner.results[0].type
    if not isinstance(kind, ir.RankedTensorType) or not kind.has_static_shape:
        return None
    try:
        if math.prod(kind.shape) > _MOST_ELEMENTS:
            return None
        elements = loaded_attribute(owner.attributes["value"])
        if not isinstance(elements, ir.DenseElementsAttr):
            return None
        return np.array(elements).reshape(kind.shape)
    except (AttributeError, TypeError, ValueError):  # strings and what numpy has not
        return None
