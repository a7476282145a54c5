"""Faults in the engine's lowering of ops."""

from __future__ import annotations

from tests.ir.engine.fault_table.fault import ENGINE_VERSION, Component, Fault

_LEGALIZE = "litefuse.passes.legalize"
_SPLIT = "litefuse.passes.simplify.split_products"
_ELEMENTARY = f"{_LEGALIZE}.arithmetic.elementary"
_EINSUM = f"{_LEGALIZE}.linear_algebra.einsum.Einsum"
_FAKE_QUANTIZE = f"{_LEGALIZE}.dtypes.quantization.FakeQuantize"
_QUANTIZE = f"{_LEGALIZE}.dtypes.quantization.quantize_and_dequantize"
_SCATTER_UPDATE = f"{_LEGALIZE}.arrays.strided_slice.scatter_update"
_WIDENED = f"{_LEGALIZE}.dtypes.widened.Widened"
_DILATED = f"{_LEGALIZE}.windows.dilated_convolution.DilatedConvolution"
_COLUMNS = f"{_LEGALIZE}.arrays.concatenation.FactoredColumns"
_BLOCKS = f"{_LEGALIZE}.windows.blocks.Blocks"


def _fault(name: str, what: str, *places: str) -> Fault:
    return Fault(name, Component.ENGINE, what, ENGINE_VERSION, places)


