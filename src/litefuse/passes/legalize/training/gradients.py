"""Gradients of activations, paddings and normalizations, in graphs with a training step or an explanation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, equal, maximum, rsqrt, select, square
from litefuse.passes.legalize.decomposition import before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize


# tf.nn.selu's constants.
_SCALE = 1.0507009873554804934193349852946
_SCALE_ALPHA = 1.7580993408473768599402175208123


@decomposition(
    *("EluGrad", "InvGrad", "LeakyReluGrad", "ReciprocalGrad", "Relu6Grad", "ReluGrad"),
    *("SeluGrad", "SigmoidGrad", "SoftplusGrad", "SoftsignGrad"),
)
# Fault `gradient-of-half-sigmoid`.
@before_engine("SigmoidGrad", dtypes=("complex128", "complex64", "float64"))
def gradient(op: TensorFlowOp, b: Builder) -> Tensor:
    """Multiplies the derivative by the incoming gradient, as in TensorFlow's kernels.

    ``*Grad`` ops of activations take (gradient, features or outputs), those of other functions (output, gradient).

    Source: tensorflow/core/kernels, relu_op_functor.h, softplus_op.h, softsign_op.h, cwise_ops_gradients.h.
    """
    op.require(0, "float32")
    first, second = op.operands
    match op.name:
        case "ReluGrad":
            return _where(second > 0.0, first)
        case "Relu6Grad":
            inside = (second > 0.0) & (second < 6.0)
            return _where(inside, first)
        case "LeakyReluGrad":
            alpha = float(op.attributes.get("alpha", 0.2))
            return select(second > 0.0, first, first * alpha)
        case "EluGrad":
            falling = (second + 1.0) * first
            return select(second < 0.0, falling, first)
        case "SeluGrad":
            falling = (second + _SCALE_ALPHA) * first
            return select(second < 0.0, falling, first * _SCALE)
        case "SoftplusGrad":
            return first * b.unary("Sigmoid", second)
        case "SoftsignGrad":
            root = abs(second) + 1.0
            return first / (root * root)
        case _:
            return -second * (first * first)


def _where(condition: Tensor, value: Tensor) -> Tensor:
    return select(condition, value, 0.0)


@decomposition("BroadcastGradientArgs")
def broadcast_gradient_args(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """Finds the dimensions where one shape, padded with leading ones, has 1 and the other not, and where both have 1.

    Definition: tensorflow/core/util/bcast.h.
    """
    (first,), (second,) = op.shape(0, 1), op.shape(1, 1)
    op.require(0, "int32", "int64")
    if first is None or second is None:
        raise NotDecomposed("the number of dimensions is unknown")
    rank = max(first, second)
    shapes = [
        b.pad(b.cast(value, "int32"), [(rank - count, 0)], 1)
        for value, count in zip(op.operands, (first, second), strict=True)
    ]
    return [b.cast(b.places(equal(shape, 1)), op.types[0].dtype) for shape in shapes]


@decomposition("ConcatOffset")
def concat_offset(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """Computes the offsets of concatenated tensors: the sum of the previous sizes along the axis, else 0.

    Definition: https://www.tensorflow.org/api_docs/python/tf/raw_ops/ConcatOffset.
    """
    (rank,) = op.shape(1, 1)
    op.require(1, "int32")
    if rank is None:
        raise NotDecomposed("the number of dimensions is unknown")
    axis = op.axis(0, rank)
    begin: MixedSize = 0
    offsets: list[Tensor] = []
    for number, shape in enumerate(op.operands[1:], start=1):
        offsets.append(b.vector([begin if each == axis else 0 for each in range(rank)]))
        sizes = op.constants[number]
        begin = begin + (b.element(shape, axis) if sizes is None else int(sizes[axis]))
    return offsets


@decomposition("MirrorPadGrad")
def mirror_pad_gradient(op: TensorFlowOp, b: Builder) -> Tensor:
    """Folds the padding back and adds it, one dimension after the other.

    Definition: https://www.tensorflow.org/api_docs/python/tf/pad (REFLECT skips the border, SYMMETRIC repeats it).
    """
    op.require(0, "float32", "int32")
    border = 1 if str(op.attributes.get("mode", "REFLECT")) == "REFLECT" else 0
    value = op.operands[0]
    for axis, (before, after) in enumerate(op.constant(1).tolist()):
        if before or after:
            value = _fold(b, value, axis, before, after, border)
    return value


def _fold(b: Builder, value: Tensor, axis: int, before: int, after: int, border: int) -> Tensor:
    rank, size = len(value.shape), b.size(value, axis)
    end = size - after
    folded = b.slice(value, axis, before, end)
    inner = end - before
    folds: list[tuple[MixedSize, int, MixedSize]] = []  # the start of a folded part, its size, and its new start
    if before:
        folds.append((0, before, border))
    if after:
        folds.append((end, after, inner - (after + border)))
    for begin, count, place in folds:
        part = b.reverse(b.slice(value, axis, begin, begin + count), [axis])
        padding: list[tuple[MixedSize, MixedSize]] = [(0, 0)] * rank
        padding[axis] = (place, inner - place - count)
        folded = folded + b.pad(part, padding)
    return folded


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
