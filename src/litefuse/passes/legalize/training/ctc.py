"""``CTCGreedyDecoder``: the decoded classes of a speech or text recognizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.ir.tensors import Tensor, not_equal, select
from litefuse.passes.legalize.decomposition import Decomposition, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder


@decomposition("CTCGreedyDecoder")
class CtcGreedyDecoder(Decomposition):
    """Takes the best class of each step, without blanks and repetitions of the previous step.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/CTCGreedyDecoder and
    tensorflow/core/kernels/ctc_decoder_ops.cc.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
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
