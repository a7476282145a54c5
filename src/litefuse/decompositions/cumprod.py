"""``Cumprod``: the products of all elements up to each one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.decompositions.along_axis import around_axis
from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder
    from litefuse.engine.mlir import ir

__all__ = ["Cumprod"]


class Cumprod(Decomposition):
    """Products of the last 1, 2, 4, 8... elements, each from two of the step before.

    The factors are those of the definition in another order: floats differ in rounding, and an intermediate product
    that overflows there need not do so here.

    Definition: https://www.tensorflow.org/api_docs/python/tf/math/cumprod.
    """

    names = ("Cumprod",)
    composite = True

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        shape = op.shape(0)
        op.require(0, "float32", "int32", "int64")
        axis = op.axis(1, len(shape))
        size = shape[axis]
        if size is None:
            raise NotDecomposed(f"the size of dimension {axis} is unknown")
        products, sizes = around_axis(b, op.operands[0], axis)
        reverse = bool(op.attributes.get("reverse", False))
        products = b.reverse(products, [1]) if reverse else products
        reach = 1
        while reach < size:
            later = b.binary("Mul", b.slice(products, 1, reach, None), b.slice(products, 1, 0, size - reach))
            products = b.concat([b.slice(products, 1, 0, reach), later], 1)
            reach *= 2
        if op.attributes.get("exclusive", False) and size:
            before, _, after = b.sizes(products)
            ones = b.fill([before, 1, after], 1, b.dtype(products))
            products = b.concat([ones, b.slice(products, 1, 0, size - 1)], 1) if size > 1 else ones
        products = b.reverse(products, [1]) if reverse else products
        return b.reshape(products, sizes)
