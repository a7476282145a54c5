"""Comparisons that LiteRT lacks, and the neighbors of floats."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from litefuse.ir.mlir import ir, producer
from litefuse.ir.op_creation import create_value
from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, equal, select
from litefuse.ir.types import TensorType, ranked_tensor_type, tensor_type_of
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder


@decomposition("ApproximateEqual")
def approximate_equal(op: TensorFlowOp, b: Builder) -> Tensor:
    """``|x - y| < tolerance``."""
    op.require(0, "float32", "int32", "int64")
    tolerance = op.attributes.get("tolerance", 1e-5)
    difference = b.cast(abs(b.binary("Sub", *op.operands)), "float32")
    return difference < float(tolerance)


@decomposition("IsInf")
# Fault `infinite-constants`: the engine's own lowering is never true.
@before_engine("IsInf")
def classification(op: TensorFlowOp, b: Builder) -> Tensor:
    """A comparison of the absolute value with infinity."""
    op.require(0, "float32")
    return equal(abs(op.operands[0]), math.inf)


_ORDERED = ("tf.Greater", "tf.GreaterEqual", "tf.Less", "tf.LessEqual")


# Fault `negated-comparison`.
@before_engine("LogicalNot")
class NegatedComparison(Decomposition):
    """LiteRT's LOGICAL_NOT, which the engine does not merge with a comparison of floats."""

    folds = True

    def before_lowering(self, op: TensorFlowOp) -> bool:
        compared = producer(op.operands[0], *_ORDERED)
        return compared is not None and "float" in tensor_type_of(compared.operands[0]).dtype

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        kind = ranked_tensor_type(TensorType("bool", op.operands[0].shape))
        return create_value("tfl.logical_not", kind, op.operands)


# Fault `difference-from-itself`.
@before_engine("Sub", dtypes=("bfloat16", "float16", "float32"))
class DifferenceFromItself(Decomposition):
    """A product with 0, which is NaN for infinities as well."""

    folds = True

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return op.operands[0] == op.operands[1] and "tf.AddV2" in op.readers

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        return op.operands[0] * 0.0


# Fault `order-of-conditions`.
@before_engine("Greater", "GreaterEqual", "Less", "LessEqual")
class OrderOfConditions(Decomposition):
    """``x and not x`` for a cast condition below 0, and ``x or not x`` for one that is not."""

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return _condition_beside_zero(op) is not None

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        condition = _condition_beside_zero(op)
        if condition is None:
            raise NotDecomposed(f"LiteRT's op for it does not take {op.types[0].dtype}")
        negated = ~condition
        return b.binary("LogicalOr" if op.name.endswith("Equal") else "LogicalAnd", condition, negated)


def _condition_beside_zero(op: TensorFlowOp) -> Tensor | None:
    """Returns the condition whose cast an op compares with 0, and no smaller number."""
    position = 0 if op.name in {"GreaterEqual", "Less"} else 1
    zero, cast = op.constants[1 - position], producer(op.operands[position], "tf.Cast")
    if zero is None or zero.size != 1 or zero.any() or cast is None:
        return None
    condition = Tensor(cast.operands[0])
    return condition if condition.dtype == "bool" else None


@decomposition("NextAfter")
def next_after(op: TensorFlowOp, b: Builder) -> Tensor:
    """The bits of a float's neighbors are those of the float plus or minus 1, as an integer.

    Definition: https://www.tensorflow.org/api_docs/python/tf/math/nextafter.
    """
    op.require(0, "float32")
    x, y = op.operands
    bits = b.bitcast(x, "int32")
    upwards = x < y
    away = equal(x > 0.0, upwards)
    step = select(away, b.constant(1, "int32"), -1)
    smallest = select(upwards, b.constant(1, "int32"), 1 - 2**31)
    moved = b.bitcast(select(equal(x, 0.0), smallest, bits + step), "float32")
    ordered = equal(x, x) & equal(y, y)
    return select(equal(x, y), y, select(ordered, moved, math.nan))
