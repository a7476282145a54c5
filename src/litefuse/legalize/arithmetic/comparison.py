"""Comparisons that LiteRT lacks, and the neighbors of floats."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.legalize.arithmetic.elementary import where_finite
from litefuse.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir

__all__ = ["ApproximateEqual", "Classification", "NextAfter"]


@decomposition("ApproximateEqual")
class ApproximateEqual(Decomposition):
    """``|x - y| < tolerance``."""

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.require(0, "float32", "int32", "int64")
        tolerance = op.attributes.get("tolerance", 1e-5)
        difference = b.cast(b.unary("Abs", b.binary("Sub", *op.operands)), "float32")
        return b.compare("Less", difference, float(tolerance))


@decomposition("IsFinite", "IsInf", "IsNan")
# The form that the engine writes is never true.
@before_engine("IsInf")
class Classification(Decomposition):
    """Comparisons that only infinities or NaN fulfil."""

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        shape = op.shape(0)
        op.require(0, "float32")
        (x,) = op.operands
        if op.name == "IsFinite":
            return where_finite(b, x)
        if op.name == "IsInf":
            return b.compare("Equal", b.unary("Abs", x), math.inf)
        return b.op("LogicalNot", [b.compare("GreaterEqual", b.unary("Abs", x), 0.0)], shape, "bool")


@decomposition("NextAfter")
class NextAfter(Decomposition):
    """The neighbors of a float are those of its bits, taken as an integer.

    Definition: https://www.tensorflow.org/api_docs/python/tf/math/nextafter.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.shape(1)
        op.require(0, "float32")
        x, y = op.operands
        bits = b.bitcast(x, "int32")
        upwards = b.compare("Less", x, y)
        away = b.compare("Equal", b.compare("Greater", x, 0.0), upwards)
        moved = b.bitcast(b.binary("AddV2", bits, b.select(away, b.constant(1, "int32"), -1)), "float32")
        smallest = b.bitcast(b.constant(1, "int32"), "float32")
        moved = b.select(b.compare("Equal", x, 0.0), b.select(upwards, smallest, b.unary("Neg", smallest)), moved)
        total = b.binary("AddV2", x, y)  # NaN where one of both is
        ordered = b.compare("Equal", total, total)
        return b.select(b.compare("Equal", x, y), y, b.select(ordered, moved, total))
