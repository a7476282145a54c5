"""Which decompositions are for which op."""

from __future__ import annotations

from litefuse.legalize.arithmetic.bessel import Bessel
from litefuse.legalize.arithmetic.bitwise import Bitwise, PopulationCount, Shift
from litefuse.legalize.arithmetic.clip import ClipByValue, IntegerRelu6
from litefuse.legalize.arithmetic.comparison import ApproximateEqual, Classification, NextAfter
from litefuse.legalize.arithmetic.complex_numbers import (
    ComplexArithmetic,
    ComplexBits,
    ComplexParts,
    ComplexProduct,
    ComplexScatter,
    ConjugateTranspose,
)
from litefuse.legalize.arithmetic.cross import Cross
from litefuse.legalize.arithmetic.cumprod import Cumprod
from litefuse.legalize.arithmetic.division import Division, Quotient, Reciprocal
from litefuse.legalize.arithmetic.elementary import Expm1, Log1p, ReciprocalRoot, Softplus
from litefuse.legalize.arithmetic.erf import Erf
from litefuse.legalize.arithmetic.error_functions import Erfc, Erfinv
from litefuse.legalize.arithmetic.fourier import FourierTransform, InverseRealFourierTransform, RealFourierTransform
from litefuse.legalize.arithmetic.gamma import Gamma
from litefuse.legalize.arithmetic.integer_sign import IntegerSign
from litefuse.legalize.arithmetic.linspace import LinSpace
from litefuse.legalize.arithmetic.mean import IntegerMean
from litefuse.legalize.arithmetic.powers import Power
from litefuse.legalize.arithmetic.tan import Tan
from litefuse.legalize.arithmetic.trigonometry import Atan2, Hyperbolic, InverseHyperbolic, InverseTrigonometric
from litefuse.legalize.arrays.aliases import Alias
from litefuse.legalize.arrays.bincount import Bincount, RaggedBincount
from litefuse.legalize.arrays.concatenation import RepeatedColumns
from litefuse.legalize.arrays.diagonals import BandPart, Diagonal
from litefuse.legalize.arrays.like import Like, ShapeN
from litefuse.legalize.arrays.many_dimensions import (
    BatchedProduct,
    Concatenation,
    MovedPieces,
    OfRows,
    Reduction,
    Stack,
)
from litefuse.legalize.arrays.moved_elements import Carried, InvertPermutation, ParallelConcat, Pieces, Reverse
from litefuse.legalize.arrays.open_diagonals import OpenDiagonal
from litefuse.legalize.arrays.partitions import DynamicPartition, DynamicStitch
from litefuse.legalize.arrays.roll import Roll
from litefuse.legalize.arrays.scatter_update import ScatterUpdate
from litefuse.legalize.arrays.searching import (
    ArgExtreme,
    Bound,
    HistogramFixedWidth,
    InTopK,
    ListDiff,
    NthElement,
    UniqueCounts,
    UniqueStrings,
)
from litefuse.legalize.arrays.segments import Segment, SparseSegment, TensorScatter, UnsortedSegment
from litefuse.legalize.arrays.strided_slice import (
    SliceAtComputedPositions,
    StridedSlice,
    StridedSliceGradient,
    StridedSliceUpdate,
)
from litefuse.legalize.arrays.tile import OpenTile
from litefuse.legalize.arrays.unravel_index import UnravelIndex
from litefuse.legalize.decomposition import Decomposition
from litefuse.legalize.dtypes.casts import CastOfBroadcast, CastOfFraction, CastOfQuotient, CastToInteger
from litefuse.legalize.dtypes.quantization import FakeQuantize, QuantizeAndDequantize
from litefuse.legalize.dtypes.widened import Widened
from litefuse.legalize.images.colors import AdjustColors, AdjustContrast, ColorSpace
from litefuse.legalize.images.combined_non_max_suppression import CombinedNonMaxSuppression
from litefuse.legalize.images.crop_and_resize import CropAndResize
from litefuse.legalize.images.image_projection import ImageProjection
from litefuse.legalize.images.non_max_suppression import NonMaxSuppression
from litefuse.legalize.images.resizing import ResizeByMatrix, ResizeGradient, ResizeIntegers, ScaleAndTranslate
from litefuse.legalize.linear_algebra.einsum import Einsum, IntegerProduct
from litefuse.legalize.linear_algebra.linear_algebra import (
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
from litefuse.legalize.linear_algebra.tridiagonal import TridiagonalProduct, TridiagonalSystem
from litefuse.legalize.random.random_numbers import RandomNumbers, RandomShuffle
from litefuse.legalize.random.stateless_random import (
    StatelessMultinomial,
    StatelessRandom,
    StatelessShuffle,
    StatelessTruncatedNormal,
)
from litefuse.legalize.sparse.ragged import RaggedGather, RaggedRange, RaggedTensorToTensor
from litefuse.legalize.sparse.sparse import (
    SparseDenseArithmetic,
    SparseDenseProduct,
    SparseFillEmptyRows,
    SparseReorder,
    SparseReshape,
    SparseSoftmax,
    SparseSum,
)
from litefuse.legalize.strings.strings import MovedStrings
from litefuse.legalize.training.batch_norm import FusedBatchNorm, FusedBatchNormGradient
from litefuse.legalize.training.ctc import CtcGreedyDecoder
from litefuse.legalize.training.gradient_shapes import BroadcastGradientArgs, ConcatOffset
from litefuse.legalize.training.gradients import Gradient
from litefuse.legalize.training.losses import CrossEntropy, CumulativeLogsumexp, EuclideanNorm
from litefuse.legalize.training.mirror_pad import MirrorPadGradient
from litefuse.legalize.windows.bias import BiasOfChannelsFirst
from litefuse.legalize.windows.blocks import Blocks, LegacyBlocks
from litefuse.legalize.windows.channels_first import ChannelsFirst, PermutedVector
from litefuse.legalize.windows.dilated_convolution import DilatedConvolution
from litefuse.legalize.windows.dilation import Dilation, MaxPoolV2, PaddedMaxPool
from litefuse.legalize.windows.extract_image_patches import ExtractImagePatches
from litefuse.legalize.windows.grouped_volumes import GroupedVolumes
from litefuse.legalize.windows.max_pool_with_argmax import MaxPoolWithArgmax
from litefuse.legalize.windows.open_channels import OpenChannels
from litefuse.legalize.windows.pool_3d import Pool3D
from litefuse.legalize.windows.window_gradients import (
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
