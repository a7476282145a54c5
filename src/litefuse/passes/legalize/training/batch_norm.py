"""``FusedBatchNorm`` with statistics that are outputs or computed from the batch, and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, maximum, rsqrt, square
from litefuse.passes.legalize.decomposition import decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder


@decomposition("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def fused_batch_norm(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """Computes ``(x - mean) / sqrt(variance + epsilon) * scale + offset``, in training with the batch's statistics.

    The variance that a layer stores is the sample variance: n / (n - 1) times the batch's. With an
    ``exponential_avg_factor``, it stores moving averages: this fraction of the new value, plus the rest of the old one.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/FusedBatchNormV3.
    """
    op.shape(0, 4)
    op.require(0, "float32")
    if op.attributes.get("data_format", "NHWC") != "NHWC":
        raise NotDecomposed("its channels come first")
    x, scale, offset, mean, variance = op.operands
    epsilon = float(op.attributes.get("epsilon", 1e-4))
    averages = (mean, variance)
    if op.attributes.get("is_training", True):
        rows = b.product(b.sizes(x)[:3])
        flat = b.reshape(x, [rows, b.sizes(x)[3]])
        mean = b.reduce("Mean", flat, 0)
        variance = b.reduce("Mean", square(flat - mean), 0)
        count = b.cast(b.scalar(rows), "float32")
        rest = maximum(count - 1.0, 1.0)
        of_sample = variance * (count / rest)
        share = float(op.attributes.get("exponential_avg_factor", 1.0))
        averages = (mean, of_sample)
        if share != 1.0:
            averages = [
                before * (1.0 - share) + now * share for before, now in zip(op.operands[3:], averages, strict=True)
            ]
    factor = rsqrt(variance + epsilon) * scale
    y = (x - mean) * factor + offset
    results = [y, *averages, mean, variance]
    if len(op.results) > len(results):
        results.append(_nothing(b))
    return results


@decomposition("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def fused_batch_norm_gradient(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """Computes the derivatives with respect to the input, the scale and the offset.

    With ``d`` the incoming gradient, ``c = x - mean`` and means over all but the channels, in training:
    ``scale / sqrt(variance + epsilon) * (d - mean(d) - c * mean(d * c) / (variance + epsilon))``; else the first factor
    times ``d``.

    Source: Ioffe and Szegedy, "Batch normalization", 2015, section 3;
    https://www.tensorflow.org/api_docs/python/tf/raw_ops/FusedBatchNormGradV3.
    """
    op.require(1, "float32")
    if str(op.attributes.get("data_format", "NHWC")) not in {"NHWC", "NDHWC"}:
        raise NotDecomposed("its channels come first")
    gradient, x, scale, mean, variance = op.operands[:5]
    sizes = b.sizes(x)
    flat = [b.product(sizes[:-1]), sizes[-1]]
    d, centered = b.reshape(gradient, flat), b.reshape(x, flat) - mean
    denominator = variance + float(op.attributes.get("epsilon", 1e-4))
    inverse = rsqrt(denominator)
    product = d * centered
    if op.attributes.get("is_training", True):
        rest = centered * (b.reduce("Mean", product, 0) / denominator)
        by_input = d - b.reduce("Mean", d, 0) - rest
    else:
        by_input = d
    by_input = b.reshape(by_input * (inverse * scale), sizes)
    by_scale = b.reduce("Sum", product, 0) * inverse
    return [by_input, by_scale, b.reduce("Sum", d, 0), *(_nothing(b) for _ in op.results[3:])]


def _nothing(b: Builder) -> Tensor:
    """Emits an empty reserved output, which only other kernels than the CPU's fill."""
    return b.fill([0], 0.0, "float32")
