"""What the engine writes for ops."""

from __future__ import annotations

from litefuse.engine.faults.fault import ENGINE_VERSION, Component, Fault

__all__ = ["OPERATIONS"]

_LEGALIZE = "litefuse.legalize"
_SPLIT = "litefuse.simplify.split_products"
_ELEMENTARY = f"{_LEGALIZE}.arithmetic.elementary"
_EINSUM = f"{_LEGALIZE}.linear_algebra.einsum.Einsum"
_FAKE_QUANTIZE = f"{_LEGALIZE}.dtypes.quantization.FakeQuantize"
_QUANTIZE = f"{_LEGALIZE}.dtypes.quantization.QuantizeAndDequantize"
_SCATTER_UPDATE = f"{_LEGALIZE}.arrays.scatter_update.ScatterUpdate"
_WIDENED = f"{_LEGALIZE}.dtypes.widened.Widened"
_DILATED = f"{_LEGALIZE}.windows.dilated_convolution.DilatedConvolution"
_BLOCKS = f"{_LEGALIZE}.windows.blocks.Blocks"


def _fault(name: str, what: str, *places: str) -> Fault:
    return Fault(name, Component.ENGINE, what, ENGINE_VERSION, places)


OPERATIONS: tuple[Fault, ...] = (
    _fault(
        "squeezed-from-the-last",
        "Where a squeeze is moved before a transposition, axes that are counted from the last are not translated, and "
        "another dimension is dropped, or none.",
        f"{_SPLIT}.squeeze_from_front",
    ),
    _fault(
        "squeezed-after-a-transposition",
        "A transposition and a squeeze with two dynamic dimensions become a squeeze without valid axes.",
        f"{_SPLIT}.squeeze",
    ),
    _fault(
        "bias-of-channels-first",
        "BiasAdd with the channels first is transposed as if its operand had four dimensions.",
        f"{_LEGALIZE}.windows.bias.BiasOfChannelsFirst",
    ),
    _fault(
        "transposed-integer-factor",
        "The second factor of an integer product is transposed to a tensor of unknown rank, and the product is left.",
        f"{_LEGALIZE}.linear_algebra.einsum.IntegerProduct",
    ),
    _fault(
        "transposed-complex-factor",
        "The second factor of a complex product is transposed to a tensor of unknown rank, and the product is left.",
        f"{_LEGALIZE}.arithmetic.complex_numbers.ComplexProduct",
    ),
    _fault(
        "exponential-minus-one",
        "Expm1 becomes exp(x) - 1, whose relative error near 0 has no bound.",
        f"{_ELEMENTARY}.Expm1",
    ),
    _fault(
        "logarithm-of-one-plus",
        "Log1p becomes log(1 + x), whose relative error near 0 has no bound.",
        f"{_ELEMENTARY}.Log1p",
    ),
    _fault(
        "product-with-logarithm-of-one-plus",
        "Xlog1py becomes x log(1 + y), whose relative error near 0 has no bound.",
        f"{_LEGALIZE}.arithmetic.division.Quotient",
    ),
    _fault(
        "softplus",
        "Softplus becomes log(exp(x) + 1), which is infinite from 89 on.",
        f"{_ELEMENTARY}.Softplus",
    ),
    _fault(
        "transform-of-real-numbers",
        "FFT of real numbers becomes RFFT2D, whose result is half as long.",
        f"{_LEGALIZE}.arithmetic.fourier.FourierTransform",
    ),
    _fault(
        "addition-to-infinity",
        "TensorScatterAdd multiplies what it adds to by 0, so an infinity there becomes NaN.",
        f"{_LEGALIZE}.arrays.segments.TensorScatter",
    ),
    _fault(
        "replaced-infinity",
        "TensorScatterUpdate multiplies what it replaces by 0, so an infinity there becomes NaN.",
        _SCATTER_UPDATE,
    ),
    _fault(
        "element-replaced-twice",
        "TensorScatterUpdate adds up the updates of one element.",
        _SCATTER_UPDATE,
    ),
    _fault(
        "band-of-diagonals",
        "The process ends at MatrixDiagV2 and MatrixDiagV3 of several diagonals.",
        f"{_LEGALIZE}.arrays.diagonals.Diagonal",
        f"{_LEGALIZE}.arrays.open_diagonals.OpenDiagonal",
    ),
    _fault(
        "tile-of-an-open-size",
        "Tile along a dynamic dimension is taken for a broadcast by the arithmetic that follows, and left out.",
        f"{_LEGALIZE}.arrays.tile.OpenTile",
    ),
    _fault(
        "einstein-sum-of-one",
        "An Einsum of one operand that sums and reorders labels becomes a transposition of the wrong rank.",
        _EINSUM,
    ),
    _fault(
        "einstein-sum-of-elements",
        "An Einsum that sums over no label becomes a product of matrices, which is refused.",
        _EINSUM,
    ),
    _fault(
        "einstein-sum-over-two-labels",
        "An Einsum that sums over all labels of an operand becomes a product of matrices that do not fit.",
        _EINSUM,
    ),
    _fault(
        "integer-relu6",
        "max(min(x, 6), 0) of integers becomes Relu6, which is left, since LiteRT's takes floats.",
        f"{_LEGALIZE}.arithmetic.clip.IntegerRelu6",
    ),
    _fault(
        "gathered-conversion",
        "What is gathered from a conversion to integers is gathered from its operand, of a dtype that GATHER lacks.",
        f"{_LEGALIZE}.dtypes.casts.CastToInteger",
    ),
    _fault(
        "narrowed-broadcast",
        "A conversion of a broadcast to halves becomes a broadcast of halves, which BROADCAST_TO lacks.",
        f"{_LEGALIZE}.dtypes.casts.CastOfBroadcast",
    ),
    _fault(
        "repeated-columns",
        "The process ends at a concatenation of columns one of which is a product and another of which is repeated.",
        f"{_LEGALIZE}.arrays.concatenation.RepeatedColumns",
    ),
    _fault(
        "sign-of-known-shape",
        "Sign is refused if the types of its operand and of its result differ in what they say of the shape.",
        "litefuse.simplify.neutral_ops",
    ),
    _fault(
        "quantized-to-the-range-of-the-data",
        "QuantizeAndDequantize whose range is that of the data is computed for an empty range.",
        _QUANTIZE,
    ),
    _fault(
        "quantized-with-a-zero-point",
        "QuantizeAndDequantize becomes QUANTIZE with a zero point, whose steps are others.",
        _QUANTIZE,
    ),
    _fault(
        "quantized-to-few-bits",
        "Fake quantization to 2 to 7 bits other than 4 is computed with 8.",
        _FAKE_QUANTIZE,
    ),
    _fault(
        "quantized-to-many-bits",
        "Fake quantization to more than 8 bits becomes QUANTIZE of a dtype that it lacks.",
        _FAKE_QUANTIZE,
    ),
    _fault(
        "quantized-bias",
        "The fake quantization of a bias is dropped.",
        _FAKE_QUANTIZE,
    ),
    _fault(
        "angles-of-a-broadcast",
        "Atan2 of operands of different shapes is refused.",
        f"{_LEGALIZE}.arithmetic.trigonometry.Atan2",
    ),
    _fault(
        "bits-of-complex-numbers",
        "Bitcast of complex numbers is left if all dimensions are static.",
        f"{_LEGALIZE}.arithmetic.complex_numbers.ComplexBits",
    ),
    _fault(
        "convolution-of-open-channels",
        "A convolution of images with a dynamic number of channels is left.",
        f"{_LEGALIZE}.windows.open_channels.OpenChannels",
    ),
    _fault(
        "permuted-sizes",
        "A transposed convolution with the channels first permutes its sizes by an op that is left.",
        f"{_LEGALIZE}.windows.channels_first.PermutedVector",
    ),
    _fault(
        "paddings-of-a-dilated-convolution",
        "A convolution of blocks becomes a dilated one with the padding SAME, whatever the paddings of the blocks.",
        _DILATED,
        _BLOCKS,
    ),
    _fault(
        "strides-of-a-dilated-convolution",
        "A convolution of blocks becomes a dilated one of the same strides, which are those within blocks.",
        _DILATED,
        _BLOCKS,
    ),
    _fault(
        "padded-suppression",
        "Non-maximum suppression returns the padded result of LiteRT's op also where none was asked for.",
        f"{_LEGALIZE}.images.non_max_suppression.NonMaxSuppression",
    ),
    _fault(
        "slice-at-int64-positions",
        "Slice gets constant sizes of int32 beside positions of int64, which LiteRT reads as of one dtype.",
        f"{_LEGALIZE}.arrays.strided_slice.SliceAtComputedPositions",
    ),
    _fault(
        "gradient-of-half-sigmoid",
        "The process ends at SigmoidGrad of any dtype but float32.",
        f"{_LEGALIZE}.training.gradients.Gradient",
        _WIDENED,
    ),
    _fault(
        "half-sum-of-squares",
        "L2Loss of halves is 0.",
        _WIDENED,
    ),
    _fault(
        "half-softsign",
        "Softsign of halves adds a float32 to them, and is refused.",
        _WIDENED,
    ),
    _fault(
        "half-factors",
        "Products of halves become FULLY_CONNECTED, which the runtime refuses.",
        _WIDENED,
    ),
    _fault(
        "unsigned-additions",
        "TensorScatterAdd of unsigned integers becomes additions that the dialect refuses.",
        _WIDENED,
    ),
    _fault(
        "unsigned-ones",
        "OnesLike and ZerosLike of unsigned integers become constants that the dialect refuses.",
        f"{_LEGALIZE}.arrays.like.Like",
    ),
    _fault(
        "unsigned-band",
        "MatrixBandPart of unsigned integers makes constants that the dialect refuses.",
        f"{_LEGALIZE}.arrays.moved_elements.Carried",
    ),
    _fault(
        "unranked-padding",
        "What is padded or transposed for an op has no rank in the file, so XNNPACK takes none of it.",
        "litefuse.shapes.result_types.TypeResults",
    ),
    _fault(
        "operand-of-unknown-rank",
        "An op on a tensor of unknown rank is left, even if its result says the rank; shapes are not inferred.",
        "litefuse.shapes.inference",
        "litefuse.shapes.call_types.RefineCallTypes",
    ),
    _fault(
        "shape-assertions",
        "EnsureShape and Identity whose result says more of the shape than the operand are left.",
        "litefuse.shapes.forward_values.ForwardValues",
    ),
)
"""In the order of what they are about."""
