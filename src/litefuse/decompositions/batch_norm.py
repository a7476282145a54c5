"""``FusedBatchNorm`` whose statistics are outputs, or computed from the batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder
    from litefuse.engine.mlir import ir

__all__ = ["FusedBatchNorm"]


class FusedBatchNorm(Decomposition):
    """``(x - mean) / sqrt(variance + epsilon) * scale + offset``, with the mean and variance of the batch in training.

    The variance that a layer keeps is that of a sample: n / (n - 1) times the batch's.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/FusedBatchNormV3.
    """

    names = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[ir.Value]:
        op.shape(0, 4)
        op.require(0, "float32")
        if op.attributes.get("data_format", "NHWC") != "NHWC":
            raise NotDecomposed("its channels come first")
        x, scale, offset, mean, variance = op.operands
        epsilon = float(op.attributes.get("epsilon", 1e-4))
        kept = variance
        if op.attributes.get("is_training", True):
            if float(op.attributes.get("exponential_avg_factor", 1.0)) != 1.0:
                raise NotDecomposed("it keeps running averages")
            channels = b.shape(x)[3]
            rows = b.product(b.sizes(x)[:3])
            flat = b.reshape(x, [rows, b.sizes(x)[3]])
            mean = b.reduce("Mean", flat, 0)
            variance = b.reduce("Mean", b.unary("Square", b.binary("Sub", flat, mean)), 0)
            if channels is None:
                raise NotDecomposed("the number of channels is unknown")
            count = b.cast(b.scalar(rows), "float32")
            rest = b.binary("Maximum", b.binary("Sub", count, 1.0), 1.0)
            kept = b.binary("Mul", variance, b.binary("RealDiv", count, rest))
        factor = b.binary("Mul", b.unary("Rsqrt", b.binary("AddV2", variance, epsilon)), scale)
        y = b.binary("AddV2", b.binary("Mul", b.binary("Sub", x, mean), factor), offset)
        results = [y, mean, kept, mean, variance]
        if len(op.results) > len(results):
            # What a GPU's kernel keeps for the gradient is a zero here.
            known = [size for size in op.results[5].shape or () if size is not None]
            results.append(b.fill(list(known), 0.0, "float32"))
        return results
