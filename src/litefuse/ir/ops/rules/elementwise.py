"""Elementwise ops."""

from __future__ import annotations

from litefuse.ir.ops.facts import (
    Answer,
    Dims,
    Op,
    PartialDims,
    Rule,
    ShapeError,
    Undecided,
    broadcast_shapes,
    meet,
    meet_dims,
    normal_axis,
    text,
)

_UNARY = (
    "Abs Acos Acosh Angle Asin Asinh Atan Atanh BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 Cast Ceil "
    "CheckNumerics ComplexAbs Conj Cos Cosh Cumsum Cumprod CumulativeLogsumexp Digamma Elu Erf Erfc Erfinv Exp Expm1 "
    "FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsPerChannel FFT FFT2D FFT3D Floor "
    "GuaranteeConst IFFT IFFT2D IFFT3D Identity Imag Inv Invert IsFinite IsInf IsNan LeakyRelu Lgamma Log Log1p "
    "LogicalNot LogSoftmax MatrixBandPart Ndtri Neg OnesLike PopulationCount PreventGradient Print "
    "QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 QuantizeAndDequantizeV4 RandomShuffle Real Reciprocal Relu Relu6 "
    "ReverseV2 Rint Roll Round Rsqrt Selu Sigmoid Sign Sin Sinh Snapshot Softmax Softplus Softsign Sqrt Square "
    "StatelessShuffle StopGradient Tan Tanh TensorScatterAdd TensorScatterMax TensorScatterMin TensorScatterSub "
    "TensorScatterUpdate TensorStridedSliceUpdate XlaDynamicUpdateSlice ZerosLike"
)
_IMAGES = "AdjustContrastv2 AdjustHue AdjustSaturation HSVToRGB RGBToHSV"
_BINARY = (
    "Add AddV2 Atan2 BitwiseAnd BitwiseOr BitwiseXor Complex Div DivNoNan Equal FloorDiv FloorMod "
    "Greater GreaterEqual Igamma Igammac LeftShift Less LessEqual LogicalAnd LogicalOr Maximum Minimum Mod Mul "
    "MulNoNan NextAfter NotEqual Polygamma Pow RealDiv RightShift SquaredDifference Sub TruncateDiv TruncateMod Xdivy "
    "Xlog1py Xlogy Zeta SelectV2"
)
BROADCASTING = frozenset(_BINARY.split())
"""The ops whose operands are all broadcast to each other."""

# The derivative of an activation has the shape of its factor.
_GRADIENTS = "EluGrad Relu6Grad ReluGrad RsqrtGrad SeluGrad SigmoidGrad SoftplusGrad SqrtGrad TanhGrad"


def _as_first(op: Op) -> Answer:
    return op.shape(0)


def _as_all(op: Op) -> Answer:
    """All operands have the shape of the result."""
    result: PartialDims = None
    for operand in op.operands:
        result = meet(result, operand.shape)
    return result


def _broadcast(op: Op) -> Answer:
    shapes: list[Dims] = [op.shape(index) for index in range(len(op.operands))]
    if op.name in {"Equal", "NotEqual"} and not op.attribute("incompatible_shape_error", True):
        try:
            return broadcast_shapes(shapes)
        except ShapeError:  # tensors of incompatible shapes are unequal
            return ()
    return broadcast_shapes(shapes)


def _select(op: Op) -> Answer:
    """``Select``, whose condition may also select whole rows."""
    result = meet(op.operands[1].shape, op.operands[2].shape)
    condition = op.operands[0].shape
    if result is not None and condition and len(condition) == len(result):
        return meet(result, condition)
    return result


def _bias_add(op: Op) -> Answer:
    shape, (size,) = op.shape(0), op.ranked(1, 1)
    if len(shape) < 2:
        raise ShapeError(f"the value of shape {text(shape)} has no channels")
    channel = 1 if op.attribute("data_format", "NHWC") == "NCHW" else len(shape) - 1
    bias: PartialDims = tuple(size if axis == channel else None for axis in range(len(shape)))
    return meet(shape, bias)


def _reverse_sequence(op: Op) -> Answer:
    shape, (lengths,) = op.shape(0), op.ranked(1, 1)
    batch = normal_axis(op.attribute("batch_dim", 0), len(shape))
    return meet(shape, tuple(lengths if axis == batch else None for axis in range(len(shape))))


def _as_image(op: Op) -> Answer:
    """Has the shape of the first operand, which has at least three dimensions."""
    shape = op.shape(0)
    if len(shape) < 3:
        raise ShapeError(f"{text(shape)} is not an image")
    # Color channels are always three.
    return (*shape[:-1], meet_dims(shape[-1], 3)) if op.name in {"HSVToRGB", "RGBToHSV"} else shape


def _bitcast(op: Op) -> Answer:
    shape = op.shape(0)
    before, after = _width(op.operands[0].dtype), _width(op.results[0].dtype)
    if before > after:
        return (*shape, before // after)
    if before == after:
        return shape
    if not shape or (isinstance(shape[-1], int) and shape[-1] != after // before):
        raise ShapeError(f"the last dimension of {text(shape)} must be {after // before}")
    return shape[:-1]


def _width(dtype: str) -> int:
    digits = "".join(filter(str.isdigit, dtype.removeprefix("!tf_type.")))
    if not digits:
        raise Undecided(f"{dtype} has no width")
    return int(digits) * (2 if dtype.startswith("complex") else 1)


def _batch_norm(op: Op) -> Answer:
    """``FusedBatchNorm``: the value, statistics of each channel, and reserved outputs, which only GPU kernels fill."""
    layout: str = op.attribute("data_format", "NHWC")
    shape = op.ranked(0, len(layout))
    first = layout.startswith("NC")
    channels = shape[1 if first else len(shape) - 1]
    statistics: PartialDims = (channels,)
    for index in range(1, 5):
        # The mean and the variance may be empty in training.
        if not (op.attribute("is_training", False) and index > 2):
            statistics = meet(statistics, op.operands[index].shape)
    assert statistics is not None
    value = list(shape)
    value[1 if first else len(shape) - 1] = channels if statistics[0] is None else statistics[0]
    return [tuple(value), *[statistics] * 4, *[(0,)] * (len(op.results) - 5)]


RULES: dict[str, Rule] = {
    **dict.fromkeys(_UNARY.split(), _as_first),
    **dict.fromkeys(_BINARY.split(), _broadcast),
    **dict.fromkeys(_GRADIENTS.split(), _as_all),
    **dict.fromkeys(_IMAGES.split(), _as_image),
    "AddN": _as_all,
    "BiasAdd": _bias_add,
    "Bitcast": _bitcast,
    "ApproximateEqual": _as_all,
    "ClipByValue": _as_first,
    "Cross": _as_all,
    "LRN": lambda op: op.ranked(0, 4),
    "InvertPermutation": lambda op: op.ranked(0, 1),
    "ReverseSequence": _reverse_sequence,
    "EnsureShape": lambda op: op.operands[0].shape,
    "FusedBatchNorm": _batch_norm,
    "FusedBatchNormV2": _batch_norm,
    "FusedBatchNormV3": _batch_norm,
    "IdentityN": lambda op: [operand.shape for operand in op.operands],
    "LookupTableFindV2": lambda op: op.shape(1),
    "Select": _select,
}
