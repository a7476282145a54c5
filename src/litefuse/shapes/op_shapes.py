"""The shapes of one op's results, by the types of its operands and the constants among them alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from litefuse.ir.constants import elements_of_constant
from litefuse.ir.mlir import ir
from litefuse.ops.dims import Shape, unknown
from litefuse.ops.facts import INTEGERS, Op, Tensor, Values, known
from litefuse.ops.numbers import followed_values
from litefuse.ops.rules import RULES
from litefuse.ops.values import MAX_ELEMENTS

__all__ = ["constant_integers", "result_shapes"]


def result_shapes(
    name: str, operands: Sequence[ir.Value], elements: Sequence[ir.Type], attributes: Mapping[str, Any]
) -> list[Shape | None]:
    """The shape of each result, None for a size that is not known, or for a rank that is not.

    Args:
        name: The op's name, one of ``litefuse.ops.rules.RULES``.
        operands: Its operands.
        elements: The element type of each result.
        attributes: Its attributes, as Python values.

    Raises:
        ShapeError: The operands contradict each other.
        Undecided: The shapes do not follow from what is known.
        ArithmeticError: Or LookupError, TypeError, ValueError: no such op takes these operands and attributes.
    """
    results = [Tensor(str(element), None) for element in elements]
    answer = RULES[name](Op(name, [_tensor(value) for value in operands], results, attributes))
    return [known(shape) for shape in (answer if isinstance(answer, list) else [answer])]


def constant_integers(value: ir.Value) -> Values | None:
    """The elements of a small constant of integers or booleans; None for any other value."""
    attribute = elements_of_constant(value, "arith.constant", "tfl.pseudo_const")
    if attribute is None:
        return None
    dtype, sizes = str(attribute.type.element_type), attribute.type.shape
    if dtype not in INTEGERS or math.prod(sizes) > MAX_ELEMENTS:
        return None
    return followed_values(np.array(attribute).reshape(sizes), dtype)


def _tensor(value: ir.Value) -> Tensor:
    try:
        kind = ir.ShapedType(value.type)
    except ValueError:  # of an operand that is left out
        return Tensor(str(value.type), None)
    shape = None
    if kind.has_rank:
        shape = tuple(
            unknown(object(), is_size=True) if kind.is_dynamic_dim(axis) else kind.shape[axis]
            for axis in range(kind.rank)
        )
    return Tensor(str(kind.element_type), shape, constant_integers(value))
