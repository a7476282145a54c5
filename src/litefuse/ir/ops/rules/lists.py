"""Ops that read items of tensor lists, as far as an operand states their shape."""

from __future__ import annotations

from litefuse.ir.ops.dims import Dim
from litefuse.ir.ops.facts import Answer, Op, PartialDims, Rule, Undecided
from litefuse.ir.ops.rules.layout import stated_shape

__all__ = ["RULES"]


def _item(op: Op, index: int) -> tuple[Dim | None, ...]:
    """Returns the item shape that an operand states, which is a scalar if any shape is allowed."""
    if op.shape(index) == ():
        raise Undecided("the shape of the items is not stated")
    stated = stated_shape(op, index)
    assert stated is not None
    return stated


def _get_item(op: Op) -> Answer:
    return _item(op, 2)


def _stack(op: Op) -> Answer:
    count = op.attribute("num_elements", -1)
    return (None if count < 0 else count, *_item(op, 1))


def _gather(op: Op) -> Answer:
    return (*op.ranked(1, 1), *_item(op, 2))


def _pop_back(op: Op) -> Answer:
    answer: list[PartialDims] = [None, _item(op, 1)]
    return answer


RULES: dict[str, Rule] = {
    "TensorListGather": _gather,
    "TensorListGetItem": _get_item,
    "TensorListPopBack": _pop_back,
    "TensorListStack": _stack,
}
