"""Counted loops, for rewritings before lowering: only the engine lowers a loop to LiteRT's WHILE."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_op
from litefuse.ir.tensors import Tensor

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize


def count_to(
    b: Builder,
    count: MixedSize,
    values: Sequence[ir.Value],
    body: Callable[[Tensor, Sequence[Tensor]], Sequence[ir.Value]],
) -> Sequence[Tensor]:
    """Emits a ``tf.WhileRegion`` that counts from 0 to ``count - 1``.

    Args:
        b: Emits the ops.
        count: The number of iterations.
        values: The loop-carried values before the first iteration.
        body: Emits an iteration: returns the next values, of the same types, for the int32 counter and the values.

    Returns:
        The values after the last iteration.
    """
    start, end = b.constant(np.array(0), "int32"), b.scalar(count)
    operands = [start, *values]
    kinds = [value.type for value in operands]
    loop = ir.Operation.create(
        "tf.WhileRegion",
        results=kinds,
        operands=operands,
        attributes={
            "is_stateless": ir.BoolAttr.get(True),
            "parallel_iterations": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 1),
        },
        regions=2,
    )
    condition, turn = (region.blocks.append(*kinds) for region in loop.regions)
    with ir.InsertionPoint(condition):
        _yield([Tensor(condition.arguments[0]) < end])
    with ir.InsertionPoint(turn):
        counter, *changing = map(Tensor, turn.arguments)
        changed = body(counter, changing)
        _yield([counter + 1, *changed])
    return [Tensor(result) for result in loop.results[1:]]


def write_row(b: Builder, value: Tensor, row: Tensor, index: Tensor) -> Tensor:
    """Emits a value with one of its rows, along the first dimension, replaced."""
    zero = b.constant(np.array(0), "int32")
    begins = b.stack([index, *[zero] * (len(value.shape) - 1)], 0)
    return b.op("XlaDynamicUpdateSlice", [value, b.expand(row, 0), begins], value.shape, value.dtype)


def _yield(values: Sequence[ir.Value]) -> None:
    create_op("tf.Yield", [], values)
