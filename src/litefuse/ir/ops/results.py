"""Applies an op's rules: the shapes, small integers and known floating-point numbers of its results."""

from __future__ import annotations

import numpy as np

from litefuse.ir.ops.facts import FLOATS, INTEGERS, MALFORMED, Op, PartialDims, PartialTensor, Undecided, Values
from litefuse.ir.ops.numbers import Numbers, computed_numbers, followed_values
from litefuse.ir.ops.rules import RULES
from litefuse.ir.ops.values import MAX_ELEMENTS, VALUES, wrapped


def results_of(op: Op) -> list[PartialTensor | None]:
    """Returns what an op's rules state about each of its results; None if nothing.

    Raises:
        ShapeError: The shapes of its operands contradict each other.
    """
    count = len(op.results)
    shapes: list[PartialDims] = [None] * count
    values: list[Values | None] = [None] * count
    numbers: list[Numbers | None] = [None] * count
    # The engine and the runtime report what is wrong with malformed ops.
    try:
        answer = RULES[op.name](op)
        shapes = answer if isinstance(answer, list) else [answer]
    except (Undecided, *MALFORMED):
        pass
    try:
        known = computed_numbers(op)
    except (Undecided, *MALFORMED):
        known = None
    rule = VALUES.get(op.name)
    to_float = op.name == "Cast" and op.results[0].dtype in FLOATS and op.operands[0].shape == ()
    if known is not None:
        numbers = [value if result.dtype in FLOATS else None for value, result in zip(known, op.results, strict=True)]
        values = [followed_values(value, result.dtype) for value, result in zip(known, op.results, strict=True)]
    elif rule is not None and (to_float or any(result.dtype in INTEGERS for result in op.results)):
        try:
            with np.errstate(over="ignore"):
                by_rule = rule(op)
            by_rule = by_rule if isinstance(by_rule, list) else [by_rule]
            values = [_held(value, result.dtype) for value, result in zip(by_rule, op.results, strict=True)]
        except (Undecided, *MALFORMED):
            pass
    if len(shapes) != count:
        shapes = [None] * count
    return [
        None if shape is elements is floating is None else PartialTensor(shape, elements, floating)
        for shape, elements, floating in zip(shapes, values, numbers, strict=True)
    ]


def _held(values: Values, dtype: str) -> Values | None:
    """Returns elements as a tensor of this type holds them."""
    if dtype in INTEGERS and values.size <= MAX_ELEMENTS:
        return wrapped(values, dtype)
    return values if dtype in FLOATS and values.shape == () else None
