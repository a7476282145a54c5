"""Masks of attention as sums and products, which XNNPACK computes."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from litefuse.ir.call_graph import all_operations
from litefuse.ir.constants import pseudo_constant, splat_number, stored
from litefuse.ir.litert_ops import arithmetic
from litefuse.ir.mlir import ir, producer
from litefuse.ir.op_creation import create_value
from litefuse.ir.passes import module_pass
from litefuse.ir.purity import replace_op

_SELECT = "tfl.select_v2"
# Beside the others, scores as low as this vanish in SOFTMAX, whatever was added to it.
_LOW = -1e9
# What the two ops that make a mask of numbers are worth.
_FEWEST = 3


class _Masked(NamedTuple):
    """A SOFTMAX between two selections by the same mask."""

    before: ir.OpView
    after: ir.OpView


@module_pass
def add_masks(module: ir.Module) -> bool:
    """Adds masks to scores, where several layers select scores by one before SOFTMAX, and its results behind it::

        %s = tfl.select_v2(%m, %x, -1e9)               %b = tfl.select_v2(%m, 0.0, -1e9)
        %p = tfl.softmax(%s)                           %f = tfl.select_v2(%m, 1.0, 0.0)
        %y = tfl.select_v2(%m, %p, 0.0)           -->  %y = tfl.mul(tfl.softmax(tfl.add(%x, %b)), %f)

    XNNPACK has no SELECT_V2. The results are the same, for scores that are numbers: those of a row without an unmasked
    score are multiplied by 0, and in others what is masked vanishes.
    """
    groups: defaultdict[tuple[ir.Value, float], list[_Masked]] = defaultdict(list)
    for op in all_operations(module, nested=False):
        if op.name == "tfl.softmax" and (masked := _masked(op.opview)) is not None:
            groups[masked.before.operands[0], _constant(masked.before) or 0.0].append(masked)
    shared = {key: pairs for key, pairs in groups.items() if len(pairs) >= _FEWEST}
    for (mask, low), pairs in shared.items():
        first = pairs[0].before
        with ir.InsertionPoint(first), first.location:
            added, factor = _numbers(mask, 0.0, low), _numbers(mask, 1.0, 0.0)
        for before, after in pairs:
            for op, name, number in ((before, "tfl.add", added), (after, "tfl.mul", factor)):
                with ir.InsertionPoint(op), op.location:
                    replace_op(op, [arithmetic(name, op.operands[1], number, op.results[0].type)])
    return bool(shared)


def _masked(op: ir.OpView) -> _Masked | None:
    """Returns a SOFTMAX with its selections, if nothing else reads what is between them."""
    scores, result = op.operands[0], op.results[0]
    uses = [use.owner for use in result.uses]
    before = producer(scores, _SELECT)
    if before is None or len(uses) != 1 or uses[0].name != _SELECT or len(list(scores.uses)) != 1:
        return None
    masked = _Masked(before.opview, uses[0].opview)
    low, zero = _constant(masked.before), _constant(masked.after)
    kinds = {value.type for ops in masked for value in (ops.operands[1], ops.results[0])}
    if low is None or not np.finfo(np.float32).min <= low <= _LOW or zero != 0:
        return None
    if masked.after.operands[1] != result or masked.before.operands[0] != masked.after.operands[0]:
        return None
    is_float = isinstance(ir.ShapedType(scores.type).element_type, ir.F32Type)
    ranked = isinstance(masked.before.operands[0].type, ir.RankedTensorType)
    return masked if is_float and ranked and len(kinds) == 1 else None


def _constant(select: ir.OpView) -> float | None:
    """Returns the number that a selection puts where the mask is false."""
    elements = stored(select.operands[2])
    return None if elements is None else splat_number(elements)


def _numbers(mask: ir.Value, chosen: float, other: float) -> ir.Value:
    """Emits the numbers that stand for true and false in a mask."""
    operands = [pseudo_constant(ir.DenseElementsAttr.get(np.array(number, np.float32))) for number in (chosen, other)]
    kind = ir.RankedTensorType(mask.type)
    return create_value(_SELECT, ir.RankedTensorType.get(kind.shape, ir.F32Type.get()), [mask, *operands])
