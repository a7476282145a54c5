"""Cross entropies with their gradients, norms, cumulative log-sum-exp, and decoding of CTC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.ir.tensors import Tensor, equal, exp, maximum, minimum, not_equal, select, sqrt, square
from litefuse.passes.legalize.arithmetic.elementary import log1p
from litefuse.passes.legalize.arithmetic.running import has_open_axis, running, shifted
from litefuse.passes.legalize.arrays.loops import around_axis
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder


_MINUS_INFINITY = int(np.float32(-np.inf).view(np.int32))


@decomposition("SparseSoftmaxCrossEntropyWithLogits")
def cross_entropy(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """Computes ``-sum(labels * log_softmax(x))`` and ``softmax(x) - labels``, where labels are 1 at their class.

    Definition: https://www.tensorflow.org/api_docs/python/tf/nn/sparse_softmax_cross_entropy_with_logits.
    """
    op.shape(0, 2)
    op.require(0, "float32")
    logits, labels = op.operands
    classes = b.range(b.size(logits, 1))
    labels = b.cast(equal(b.expand(b.cast(labels, "int32"), 1), classes), "float32")
    entropy = -b.reduce("Sum", labels * b.unary("LogSoftmax", logits), 1)
    return entropy, b.unary("Softmax", logits) - labels


@decomposition("CumulativeLogsumexp")
# If the dimension is dynamic, it has a loop, which only the engine can lower.
@before_engine("CumulativeLogsumexp")
class CumulativeLogsumexp(Decomposition):
    """Computes ``log(exp(a) + exp(b))`` of the last 1, 2, 4, 8 ... elements, each from two of the previous step.

    Definition: https://www.tensorflow.org/api_docs/python/tf/math/cumulative_logsumexp.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return has_open_axis(op.types[0].shape, op.constants[1])

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        shape = op.shape(0)
        op.require(0, "float32")
        values, sizes = around_axis(b, op.operands[0], op.axis(1, len(shape)))
        reverse = bool(op.attributes.get("reverse", False))
        values = b.reverse(values, [1]) if reverse else values
        if op.attributes.get("exclusive", False):
            before, _, after = b.sizes(values)
            # The fault `infinite-constants` makes infinities finite, but not their bits.
            values = shifted(b, values, b.bitcast(b.fill([before, 1, after], _MINUS_INFINITY, "int32"), "float32"))
        values = running(b, values, _log_sum)
        values = b.reverse(values, [1]) if reverse else values
        return b.reshape(values, sizes)


@decomposition("EuclideanNorm")
def euclidean_norm(op: TensorFlowOp, b: Builder) -> Tensor:
    """Computes the square root of the sum of squares."""
    op.require(0, "float32")
    squares = square(op.operands[0])
    keep = bool(op.attributes.get("keep_dims", False))
    total = b.op("Sum", [squares, op.operands[1]], op.results[0].shape or (), "float32", keep_dims=keep)
    return sqrt(total)


def _log_sum(x: Tensor, y: Tensor) -> Tensor:
    larger, smaller = maximum(x, y), minimum(x, y)
    # For two empty sums, the difference would be that of infinities.
    difference = select(equal(larger, smaller), 0.0, smaller - larger)
    return larger + log1p(exp(difference))


@decomposition("CTCGreedyDecoder")
def ctc_greedy_decoder(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """Takes the best class of each step, without blanks and repetitions of the previous step.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/CTCGreedyDecoder and
    tensorflow/core/kernels/ctc_decoder_ops.cc.
    """
    steps, batch, _ = op.shape(0, 3)
    op.shape(1, 1)
    op.require(0, "float32")
    logits, lengths = b.transpose(op.operands[0], [1, 0, 2]), op.operands[1]
    best = b.op("ArgMax", [logits, b.constant(2, "int32")], [batch, steps], "int32")
    inside = b.range(b.size(best, 1)) < b.expand(lengths, 1)
    blank = int(op.attributes.get("blank_index", -1))
    blank_class = b.size(logits, 2) + blank if blank < 0 else blank
    seen = not_equal(best, b.scalar(blank_class))
    kept = inside & seen
    if op.attributes.get("merge_repeated", False):
        before = b.slice(b.pad(best, [(0, 0), (1, 0)], -1), 1, 0, b.size(best, 1))
        kept = kept & not_equal(best, before)
    ones = b.cast(kept, "int32")
    column = b.cumsum(ones, 1, exclusive=True)
    places = b.op("Where", [kept], [None, 2], "int64")
    columns = b.cast(b.op("GatherNd", [column, places], [None], "int32"), "int64")
    counts = b.reduce("Sum", ones, 1)
    sizes = [b.scalar(b.size(counts, 0)), b.reduce("Max", counts, 0)]
    largest = b.reduce("Max", logits, 2)
    return [
        b.concat([b.slice(places, 1, 0, 1), b.expand(columns, 1)], 1),
        b.cast(b.op("GatherNd", [best, places], [None], "int32"), "int64"),
        b.cast(b.stack(sizes, 0), "int64"),
        -b.reduce("Sum", select(inside, largest, 0.0), 1, keep_dims=True),
    ]
