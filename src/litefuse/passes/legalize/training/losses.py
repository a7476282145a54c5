"""Cross entropies with their gradients, norms, and cumulative log-sum-exp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.passes.legalize.arithmetic.elementary import log1p
from litefuse.passes.legalize.arithmetic.running import has_open_axis, running, shifted
from litefuse.passes.legalize.arrays.along_axis import around_axis
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir

__all__ = ["CrossEntropy", "CumulativeLogsumexp", "EuclideanNorm"]

_MINUS_INFINITY = int(np.float32(-np.inf).view(np.int32))


@decomposition("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits")
class CrossEntropy(Decomposition):
    """Computes ``-sum(labels * log_softmax(x))`` and ``softmax(x) - labels``.

    Definition: https://www.tensorflow.org/api_docs/python/tf/nn/softmax_cross_entropy_with_logits.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[ir.Value]:
        op.shape(0, 2)
        op.require(0, "float32")
        logits, labels = op.operands
        if op.name.startswith("Sparse"):
            classes = b.range(b.size(logits, 1))
            chosen = b.compare("Equal", b.expand(b.cast(labels, "int32"), 1), classes)
            labels = b.cast(chosen, "float32")
        else:
            op.shape(1, 2)
        entropy = b.unary("Neg", b.reduce("Sum", b.binary("Mul", labels, b.unary("LogSoftmax", logits)), 1))
        return entropy, b.binary("Sub", b.unary("Softmax", logits), labels)


@decomposition("CumulativeLogsumexp")
# If the dimension is dynamic, it has a loop, which only the engine can lower.
@before_engine("CumulativeLogsumexp")
class CumulativeLogsumexp(Decomposition):
    """Computes ``log(exp(a) + exp(b))`` of the last 1, 2, 4, 8 ... elements, each from two of the previous step.

    Definition: https://www.tensorflow.org/api_docs/python/tf/math/cumulative_logsumexp.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return has_open_axis(op.types[0].shape, op.constants[1])

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        shape = op.shape(0)
        op.require(0, "float32")
        values, sizes = around_axis(b, op.operands[0], op.axis(1, len(shape)))
        reverse = bool(op.attributes.get("reverse", False))
        values = b.reverse(values, [1]) if reverse else values
        if op.attributes.get("exclusive", False):
            before, _, after = b.sizes(values)
            # The fault `infinite-constants` makes infinities finite, but not their bits.
            values = shifted(b, values, b.bitcast(b.fill([before, 1, after], _MINUS_INFINITY, "int32"), "float32"))
        values = running(b, values, lambda later, earlier: _log_sum(b, later, earlier))
        values = b.reverse(values, [1]) if reverse else values
        return b.reshape(values, sizes)


@decomposition("EuclideanNorm")
class EuclideanNorm(Decomposition):
    """Computes the square root of the sum of squares."""

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.require(0, "float32")
        squares = b.unary("Square", op.operands[0])
        keep = bool(op.attributes.get("keep_dims", False))
        total = b.op("Sum", [squares, op.operands[1]], op.results[0].shape or (), "float32", keep_dims=keep)
        return b.unary("Sqrt", total)


def _log_sum(b: Builder, x: ir.Value, y: ir.Value) -> ir.Value:
    larger, smaller = b.binary("Maximum", x, y), b.binary("Minimum", x, y)
    # For two empty sums, the difference would be that of infinities.
    difference = b.select(b.compare("Equal", larger, smaller), 0.0, b.binary("Sub", smaller, larger))
    return b.binary("AddV2", larger, log1p(b, b.unary("Exp", difference)))
