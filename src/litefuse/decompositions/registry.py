"""Which decompositions are for which op."""

from __future__ import annotations

from litefuse.decompositions.aliases import Alias
from litefuse.decompositions.batch_norm import FusedBatchNorm, FusedBatchNormGradient
from litefuse.decompositions.bessel import Bessel
from litefuse.decompositions.bias import BiasOfChannelsFirst
from litefuse.decompositions.bincount import Bincount, RaggedBincount
from litefuse.decompositions.bitwise import Bitwise, PopulationCount, Shift
from litefuse.decompositions.blocks import Blocks, LegacyBlocks
from litefuse.decompositions.casts import CastOfBroadcast, CastOfFraction, CastOfQuotient, CastToInteger
from litefuse.decompositions.channels_first import ChannelsFirst, PermutedVector
from litefuse.decompositions.clip import ClipByValue, IntegerRelu6
from litefuse.decompositions.colors import AdjustColors, AdjustContrast, ColorSpace
from litefuse.decompositions.combined_non_max_suppression import CombinedNonMaxSuppression
from litefuse.decompositions.comparison import ApproximateEqual, Classification, NextAfter
from litefuse.decompositions.complex_numbers import (
    ComplexArithmetic,
    ComplexBits,
    ComplexParts,
    ComplexProduct,
    ComplexScatter,
    ConjugateTranspose,
)
from litefuse.decompositions.concatenation import RepeatedColumns
from litefuse.decompositions.crop_and_resize import CropAndResize
from litefuse.decompositions.cross import Cross
from litefuse.decompositions.ctc import CtcGreedyDecoder
from litefuse.decompositions.cumprod import Cumprod
from litefuse.decompositions.decomposition import Decomposition
from litefuse.decompositions.diagonals import BandPart, Diagonal
from litefuse.decompositions.dilated_convolution import DilatedConvolution
from litefuse.decompositions.dilation import Dilation, MaxPoolV2, PaddedMaxPool
from litefuse.decompositions.division import Division, Quotient, Reciprocal
from litefuse.decompositions.einsum import Einsum, IntegerProduct
from litefuse.decompositions.elementary import Expm1, Log1p, ReciprocalRoot, Softplus
from litefuse.decompositions.erf import Erf
from litefuse.decompositions.error_functions import Erfc, Erfinv
from litefuse.decompositions.extract_image_patches import ExtractImagePatches
from litefuse.decompositions.fourier import FourierTransform, InverseRealFourierTransform, RealFourierTransform
from litefuse.decompositions.gamma import Gamma
from litefuse.decompositions.gradient_shapes import BroadcastGradientArgs, ConcatOffset
from litefuse.decompositions.gradients import Gradient
from litefuse.decompositions.grouped_volumes import GroupedVolumes
from litefuse.decompositions.image_projection import ImageProjection
from litefuse.decompositions.integer_sign import IntegerSign
from litefuse.decompositions.like import Like, ShapeN
from litefuse.decompositions.linear_algebra import (
    Determinant,
    Eigenvectors,
    Factorization,
    Inverse,
    LeastSquares,
    LinearSystem,
    LogDeterminant,
    OrthogonalFactors,
    SingularValues,
    TriangularFactors,
)
from litefuse.decompositions.linspace import LinSpace
from litefuse.decompositions.losses import CrossEntropy, CumulativeLogsumexp, EuclideanNorm
from litefuse.decompositions.many_dimensions import (
    BatchedProduct,
    Concatenation,
    MovedPieces,
    OfRows,
    Reduction,
    Stack,
)
from litefuse.decompositions.max_pool_with_argmax import MaxPoolWithArgmax
from litefuse.decompositions.mean import IntegerMean
from litefuse.decompositions.mirror_pad import MirrorPadGradient
from litefuse.decompositions.moving import (
    Carried,
    InvertPermutation,
    ParallelConcat,
    Pieces,
    Reverse,
)
from litefuse.decompositions.non_max_suppression import NonMaxSuppression
from litefuse.decompositions.open_channels import OpenChannels
from litefuse.decompositions.open_diagonals import OpenDiagonal
from litefuse.decompositions.partitions import DynamicPartition, DynamicStitch
from litefuse.decompositions.pool_3d import Pool3D
from litefuse.decompositions.powers import Power
from litefuse.decompositions.quantization import FakeQuantize, QuantizeAndDequantize
from litefuse.decompositions.ragged import RaggedGather, RaggedRange, RaggedTensorToTensor
from litefuse.decompositions.random_numbers import RandomNumbers, RandomShuffle
from litefuse.decompositions.resizing import ResizeByMatrix, ResizeGradient, ResizeIntegers, ScaleAndTranslate
from litefuse.decompositions.roll import Roll
from litefuse.decompositions.scatter_update import ScatterUpdate
from litefuse.decompositions.searching import (
    ArgExtreme,
    Bound,
    HistogramFixedWidth,
    InTopK,
    ListDiff,
    NthElement,
    UniqueCounts,
    UniqueStrings,
)
from litefuse.decompositions.segments import Segment, SparseSegment, TensorScatter, UnsortedSegment
from litefuse.decompositions.sparse import (
    SparseDenseArithmetic,
    SparseDenseProduct,
    SparseFillEmptyRows,
    SparseReorder,
    SparseReshape,
    SparseSoftmax,
    SparseSum,
)
from litefuse.decompositions.stateless_random import (
    StatelessMultinomial,
    StatelessRandom,
    StatelessShuffle,
    StatelessTruncatedNormal,
)
from litefuse.decompositions.strided_slice import (
    SliceAtComputedPositions,
    StridedSlice,
    StridedSliceGradient,
    StridedSliceUpdate,
)
from litefuse.decompositions.strings import MovedStrings
from litefuse.decompositions.tan import Tan
from litefuse.decompositions.tile import OpenTile
from litefuse.decompositions.tridiagonal import TridiagonalProduct, TridiagonalSystem
from litefuse.decompositions.trigonometry import Atan2, Hyperbolic, InverseHyperbolic, InverseTrigonometric
from litefuse.decompositions.unravel_index import UnravelIndex
from litefuse.decompositions.widened import Widened
from litefuse.decompositions.window_gradients import (
    ConvolutionFilterGradient,
    DepthwiseFilterGradient,
    DepthwiseInputGradient,
    PoolingGradient,
)

