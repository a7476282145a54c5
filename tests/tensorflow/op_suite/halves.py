"""Ops of halves: one case of each op that TensorFlow has for them, made of its first one of float32."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.tensorflow.op_suite.case import Case, Operand, Tensor, numpy_dtype

if TYPE_CHECKING:
    from tests.tensorflow.op_suite.case import Array

_BOTH = """
    Add AddN ArgMax ArgMin Atan2 AvgPool AvgPoolGrad BatchMatMul BatchMatMulV2 BatchToSpace BatchToSpaceND
    BiasAdd BiasAddGrad BiasAddV1 CheckNumerics ClipByValue Concat ConjugateTranspose Conv2D
    Conv2DBackpropFilter Conv2DBackpropInput Conv3D Conv3DBackpropInputV2 Cross Cumprod
    Cumsum CumulativeLogsumexp DepthToSpace DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter
    DepthwiseConv2dNativeBackpropInput Dilation2D Div DynamicPartition DynamicStitch Einsum EluGrad
    EnsureShape EuclideanNorm ExtractImagePatches FloorMod Gather Greater GreaterEqual GuaranteeConst HSVToRGB
    Identity IdentityN InvGrad IsFinite IsInf IsNan LeakyRelu LeakyReluGrad LessEqual LogSoftmax LowerBound
    MatrixBandPart MatrixDiag MatrixDiagPart MatrixDiagPartV2 MatrixDiagPartV3 MatrixDiagV2 MatrixDiagV3
    MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3 MaxPool MaxPoolGrad MaxPoolV2 MaxPoolWithArgmax MirrorPad
    MirrorPadGrad MulNoNan NotEqual NthElement ParallelConcat ParallelDynamicStitch Pow PreventGradient
    RGBToHSV RaggedTensorToTensor Range Rank ReciprocalGrad Relu6Grad ReluGrad ResizeArea ResizeBicubic
    ResizeBilinear ResizeNearestNeighbor ResizeNearestNeighborGrad Reverse ReverseSequence Roll RsqrtGrad
    ScatterNd SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum SeluGrad ShapeN SigmoidGrad Size
    Snapshot Softmax SoftmaxCrossEntropyWithLogits SoftplusGrad SoftsignGrad SpaceToBatch SpaceToBatchND
    SpaceToDepth SparseDenseCwiseAdd SparseDenseCwiseDiv SparseDenseCwiseMul SparseFillEmptyRows
    SparseReduceSum SparseReorder SparseSegmentMean SparseSegmentSqrtN SparseSegmentSum
    SparseSoftmaxCrossEntropyWithLogits SparseTensorDenseMatMul SparseToDense SqrtGrad StatelessMultinomial
    StopGradient StridedSliceGrad TanhGrad TensorScatterAdd TensorScatterMax TensorScatterMin TensorScatterSub
    TensorScatterUpdate TopKV2 Unique UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd
    UnsortedSegmentSum UpperBound Xdivy Xlog1py Xlogy
"""
_FLOAT16_ONLY = """
    Acos Acosh Asin Asinh Atan Atanh BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 Ceil Cos Cosh Diag
    DiagPart Digamma Elu Erfc Inv L2Loss LRN Lgamma Log1p NonMaxSuppressionV2 NonMaxSuppressionV3
    NonMaxSuppressionV4 NonMaxSuppressionV5 Qr Reciprocal Relu6 Selu Sin Sinh Softsign SparseSoftmax Tan
"""
_BFLOAT16_ONLY = """
    AvgPool3D AvgPool3DGrad BatchMatMulV3 BroadcastTo ConcatV2 DivNoNan Equal ExpandDims Fill FloorDiv
    GatherNd GatherV2 Less MatMul Max MaxPool3D MaxPool3DGrad Maximum Mean Min Minimum Pack Pad PadV2 Prod
    Reshape ReverseV2 Select SelectV2 Slice Split SplitV SquaredDifference Squeeze StridedSlice Sum
    TensorStridedSliceUpdate Tile Transpose Unpack Where
"""


def cases_of_halves(cases: Sequence[Case]) -> list[Case]:
    """The cases of halves that follow from some of float32."""
    first: dict[str, Case] = {}
    for case in cases:
        if any(each.dtype == "float32" for each in case.inputs):
            first.setdefault(case.op, case)
    wanted = {"float16": set((_BOTH + _FLOAT16_ONLY).split()), "bfloat16": set((_BOTH + _BFLOAT16_ONLY).split())}
    return [_recast(case, dtype) for op, case in first.items() for dtype, ops in wanted.items() if op in ops]


def _recast(case: Case, dtype: str) -> Case:
    def recast(operand: Tensor | Array) -> Any:
        if isinstance(operand, Tensor):
            return replace(operand, dtype=dtype) if operand.dtype == "float32" else operand
        return operand.astype(numpy_dtype(dtype)) if operand.dtype == np.float32 else operand

    operands: list[Operand] = [
        [recast(each) for each in operand] if isinstance(operand, list) else recast(operand)
        for operand in case.operands
    ]
    attributes = {key: dtype if value == "float32" else value for key, value in case.attributes.items()}
    return replace(case, operands=operands, attributes=attributes, rtol=None)
