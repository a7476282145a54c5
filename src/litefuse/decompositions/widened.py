"""Ops of dtypes that LiteRT's kernels of them do not take, computed in a wider dtype."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder
    from litefuse.engine.mlir import ir
    from litefuse.fusions.composite import TensorType

__all__ = ["Widened", "is_widened_float"]

_FLOATS = {"bfloat16": "float32", "float16": "float32"}
_INTEGERS = {"int8": "int32", "int16": "int32", "uint8": "int32", "uint16": "int32", "uint32": "int64"}

# Sums, products and negatives modulo 2^n are those of the wider integers modulo 2^n; the others do not overflow.
_EXACT = frozenset(
    {
        *("Abs", "Add", "AddN", "AddV2", "ArgMax", "ArgMin", "BroadcastTo", "ClipByValue", "ConcatV2", "Cumprod"),
        *("Cumsum", "Div", "Equal", "Fill", "FloorDiv", "FloorMod", "GatherNd", "GatherV2", "Greater"),
        *("GreaterEqual", "Less", "LessEqual", "Max", "Maximum", "Min", "Minimum", "MirrorPad", "Mod", "Mul"),
        *("Neg", "NotEqual", "OneHot", "Pack", "Pad", "PadV2", "Prod", "RealDiv", "Relu", "Relu6"),
        *("Reshape", "ReverseSequence", "ReverseV2", "Round", "ScatterNd", "SegmentSum", "Select", "SelectV2"),
        *("Sign", "Slice", "SpaceToBatchND", "BatchToSpaceND", "SpaceToDepth", "DepthToSpace", "Split", "SplitV"),
        *("Square", "SquaredDifference", "StridedSlice", "Sub", "Sum", "TensorScatterAdd", "TensorScatterMax"),
        *("TensorScatterMin", "TensorScatterSub", "TensorScatterUpdate", "Tile", "TopKV2", "Transpose"),
        *("TruncateDiv", "TruncateMod", "Unique", "Unpack", "UnsortedSegmentMax", "UnsortedSegmentMin"),
        *("UnsortedSegmentProd", "UnsortedSegmentSum", "Where", "MatrixDiag", "Pow", "TopK"),
        *("SegmentMax", "SegmentMin", "SegmentProd", "LowerBound", "UpperBound", "ExpandDims", "Squeeze"),
    }
)
# Ops of floats alone.
_OF_FLOATS = frozenset(
    {
        *("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atan2", "Atanh", "BatchMatMul", "BatchMatMulV2", "BesselI0e"),
        *("BesselI1e", "BiasAdd", "Ceil", "Cos", "Cosh", "Digamma", "DivNoNan", "Elu", "Erf", "Erfc", "Erfinv"),
        *("Exp", "Expm1", "Floor", "Inv", "IsFinite", "IsInf", "IsNan", "LeakyRelu", "Lgamma", "Log", "Log1p"),
        *("LogSoftmax", "MatMul", "Mean", "MulNoNan", "Ndtri", "Reciprocal", "Rint", "Rsqrt", "Selu"),
        *("Sigmoid", "Sin", "Sinh", "Softmax", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "Xdivy", "Xlog1py"),
        *("Xlogy", "Conv2D", "DepthwiseConv2dNative", "AvgPool", "MaxPool", "ResizeBilinear", "FusedBatchNormV3"),
        *("Einsum", "CumulativeLogsumexp", "L2Loss", "EuclideanNorm", "Conv2DBackpropInput", "ResizeNearestNeighbor"),
        *("AvgPool3D", "Conv3D", "Conv3DBackpropInputV2", "MaxPool3D", "BatchMatMulV3", "Range"),
    }
)


class Widened(Decomposition):
    """The op between two casts.

    float16 and bfloat16 values are computed in float32 and rounded once at the end, integers in int32, uint32 in int64.
    """

    names = tuple(sorted(_EXACT | _OF_FLOATS))

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[ir.Value]:
        widths = _FLOATS | _INTEGERS if op.name in _EXACT else _FLOATS
        narrow = next((each.dtype for each in op.types if each.dtype in widths), None)
        if narrow is None:
            raise NotDecomposed(f"LiteRT's {op.name} does not take {op.types[0].dtype if op.types else 'it'}")
        return b.recast(op, narrow, widths[narrow])


def is_widened_float(decomposition: Decomposition, types: Iterable[TensorType]) -> bool:
    """Whether this computes operands of these types in float32 that are of a narrower one."""
    return isinstance(decomposition, Widened) and any(each.dtype in _FLOATS for each in types)
