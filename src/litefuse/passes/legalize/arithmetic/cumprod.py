"""``Cumprod``: cumulative products."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.passes.legalize.arithmetic.running import has_open_axis, running, shifted
from litefuse.passes.legalize.arrays.along_axis import around_axis
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.tensors import Tensor

__all__ = ["Cumprod"]


@decomposition("Cumprod")
# If the dimension is dynamic, the rewriting contains a loop, which only the engine can lower.
@before_engine("Cumprod")
class Cumprod(Decomposition):
    """Products of the last 1, 2, 4, 8... elements, each computed from two of the previous step.

    Factors are multiplied in another order than in the definition: floats differ in rounding, and intermediate products
    that overflow there may not overflow here.

    Definition: https://www.tensorflow.org/api_docs/python/tf/math/cumprod.
    """

    composite = True

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
