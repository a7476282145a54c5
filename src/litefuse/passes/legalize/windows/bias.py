"""``BiasAdd`` with channels first, or of integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.tensorflow_op import TensorFlowOp
    from litefuse.ir.tensors import Tensor

__all__ = ["Bias"]

_INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))


@decomposition("BiasAdd")
# Fault `bias-of-channels-first`.
@before_engine("BiasAdd", other_than={"data_format": "NHWC"})
class Bias(Decomposition):
    """A sum; with channels first, with the bias in the shape ``[channels, 1, ...]``.

    Definition: https://www.tensorflow.org/api_docs/python/tf/nn/bias_add.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        rank = len(op.shape(0))
        op.shape(1, 1)
        value, bias = op.operands
        if op.attributes.get("data_format") != "NCHW":
            op.require(0, *_INTEGERS)
            return value + bias
        shaped = b.reshape(bias, [b.size(bias, 0), *[1] * (rank - 2)])
        return value + shaped