__all__ = ["DECOMPOSITIONS", "find_decompositions"]

DECOMPOSITIONS: tuple[type[Decomposition], ...] = (
    AdjustColors,
    AdjustContrast,
    Alias,
    ApproximateEqual,
    ArgExtreme,
    Atan2,
    BandPart,
    BatchedProduct,
    Bessel,
    BiasOfChannelsFirst,
    Bincount,
    Bitwise,
    Bound,
    BroadcastGradientArgs,
    CastOfBroadcast,
    CastOfFraction,
    CastOfQuotient,
    CastToInteger,
    ChannelsFirst,
    Classification,
    ClipByValue,
    ColorSpace,
    CombinedNonMaxSuppression,
    ComplexArithmetic,
    ComplexBits,
    ComplexParts,
    ComplexProduct,
    ComplexScatter,
    ConcatOffset,
    ConjugateTranspose,
    ConvolutionFilterGradient,
    CropAndResize,
    Cross,
    CrossEntropy,
    CtcGreedyDecoder,
    Cumprod,
    CumulativeLogsumexp,
    DepthwiseFilterGradient,
    DepthwiseInputGradient,
    Determinant,
    Diagonal,
    Dilation,
    Division,
    DynamicPartition,
    DynamicStitch,
    Eigenvectors,
    Einsum,
    Erf,
    Erfc,
    Erfinv,
    EuclideanNorm,
    Expm1,
    ExtractImagePatches,
    Factorization,
    FakeQuantize,
    FourierTransform,
    FusedBatchNorm,
    FusedBatchNormGradient,
    Gamma,
    Gradient,
    GroupedVolumes,
    ImageProjection,
    HistogramFixedWidth,
    Hyperbolic,
    InTopK,
    IntegerMean,
    IntegerProduct,
    IntegerRelu6,
    IntegerSign,
    Inverse,
    InverseHyperbolic,
    InverseRealFourierTransform,
    InverseTrigonometric,
    InvertPermutation,
    LeastSquares,
    LegacyBlocks,
    Like,
    LinSpace,
    LinearSystem,
    ListDiff,
    Log1p,
    LogDeterminant,
    MaxPoolV2,
    MaxPoolWithArgmax,
    MirrorPadGradient,
    MovedPieces,
    MovedStrings,
    NextAfter,
    NonMaxSuppression,
    NthElement,
    OpenChannels,
    OpenDiagonal,
    OpenTile,
    OrthogonalFactors,
    PaddedMaxPool,
    ParallelConcat,
    PermutedVector,
    Pieces,
    Pool3D,
    PoolingGradient,
    PopulationCount,
    Power,
    Quotient,
    QuantizeAndDequantize,
    RaggedBincount,
    RaggedGather,
    RaggedRange,
    RaggedTensorToTensor,
    RandomNumbers,
    RandomShuffle,
    RealFourierTransform,
    Reciprocal,
    ResizeByMatrix,
    ResizeGradient,
    ResizeIntegers,
    Reverse,
    Roll,
    ScaleAndTranslate,
    ScatterUpdate,
    Segment,
    ShapeN,
    Shift,
    SingularValues,
    SparseDenseArithmetic,
    SparseDenseProduct,
    SparseFillEmptyRows,
    SparseReorder,
    SparseReshape,
    SparseSegment,
    SparseSoftmax,
    SparseSum,
    StatelessMultinomial,
    StatelessRandom,
    StatelessShuffle,
    StatelessTruncatedNormal,
    SliceAtComputedPositions,
    StridedSlice,
    StridedSliceGradient,
    StridedSliceUpdate,
    Tan,
    TensorScatter,
    TriangularFactors,
    TridiagonalProduct,
    TridiagonalSystem,
    UniqueCounts,
    UniqueStrings,
    UnravelIndex,
    UnsortedSegment,
    # Last, because they work for any op, or many.
    Reduction,
    Carried,
    Widened,
    # Of ops that LiteRT has; why one is not taken, those above know better.
    Blocks,
    DilatedConvolution,
    Concatenation,
    OfRows,
    ReciprocalRoot,
    RepeatedColumns,
    Softplus,
    Stack,
)
"""Every family of ops, in the order in which they are tried."""

_BY_NAME: dict[str, tuple[Decomposition, ...]] = {
    name: tuple(decomposition() for decomposition in DECOMPOSITIONS if name in decomposition.names)
    for name in {name for decomposition in DECOMPOSITIONS for name in decomposition.names}
}


def find_decompositions(name: str) -> tuple[Decomposition, ...]:
    """The decompositions of a TensorFlow op, in the order in which they are to be tried."""
    return _BY_NAME.get(name, ())