OPERATIONS: tuple[Fault, ...] = (
    _fault(
        "squeezed-from-the-last",
        "If a squeeze is moved before a transposition, negative axes are not translated, and another dimension is "
        "dropped, or none.",
        f"{_SPLIT}.squeeze_from_front",
    ),
    _fault(
        "squeezed-after-a-transposition",
        "A transposition and a squeeze with two dynamic dimensions become a squeeze without valid axes.",
        f"{_SPLIT}.squeeze",
    ),
    _fault(
        "bias-of-channels-first",
        "BiasAdd with channels first is transposed as if its operand had rank 4.",
        f"{_LEGALIZE}.windows.blocks.bias",
    ),
    _fault(
        "transposed-integer-factor",
        "The second factor of an integer matrix product is transposed to a tensor of unknown rank, and the product is "
        "not lowered.",
        f"{_LEGALIZE}.linear_algebra.einsum.integer_product",
    ),
    _fault(
        "transposed-complex-factor",
        "The second factor of a complex matrix product is transposed to a tensor of unknown rank, and the product is "
        "not lowered.",
        f"{_LEGALIZE}.arithmetic.complex_numbers.complex_product",
    ),
    _fault(
        "exponential-minus-one",
        "Expm1 becomes exp(x) - 1, whose relative error near 0 is unbounded.",
        f"{_ELEMENTARY}.exponential_minus_one",
    ),
    _fault(
        "logarithm-of-one-plus",
        "Log1p becomes log(1 + x), whose relative error near 0 is unbounded.",
        f"{_ELEMENTARY}.logarithm_of_one_plus",
    ),
    _fault(
        "product-with-logarithm-of-one-plus",
        "Xlog1py becomes x log(1 + y), whose relative error near 0 is unbounded.",
        f"{_LEGALIZE}.arithmetic.division.quotient",
    ),
    _fault(
        "softplus",
        "Softplus becomes log(exp(x) + 1), which overflows to infinity from x = 89 on.",
        f"{_ELEMENTARY}.Softplus",
    ),
    _fault(
        "transform-of-real-numbers",
        "FFT of real numbers becomes RFFT2D, which returns only half of the spectrum.",
        f"{_LEGALIZE}.arithmetic.fourier.fourier_transform",
    ),
    _fault(
        "addition-to-infinity",
        "TensorScatterAdd multiplies the elements that it adds to by 0, so an infinity among them becomes NaN.",
        f"{_LEGALIZE}.arrays.segments.tensor_scatter",
    ),
    _fault(
        "replaced-infinity",
        "TensorScatterUpdate multiplies the elements that it replaces by 0, so an infinity among them becomes NaN.",
        _SCATTER_UPDATE,
    ),
    _fault(
        "element-replaced-twice",
        "TensorScatterUpdate adds several updates of one element.",
        _SCATTER_UPDATE,
    ),
    _fault(
        "band-of-diagonals",
        "The process crashes at MatrixDiagV2 and MatrixDiagV3 of several diagonals.",
        f"{_LEGALIZE}.arrays.diagonals.Diagonal",
        f"{_LEGALIZE}.arrays.open_diagonals.OpenDiagonal",
    ),
    _fault(
        "tile-of-an-open-size",
        "Tile along a dynamic dimension is treated as a broadcast for the arithmetic that follows, and removed.",
        f"{_LEGALIZE}.arrays.moved_elements.OpenTile",
    ),
    _fault(
        "einstein-sum-of-one",
        "An Einsum of one operand that sums and reorders labels becomes a transposition of the wrong rank.",
        _EINSUM,
    ),
    _fault(
        "einstein-sum-of-elements",
        "An Einsum that sums over no label becomes a matrix product, which is refused.",
        _EINSUM,
    ),
    _fault(
        "einstein-sum-over-two-labels",
        "An Einsum that sums over all labels of an operand becomes a product of matrices whose shapes do not match.",
        _EINSUM,
    ),
    _fault(
        "einstein-sum-over-an-inner-label",
        "An Einsum over a label that is not the first operand's last one becomes FULLY_CONNECTED without the first "
        "operand's transposition, where the second has several labels before that.",
        _EINSUM,
    ),
    _fault(
        "integer-relu6",
        "max(min(x, 6), 0) of integers becomes Relu6, which is not lowered, since LiteRT's RELU6 supports floats only.",
        f"{_LEGALIZE}.arithmetic.clip.integer_relu6",
    ),
    _fault(
        "gathered-conversion",
        "A gather from a cast becomes a gather from the cast's operand, whose dtype GATHER may not support.",
        "litefuse.ir.engine.hidden_casts",
    ),
    _fault(
        "short-windows",
        "Slices at constant places that GatherNd takes become SLICE, which does not take int16.",
        _WIDENED,
    ),
    _fault(
        "int64-axes-of-roll",
        "Roll along several axes of int64 rolls along the first one alone.",
        f"{_LEGALIZE}.arrays.moved_elements.roll",
    ),
    _fault(
        "zero-of-other-shape",
        "MulNoNan of float64 by a scalar 0 becomes that scalar, whatever the result's shape, and is refused.",
        f"{_LEGALIZE}.arithmetic.division.quotient",
    ),
    _fault(
        "negated-comparison",
        "A negated comparison of floats becomes the opposite one, which is not true of NaN.",
        f"{_LEGALIZE}.arithmetic.comparison.NegatedComparison",
    ),
    _fault(
        "difference-from-itself",
        "The difference of a value from itself is dropped from a sum, though it is NaN for an infinity.",
        f"{_LEGALIZE}.arithmetic.comparison.DifferenceFromItself",
    ),
    _fault(
        "order-of-conditions",
        "A comparison of 0 with a cast condition that is always true, or never, becomes ZEROS_LIKE of conditions, "
        "which the dialect refuses.",
        f"{_LEGALIZE}.arithmetic.comparison.OrderOfConditions",
    ),
    _fault(
        "end-behind-the-last",
        "A slice whose constant end is behind the last element becomes SLICE of more elements than there are, which "
        "the dialect refuses.",
        "litefuse.passes.simplify.slices.bound_slice",
    ),
    _fault(
        "positions-of-int64",
        "Constant positions of int64 that are beyond int32 make SLICE begin behind the last element, which the runtime "
        "refuses.",
        "litefuse.passes.simplify.slices.bound_slice",
    ),
    _fault(
        "ellipsis-of-int64",
        "The constants of int64 of a slice with an ellipsis are read as int32, each number as two.",
        "litefuse.passes.simplify.slices.bound_slice",
    ),
    _fault(
        "narrowed-broadcast",
        "A cast of a broadcast to float16 becomes a broadcast of float16, which BROADCAST_TO does not support.",
        f"{_LEGALIZE}.dtypes.casts.CastOfBroadcast",
    ),
    _fault(
        "repeated-columns",
        "The process crashes at a concatenation of columns one of which is a product and another of which is repeated.",
        _COLUMNS,
    ),
    _fault(
        "neutral-element-of-halves",
        "A product or quotient that is moved behind a concatenation of columns multiplies or divides other columns by "
        "0 in place of 1, unless they are of float32.",
        _COLUMNS,
    ),
    _fault(
        "neutral-element-in-front",
        "A difference from a scalar, or a quotient of one, that is moved behind a concatenation of columns negates or "
        "inverts other columns.",
        _COLUMNS,
    ),
    _fault(
        "sign-of-known-shape",
        "Sign is refused if the types of its operand and its result differ in their known dimensions.",
        "litefuse.passes.simplify.neutral_ops",
    ),
    _fault(
        "quantized-to-the-range-of-the-data",
        "QuantizeAndDequantize with the range of the data is computed for an empty range.",
        _QUANTIZE,
    ),
    _fault(
        "quantized-with-a-zero-point",
        "QuantizeAndDequantize becomes QUANTIZE with a zero point, whose quantization steps differ.",
        _QUANTIZE,
    ),
    _fault(
        "quantized-to-few-bits",
        "Fake quantization to 2 to 7 bits, except 4, is computed with 8 bits.",
        _FAKE_QUANTIZE,
    ),
    _fault(
        "quantized-to-many-bits",
        "Fake quantization to more than 8 bits becomes QUANTIZE to a dtype that it does not support.",
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
        "Bitcast of complex numbers is not lowered if all dimensions are static.",
        f"{_LEGALIZE}.arithmetic.complex_numbers.complex_bits",
    ),
    _fault(
        "broadcast-of-complex-numbers",
        "The part of complex numbers that are broadcast, Real or Imag of BroadcastTo, ends the process.",
        f"{_LEGALIZE}.arithmetic.complex_numbers.complex_broadcast",
    ),
    _fault(
        "convolution-of-open-channels",
        "A convolution of images with a dynamic number of channels is not lowered.",
        f"{_LEGALIZE}.windows.filters.open_channels",
    ),
    _fault(
        "permuted-sizes",
        "A transposed convolution with channels first permutes its sizes with an op that is not lowered.",
        f"{_LEGALIZE}.windows.blocks.permuted_vector",
    ),
    _fault(
        "paddings-of-a-dilated-convolution",
        "A convolution between SpaceToBatchND and BatchToSpaceND becomes a dilated one with SAME padding, whatever "
        "their paddings.",
        _DILATED,
        _BLOCKS,
    ),
    _fault(
        "strides-of-a-dilated-convolution",
        "A convolution between SpaceToBatchND and BatchToSpaceND becomes a dilated one with the same strides, which "
        "applied within the blocks.",
        _DILATED,
        _BLOCKS,
    ),
    _fault(
        "padded-suppression",
        "Non-maximum suppression returns the padded result of LiteRT's op even if padding was not requested.",
        f"{_LEGALIZE}.images.non_max_suppression.non_max_suppression",
    ),
    _fault(
        "slice-at-int64-positions",
        "Slice gets constant int32 sizes with int64 begins, which LiteRT reads as if they had one dtype.",
        f"{_LEGALIZE}.arrays.strided_slice.SliceAtComputedPositions",
    ),
    _fault(
        "gradient-of-half-sigmoid",
        "The process crashes at SigmoidGrad of any dtype except float32.",
        f"{_LEGALIZE}.training.gradients.gradient",
        _WIDENED,
    ),
    _fault(
        "half-sum-of-squares",
        "L2Loss of float16 is 0.",
        _WIDENED,
    ),
    _fault(
        "half-softsign",
        "Softsign of float16 or float64 adds a float32 constant, and is refused.",
        _WIDENED,
    ),
    _fault(
        "half-factors",
        "Matrix products of float16 become FULLY_CONNECTED, which the runtime refuses.",
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
        f"{_LEGALIZE}.arrays.like.like",
    ),
    _fault(
        "unsigned-band",
        "MatrixBandPart of unsigned integers creates constants that the dialect refuses.",
        f"{_LEGALIZE}.arrays.moved_elements.moved_elements",
    ),
    _fault(
        "unranked-padding",
        "Padded or transposed operands that the engine creates for an op have no rank in the file, so XNNPACK does not "
        "run their ops.",
        "litefuse.ir.shapes.result_types.type_results",
    ),
    _fault(
        "operand-of-unknown-rank",
        "An op on a tensor of unknown rank is not lowered, even if the result type has a rank; shapes are not "
        "inferred.",
        "litefuse.ir.shapes.inference",
        "litefuse.ir.shapes.call_types.refine_call_types",
    ),
    _fault(
        "shape-assertions",
        "EnsureShape and Identity are not lowered if the result type has more known dimensions than the operand's.",
        "litefuse.ir.shapes.forward_values.ForwardValues",
    ),
)
"""The faults, grouped by subject."""
