"""``QuantizeAndDequantize``: floats rounded to what integers of a range can hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder
    from litefuse.engine.mlir import ir

__all__ = ["QuantizeAndDequantize"]


class QuantizeAndDequantize(Decomposition):
    """Scaled, rounded, and scaled back; of the scales that the range's ends ask for, the smaller.

    The engine quantizes with a zero point, whose grid is another one.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/QuantizeAndDequantizeV2.
    """

    names = ("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4")

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.require(0, "float32")
        attributes = op.attributes
        if not attributes.get("range_given", False) or int(attributes.get("axis", -1)) != -1:
            raise NotDecomposed("its range is that of the data, or of each channel")
        low, high = (float(op.constant(operand)) for operand in (1, 2))
        bits = int(attributes.get("num_bits", 8))
        if attributes.get("signed_input", True):
            least, most = -(2 ** (bits - 1)) + bool(attributes.get("narrow_range", False)), 2 ** (bits - 1) - 1
        else:
            least, most = 0, 2**bits - 1
        by_low = least / low if least * low > 0 else math.inf
        by_high = most / high if most * high > 0 else math.inf
        scale = min(by_low, by_high)
        if math.isinf(scale):
            raise NotDecomposed(f"its range is from {low} to {high}")
        if by_low < by_high:
            high = most / scale
        else:
            low = least / scale
        x = b.binary("Minimum", b.binary("Maximum", op.operands[0], low), high)
        scaled = b.binary("Mul", x, float(np.float32(scale)))
        if str(attributes.get("round_mode", "HALF_TO_EVEN")) == "HALF_UP":
            rounded = b.unary("Floor", b.binary("AddV2", scaled, 0.5))
        else:
            rounded = b.unary("Round", scaled)
        return b.binary("Mul", rounded, float(np.float32(1 / scale)))
