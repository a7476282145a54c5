"""Which ops are rewritten before the engine sees them, because it makes something wrong of some of their forms.

The table says so without loading what rewrites them: most models have no such op.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from litefuse.legalize.decomposition import Decomposition

__all__ = ["EARLY", "Early"]


class Early(NamedTuple):
    """What rewrites an op early.

    Attributes:
        module: The decomposition's module in this room, with its family.
        decomposition: Its name.
        dtypes: The dtypes of an operand for which it may be needed; None: any. Whether it is,
            ``Decomposition.before_lowering`` says.
        attribute: The name of an attribute, and the text that it must have.
        above_rank: The operand must have more dimensions.
        operand: Which operand; as a rule the first.
        empty: A result must be known to have no elements.
        of_none: The operand must be known to have no elements.
        common_bits: The names of two attributes, masks that must have a bit in common.
        optional: Where the op cannot be rewritten, the engine may have it, which makes something right of it or leaves
            it. Any other op is withheld from the engine then.
        last: It is tried after all other ops: it may be part of what one of them is rewritten with.
    """

    module: str
    decomposition: str
    dtypes: frozenset[str] | None = None
    attribute: tuple[str, str] | None = None
    above_rank: int = -1
    operand: int = 0
    empty: bool = False
    of_none: bool = False
    common_bits: tuple[str, str] | None = None
    optional: bool = False
    last: bool = False

    def load(self) -> Decomposition:
        """An instance of it."""
        module = importlib.import_module(f"litefuse.legalize.{self.module}")
        cls: type[Decomposition] = getattr(module, self.decomposition)
        return cls()


_HALVES = frozenset({"bfloat16", "float16"})
_UNSIGNED = frozenset({"uint8", "uint16", "uint32", "uint64"})
# The engine transposes the first factor of a complex product to an unknown rank.
_COMPLEX_PRODUCT = Early("arithmetic.complex_numbers", "ComplexProduct", frozenset({"complex64"}))
# Of these dtypes the engine refuses the op, or writes one that the runtime refuses, dies of, or computes something else
# with.
_WIDENED = Early("dtypes.widened", "Widened", _HALVES)
_COMPARED = Early("dtypes.widened", "Widened", frozenset({"uint8"}))
# The engine gathers, adds and scatters: of what falls on one place, the last one counts.
_SCATTER = Early("arrays.segments", "TensorScatter")
_WIDENED_SCATTER = Early("dtypes.widened", "Widened", _HALVES | {"int8", "int16", "uint8", "uint16", "uint32"})
_LIKE = Early("arrays.like", "Like", _UNSIGNED | {"complex64"})
# The engine takes every diagonal for the main one, and dies of bands.
_DIAGONALS = (Early("arrays.diagonals", "Diagonal"), Early("arrays.open_diagonals", "OpenDiagonal"))
# The engine quantizes with a zero point, whose grid is another one, and takes a range that is not given for an empty.
_QUANTIZED = (_WIDENED, Early("dtypes.quantization", "QuantizeAndDequantize"))
# The engine takes any number of bits for 8, or for a dtype that LiteRT's op lacks, and a narrow range for a full one.
_FAKE_QUANTIZED = Early("dtypes.quantization", "FakeQuantize")
_BLOCKS = Early("windows.blocks", "Blocks")
# The engine takes a padded result for that of forms without padding.
_SUPPRESSION = Early("images.non_max_suppression", "NonMaxSuppression")
# XNNPACK takes them, and fails when the model is loaded.
_DELEGATED = _HALVES | {"float32"}
_OF_ROWS = Early("arrays.many_dimensions", "OfRows", _DELEGATED, above_rank=6)
_PIECES = Early("arrays.moved_elements", "Pieces", _DELEGATED, above_rank=6)
_REDUCTION = Early("arrays.many_dimensions", "Reduction", above_rank=6)
# LiteRT's own kernel starts from the largest finite numbers, XNNPACK's from infinity.
_EXTREME = Early("arrays.many_dimensions", "ExtremeOfNone", frozenset({"float32"}), of_none=True)
# LiteRT's RFFT2D takes powers of two only, and is wrong for 1.
_FOURIER = Early("arithmetic.fourier", "RealFourierTransform")
# The engine makes a constant of the zeros, also where a size is open.
_QUOTIENT = Early("arithmetic.division", "Quotient", frozenset({"float32"}))
# The engine turns it over where it is transposed.
_RECIPROCAL = Early("arithmetic.division", "Reciprocal", frozenset({"float32"}))
# XNNPACK takes a size of 0 for all that follows.
_EMPTY_SLICE = Early("arrays.strided_slice", "EmptySlice", empty=True)
# LiteRT's kernel takes the first place, where TensorFlow takes the one that is named.
_MASKED_PLACE = Early("arrays.strided_slice", "PlaceDespiteMask", common_bits=("begin_mask", "shrink_axis_mask"))
# The engine dies of folding them.
_CONSTANT_STRINGS = Early("strings.strings", "ConstantStrings", frozenset({"string"}))
# In ops that are made when the engine has run, it dies of constants of strings too.
_UNIQUE_STRINGS = Early("arrays.searching", "UniqueCounts", frozenset({"string"}))
_MOVED_STRINGS = Early("strings.strings", "MovedStrings", frozenset({"string"}))
# There is a loop in it, which only the engine can lower, and the key is of a dtype that LiteRT lacks.
_RANDOM = Early("random.stateless_random", "StatelessRandom")
_TRUNCATED = Early("random.stateless_random", "StatelessTruncatedNormal")

EARLY: Mapping[str, tuple[Early, ...]] = MappingProxyType(
    {
        "All": (_REDUCTION,),
        "Any": (_REDUCTION,),
        # LiteRT's does not broadcast.
        "Atan2": (Early("arithmetic.trigonometry", "Atan2"),),
        "BatchMatMul": (_COMPLEX_PRODUCT, _WIDENED),
        "BatchMatMulV2": (_COMPLEX_PRODUCT, _WIDENED),
        "BatchMatMulV3": (_COMPLEX_PRODUCT, _WIDENED),
        # The engine transposes the operand as if it were an image, whatever its rank.
        "BiasAdd": (Early("windows.bias", "BiasOfChannelsFirst", attribute=("data_format", "NCHW")),),
        # The engine makes one convolution of blocks around one, whatever they are; LiteRT's takes images only.
        "BatchToSpaceND": (Early("windows.dilated_convolution", "DilatedConvolution"), _BLOCKS),
        "BroadcastTo": (_CONSTANT_STRINGS, _MOVED_STRINGS),
        # The engine exchanges it with a broadcast, to one of a dtype that LiteRT's op lacks.
        "Cast": (
            Early("dtypes.casts", "CastOfBroadcast", frozenset({"float32"})),
            # LiteRT's op has no float64.
            Early("dtypes.casts", "CastOfQuotient", frozenset({"float64"}), optional=True),
            Early("dtypes.casts", "CastOfFraction", frozenset({"float64"}), optional=True),
            # The engine gathers from the operand what is gathered from the result, and LiteRT's op lacks the dtype.
            Early("dtypes.casts", "CastToInteger", _HALVES | {"uint16", "uint32"}),
        ),
        # A loop can be lowered by the engine only.
        "CombinedNonMaxSuppression": (Early("images.combined_non_max_suppression", "CombinedNonMaxSuppression"),),
        # The engine dies of some columns that are repeated.
        "ConcatV2": (
            _CONSTANT_STRINGS,
            Early("arrays.concatenation", "RepeatedColumns", frozenset({"float32"})),
            Early("arrays.many_dimensions", "Concatenation", _DELEGATED, above_rank=6),
        ),
        # The engine writes it, but LiteRT's kernel takes one group only.
        "Conv3D": (Early("windows.grouped_volumes", "GroupedVolumes", frozenset({"float32"})),),
        # Where the size is open, there is a loop in it.
        "Cumprod": (Early("arithmetic.cumprod", "Cumprod"),),
        "CumulativeLogsumexp": (Early("training.losses", "CumulativeLogsumexp"),),
        "DivNoNan": (_QUOTIENT,),
        # The engine takes the sum over a label for a transposition, and products without a sum for those of matrices.
        "Einsum": (_WIDENED, Early("linear_algebra.einsum", "Einsum")),
        "Equal": (_COMPARED,),
        "ExpandDims": (_CONSTANT_STRINGS,),
        # The engine writes the plain formulas, whose relative errors near 0 have no bound.
        "Expm1": (Early("arithmetic.elementary", "Expm1"),),
        "GatherV2": (_CONSTANT_STRINGS, _MOVED_STRINGS),
        "Log1p": (Early("arithmetic.elementary", "Log1p"),),
        "FakeQuantWithMinMaxArgs": (_FAKE_QUANTIZED,),
        "FakeQuantWithMinMaxVars": (_FAKE_QUANTIZED,),
        "FakeQuantWithMinMaxVarsPerChannel": (_FAKE_QUANTIZED,),
        # The engine takes the one of real numbers for RFFT, whose result is half as long.
        "FFT": (Early("arithmetic.fourier", "FourierTransform"),),
        "Inv": (_RECIPROCAL,),
        # The engine's is never true.
        "IsInf": (Early("arithmetic.comparison", "Classification"),),
        # The engine writes ops whose kernels compute something else with halves.
        "L2Loss": (_WIDENED,),
        "ListDiff": (Early("arrays.searching", "ListDiff", frozenset({"string"})),),
        # The engine's folds a constant wrongly when a size is open.
        "Lgamma": (_WIDENED, Early("arithmetic.gamma", "Gamma")),
        "LogSoftmax": (_OF_ROWS,),
        # The engine transposes the operand of a product of integers, and leaves it without a shape.
        "MatMul": (
            _COMPLEX_PRODUCT,
            Early("linear_algebra.einsum", "IntegerProduct", frozenset({"int32", "int64"})),
            _WIDENED,
        ),
        # The engine dies of unsigned constants.
        "MatrixBandPart": (Early("arrays.moved_elements", "Carried", frozenset({"uint32", "uint64"})),),
        "Max": (_EXTREME, _REDUCTION),
        "MatrixDiagV2": _DIAGONALS,
        "MatrixDiagV3": _DIAGONALS,
        "MatrixSetDiagV2": _DIAGONALS,
        "MatrixSetDiagV3": _DIAGONALS,
        "Maximum": (_WIDENED,),
        # The engine's has no room for the sum.
        "Mean": (
            Early("arithmetic.mean", "IntegerMean", frozenset({"uint8"})),
            # A mean of means is rounded twice.
            Early("arithmetic.mean", "IntegerMean", frozenset({"int8", "int16", "int32", "int64"}), above_rank=6),
            _REDUCTION,
        ),
        "Min": (_EXTREME, _REDUCTION),
        "Minimum": (_WIDENED,),
        "MulNoNan": (_QUOTIENT,),
        "NonMaxSuppressionV3": (_SUPPRESSION,),
        "NonMaxSuppressionV4": (_SUPPRESSION,),
        "NonMaxSuppressionV5": (_SUPPRESSION,),
        "NotEqual": (_COMPARED,),
        "OnesLike": (_LIKE,),
        # Of halves the engine makes a concatenation.
        "Pack": (_CONSTANT_STRINGS, Early("arrays.many_dimensions", "Stack", _HALVES, above_rank=5)),
        "Prod": (_REDUCTION,),
        "QuantizeAndDequantizeV2": _QUANTIZED,
        "QuantizeAndDequantizeV4": _QUANTIZED,
        "RFFT": (_FOURIER,),
        "RFFT2D": (_FOURIER,),
        # The engine makes RSQRT of the power -0.5, and POW of all powers of many dimensions.
        "Pow": (Early("arithmetic.powers", "Power", frozenset({"float32", "int32", "int64"})),),
        "Reciprocal": (_RECIPROCAL,),
        "Reshape": (_CONSTANT_STRINGS,),
        "ReverseSequence": (_MOVED_STRINGS,),
        # LiteRT's takes dimensions side by side only, and at least one.
        "ReverseV2": (Early("arrays.moved_elements", "Reverse"),),
        # XNNPACK's of 0 is no number.
        "Rsqrt": (Early("arithmetic.elementary", "ReciprocalRoot", frozenset({"float32"})),),
        # LiteRT's fails when a segment is left out.
        "SegmentSum": (Early("arrays.segments", "Segment"),),
        # The engine dies of all but float32.
        "SigmoidGrad": (
            _WIDENED,
            Early("training.gradients", "Gradient", frozenset({"complex128", "complex64", "float64"})),
        ),
        "Slice": (
            _CONSTANT_STRINGS,
            _MOVED_STRINGS,
            _EMPTY_SLICE,
            # The engine makes int32 of constant sizes, but not of positions beside them.
            Early("arrays.strided_slice", "SliceAtComputedPositions", frozenset({"int64"}), operand=1),
        ),
        "Softmax": (_OF_ROWS,),
        "SpaceToBatchND": (_BLOCKS._replace(last=True),),
        # The engine writes a formula that is infinite from 89 on.
        "Softplus": (Early("arithmetic.elementary", "Softplus", frozenset({"float32"})),),
        "Softsign": (_WIDENED,),
        "Split": (_CONSTANT_STRINGS._replace(operand=1), _PIECES._replace(operand=1)),
        "SplitV": (_CONSTANT_STRINGS, _PIECES),
        "Squeeze": (_CONSTANT_STRINGS,),
        "StatelessMultinomial": (Early("random.stateless_random", "StatelessMultinomial"),),
        "StatelessRandomNormal": (_RANDOM,),
        "StatelessRandomNormalV2": (_RANDOM,),
        "StatelessRandomUniform": (_RANDOM,),
        "StatelessRandomUniformFullInt": (_RANDOM,),
        "StatelessRandomUniformFullIntV2": (_RANDOM,),
        "StatelessRandomUniformInt": (_RANDOM,),
        "StatelessRandomUniformIntV2": (_RANDOM,),
        "StatelessRandomUniformV2": (_RANDOM,),
        "StatelessShuffle": (Early("random.stateless_random", "StatelessShuffle"),),
        "StatelessTruncatedNormal": (_TRUNCATED,),
        "StatelessTruncatedNormalV2": (_TRUNCATED,),
        "StridedSlice": (_CONSTANT_STRINGS, _EMPTY_SLICE, _MASKED_PLACE),
        "Sum": (_REDUCTION,),
        "TensorScatterAdd": (_WIDENED_SCATTER, _SCATTER),
        "TensorScatterSub": (_WIDENED_SCATTER, _SCATTER),
        # The engine's makes no number of an infinity that is replaced, and adds up what falls on one place.
        "TensorScatterUpdate": (Early("arrays.scatter_update", "ScatterUpdate"),),
        # The engine leaves it out before sums and products where the repeated size is open.
        "Tile": (Early("arrays.tile", "OpenTile"),),
        "Transpose": (_CONSTANT_STRINGS,),
        "Unique": (Early("arrays.searching", "UniqueStrings", frozenset({"string"})),),
        "UniqueV2": (_UNIQUE_STRINGS,),
        "UniqueWithCounts": (_UNIQUE_STRINGS,),
        "Unpack": (_CONSTANT_STRINGS,),
        "Xdivy": (_QUOTIENT,),
        "Xlog1py": (_QUOTIENT,),
        "Xlogy": (_QUOTIENT,),
        "ZerosLike": (_LIKE,),
    }
)
"""What is tried for each op, in this order."""
