"""Scans along a dimension, cumulative products among them: the combination of each element with all before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.ir.tensors import Tensor, maximum, select
from litefuse.passes.legalize.arrays.loops import around_axis, count_to
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize

Combine = Callable[["Tensor", "Tensor"], "Tensor"]


def running(b: Builder, values: Tensor, combine: Combine) -> Tensor:
    """Emits an inclusive scan: combinations of the last 1, 2, 4, 8 ... elements, each from two of the previous step.

    Args:
        b: Emits the ops; if the dimension is dynamic, a loop, which only the engine can lower.
        values: ``[before, size, after]``.
        combine: Combines the later of two elements with the earlier one; it must be associative.
    """
    size = b.size(values, 1)
    if not isinstance(size, int):
        return _in_a_loop(b, values, size, combine)
    reach = 1
    while reach < size:
        later, earlier = b.slice(values, 1, reach, None), b.slice(values, 1, 0, size - reach)
        values = b.concat([b.slice(values, 1, 0, reach), combine(later, earlier)], 1)
        reach *= 2
    return values


def _in_a_loop(b: Builder, values: Tensor, size: MixedSize, combine: Combine) -> Tensor:
    positions = b.range(size)

    def turn(_: Tensor, changing: Sequence[Tensor]) -> Sequence[Tensor]:
        values, reach = changing
        before = positions - reach
        earlier = b.gather(values, maximum(before, 0), 1)
        reached = b.reshape(before >= 0, [1, size, 1])
        return [select(reached, combine(values, earlier), values), reach + reach]

    doublings = b.constant(2 ** np.arange(31, dtype=np.int64), "int32")
    turns = b.reduce("Sum", b.cast(doublings < b.scalar(size), "int32"), 0)
    return count_to(b, turns, [values, b.constant(1, "int32")], turn)[0]


def shifted(b: Builder, values: Tensor, first: Tensor) -> Tensor:
    """Emits the values ``[before, size, after]`` shifted by one: ``first`` is prepended, the last one dropped."""
    return b.slice(b.concat([first, values], 1), 1, 0, b.size(values, 1))


def has_open_axis(shape: Sequence[int | None] | None, axis: object) -> bool:
    """Whether a constant axis of a shape is dynamic."""
    return shape is not None and axis is not None and shape[int(np.asarray(axis))] is None


@decomposition("Cumprod", composite=True)
# If the dimension is dynamic, the rewriting contains a loop, which only the engine can lower.
@before_engine("Cumprod")
class Cumprod(Decomposition):
    """Products of the last 1, 2, 4, 8... elements, each computed from two of the previous step.

    Factors are multiplied in another order than in the definition: floats differ in rounding, and intermediate products
    that overflow there may not overflow here.

    Definition: https://www.tensorflow.org/api_docs/python/tf/math/cumprod.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return has_open_axis(op.types[0].shape, op.constants[1])

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        shape = op.shape(0)
        op.require(0, "float32", "int32", "int64")
        factors, sizes = around_axis(b, op.operands[0], op.axis(1, len(shape)))
        reverse = bool(op.attributes.get("reverse", False))
        factors = b.reverse(factors, [1]) if reverse else factors
        products = running(b, factors, lambda later, earlier: later * earlier)
        if op.attributes.get("exclusive", False):
            before, _, after = b.sizes(products)
            products = shifted(b, products, b.fill([before, 1, after], 1, products.dtype))
        products = b.reverse(products, [1]) if reverse else products
        return b.reshape(products, sizes)
