"""Infers the shapes of one op's results from the types of its operands and the constants among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from litefuse.ir.mlir import ir, producer
from litefuse.ir.ops.dims import Shape, unknown
from litefuse.ir.ops.facts import INTEGERS, Op, Tensor, Values, known
from litefuse.ir.ops.rules import RULES
from litefuse.ir.shapes.reading import constant_elements, declared_by

__all__ = ["constant_integers", "result_shapes"]


def result_shapes(
    name: str, operands: Sequence[ir.Value], elements: Sequence[ir.Type], attributes: Mapping[str, Any]
) -> list[Shape | None]:
    """Returns the shape of each result, with None for dynamic dimensions; None for an unknown rank.

    Args:
        name: The op's name, one of ``litefuse.ir.ops.rules.RULES``.
        operands: Its operands.
        elements: The element type of each result.
        attributes: Its attributes, as Python values.

    Raises:
        ShapeError: The operands contradict each other.
        Undecided: The shapes do not follow from what is known.
        ArithmeticError: Or another of ``MALFORMED``: no op accepts these operands and attributes.
    """
    results = [Tensor(str(element), None) for element in elements]
    answer = RULES[name](Op(name, [_tensor(value) for value in operands], results, attributes))
    return [known(shape) for shape in (answer if isinstance(answer, list) else [answer])]


def constant_integers(value: ir.Value) -> Values | None:
    """Returns the elements of a small constant of integers or booleans; None for any other value."""
    constant, declared = producer(value, "arith.constant", "tfl.pseudo_const"), declared_by(value.type)
    return None if constant is None or declared.dtype not in INTEGERS else constant_elements(constant, declared).values


def _tensor(value: ir.Value) -> Tensor:
    declared = declared_by(value.type)
    shape = declared.shape
    if shape is not None:
        shape = tuple(unknown(object(), is_size=True) if size is None else size for size in shape)
    return Tensor(declared.dtype, shape, constant_integers(value))
