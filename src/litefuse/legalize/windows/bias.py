"""``BiasAdd`` with channels first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir

__all__ = ["BiasOfChannelsFirst"]


@decomposition("BiasAdd")
# Fault `bias-of-channels-first`.
@before_engine("BiasAdd", other_than={"data_format": "NHWC"})
class BiasOfChannelsFirst(Decomposition):
    """Adds the bias in the shape ``[channels, 1, ...]``.

    Definition: https://www.tensorflow.org/api_docs/python/tf/nn/bias_add.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        rank = len(op.shape(0))
        op.shape(1, 1)
        if op.attributes.get("data_format") != "NCHW":
            raise NotDecomposed(f"LiteRT's ADD does not take {op.types[0].dtype}")
        value, bias = op.operands
        shaped = b.reshape(bias, [b.size(bias, 0), *[1] * (rank - 2)])
        return b.binary("AddV2", value, shaped)
