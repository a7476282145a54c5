"""Floats rounded to what integers of a range can hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder
    from litefuse.engine.mlir import ir

__all__ = ["FakeQuantize", "QuantizeAndDequantize"]


class FakeQuantize(Decomposition):
    """Clamped to a range in which 0 is a step, and rounded to its steps; each channel may have its own.

    The engine quantizes to 8 bits, whatever number of bits is asked for, or to a dtype that LiteRT's op lacks; channel
    by channel it does so beside the op.

    Definition: tensorflow/core/kernels/fake_quant_ops_functor.h.
    """

    names = ("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return op.name.endswith("PerChannel") or int(op.attributes.get("num_bits", 8)) != 8

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.require(0, "float32")
        if op.name == "FakeQuantWithMinMaxArgs":
            low, high = (b.constant(op.attributes.get(name, end), "float32") for name, end in (("min", -6), ("max", 6)))
            x = op.operands[0]
        else:
            x, low, high = op.operands
        least = 1 if op.attributes.get("narrow_range", False) else 0
        most = 2 ** int(op.attributes.get("num_bits", 8)) - 1
        step = b.binary("RealDiv", b.binary("Sub", high, low), most - least)
        step = b.select(b.compare("Equal", step, 0.0), 1.0, step)  # then the range is 0 alone, as here
        zero = b.binary("Sub", least, b.binary("RealDiv", low, step))
        zero = b.binary("Minimum", b.binary("Maximum", zero, least), most)
        zero = b.unary("Floor", b.binary("AddV2", zero, 0.5))
        first, last = (b.binary("Mul", b.binary("Sub", end, zero), step) for end in (least, most))
        clamped = b.binary("Minimum", b.binary("Maximum", x, first), last)
        number = b.binary("Mul", b.binary("Sub", clamped, first), b.binary("RealDiv", 1.0, step))
        rounded = b.unary("Floor", b.binary("AddV2", number, 0.5))
        quantized = b.binary("AddV2", b.binary("Mul", rounded, step), first)
        nothing = b.compare("Equal", low, high)
        return b.select(nothing, 0.0, quantized)


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
