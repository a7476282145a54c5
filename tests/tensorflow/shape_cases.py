"""Ops with operands whose shapes are known: what the rules of shape inference are compared with TensorFlow's on."""

from __future__ import annotations

import importlib
import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True)
class Operand:
    """An operand: a placeholder of a dtype and a shape, or a constant."""

    dtype: str
    shape: tuple[int | None, ...] | None
    value: npt.NDArray[Any] | None = None


@dataclass(frozen=True)
class Case:
    """An op with operands, each of which is a list where the op takes one."""

    op: str
    operands: Sequence[Operand | list[Operand]]
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])

    def flat(self) -> list[Operand]:
        return [each for operand in self.operands for each in (operand if isinstance(operand, list) else [operand])]

    def with_flat(self, operands: list[Operand]) -> Case:
        left = iter(operands)
        grouped = [
            [next(left) for _ in operand] if isinstance(operand, list) else next(left) for operand in self.operands
        ]
        return replace(self, operands=grouped)


Answer: TypeAlias = "tuple[list[tuple[str, tuple[int | None, ...] | None]], dict[str, Any]] | str"
"""The results' dtypes and shapes with the node's attributes, or the text of an error."""


def f(*shape: int) -> Operand:
    return Operand("float32", shape)


def i(*shape: int) -> Operand:
    return Operand("int32", shape)


def b(*shape: int) -> Operand:
    return Operand("bool", shape)


def c(*shape: int) -> Operand:
    return Operand("complex64", shape)


def n(value: Any, dtype: str = "int32") -> Operand:
    array = np.array(value, dtype)
    return Operand(dtype, array.shape, array)


def _unary() -> Iterator[Case]:
    names = (
        "Abs Acos Acosh Asin Asinh Atan Atanh BesselI0e Ceil Cos Cosh Digamma Elu Erf Erfc Erfinv Exp Expm1 Floor "
        "Identity Inv IsFinite IsInf IsNan LeakyRelu Lgamma Log Log1p LogSoftmax Neg OnesLike Reciprocal Relu Relu6 "
        "Rint Round Rsqrt Selu Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Square StopGradient Tan Tanh "
        "ZerosLike PreventGradient FakeQuantWithMinMaxArgs L2Loss Rank Size Where Snapshot"
    )
    for name in names.split():
        yield Case(name, [f(2, 3)])
    for name in ["MatrixInverse", "Cholesky", "MatrixDeterminant", "LogMatrixDeterminant", "Lu"]:
        yield Case(name, [f(5, 3, 3)])
    for wanted in (True, False):
        yield Case("SelfAdjointEigV2", [f(5, 3, 3)], {"compute_v": wanted})
        yield Case("Svd", [f(5, 3, 4)], {"compute_uv": wanted})
    yield Case("Svd", [f(5, 3, 4)], {"full_matrices": True})
    for name in ["FFT", "IFFT", "FFT2D", "IFFT2D", "FFT3D", "IFFT3D", "Conj"]:
        yield Case(name, [c(2, 3, 4)])
    for name in ["ComplexAbs", "Real", "Imag", "Angle"]:
        yield Case(name, [c(2, 3)])
    yield Case("Cast", [f(2, 3)], {"DstT": "int32"})
    yield Case("LogicalNot", [b(2, 3)])
    yield Case("Invert", [i(2, 3)])
    yield Case("InvertPermutation", [i(3)])
    yield Case("CheckNumerics", [f(2, 3)], {"message": "no"})
    yield Case("LRN", [f(2, 3, 4, 5)])
    yield Case("RandomShuffle", [f(2, 3)])
    yield Case("MatrixBandPart", [f(2, 3, 4), n(1), n(1)])
    for name in ["BesselI1e", "Ndtri"]:
        yield Case(name, [f(2, 3)])
    yield Case("QuantizeAndDequantizeV3", [f(2, 3), f(), f(), i()])
    yield Case("QuantizeAndDequantizeV4", [f(2, 3), f(), f()])
    yield Case("Cross", [f(2, 3), f(2, 3)])
    for name in ["Cumsum", "Cumprod", "CumulativeLogsumexp"]:
        yield Case(name, [f(2, 3), n(1)])
    yield Case("ReverseV2", [f(2, 3), n([0])])
    yield Case("Roll", [f(2, 3), n([1]), n([0])])
    yield Case("ReverseSequence", [f(2, 3, 4), i(2)], {"seq_dim": 1})
    yield Case("Bitcast", [f(2, 3)], {"type": "int32"})
    yield Case("Bitcast", [f(2, 3)], {"type": "int16"})
    yield Case("Bitcast", [Operand("int16", (2, 2))], {"type": "float32"})
    yield Case("FakeQuantWithMinMaxVars", [f(2, 3), f(), f()])
    yield Case("FakeQuantWithMinMaxVarsPerChannel", [f(2, 3), f(3), f(3)])
    yield Case("QuantizeAndDequantizeV2", [f(2, 3), f(), f()])
    yield Case("EnsureShape", [f(2, 3)], {"shape": [None, 3]})
    yield Case("IdentityN", [[f(2, 3), i(4)]])
    yield Case("Bucketize", [f(2, 3)], {"boundaries": [0.0, 1.0]})


def _elementwise() -> Iterator[Case]:
    shapes = [((2, 3), (2, 3)), ((2, 3), (3,)), ((4, 1, 3), (2, 1)), ((), (2,)), ((1,), (5,))]
    names = "AddV2 Add Sub Mul RealDiv Div DivNoNan MulNoNan Maximum Minimum SquaredDifference FloorMod FloorDiv Pow"
    for name, (x, y) in itertools.product(names.split(), shapes):
        yield Case(name, [f(*x), f(*y)])
    for name in [
        "Atan2",
        "Mod",
        "TruncateDiv",
        "Xdivy",
        "Xlogy",
        "Xlog1py",
        "Igamma",
        "Igammac",
        "Polygamma",
        "Zeta",
        "Less",
        "LessEqual",
        "Greater",
        "GreaterEqual",
        "NextAfter",
    ]:
        for x, y in shapes[1:3]:
            yield Case(name, [f(*x), f(*y)])
    for name in ["Equal", "NotEqual"]:
        for x, y in shapes:
            yield Case(name, [f(*x), f(*y)])
        yield Case(name, [f(2, 3), f(2, 3)], {"incompatible_shape_error": False})
        yield Case(name, [f(2, 3), f(4)], {"incompatible_shape_error": False})
    for name in ["LogicalAnd", "LogicalOr"]:
        yield Case(name, [b(2, 3), b(3)])
    for name in ["BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift", "TruncateMod"]:
        yield Case(name, [i(2, 3), i(3)])
    yield Case("Complex", [f(2, 3), f(3)])
    yield Case("ApproximateEqual", [f(2, 3), f(2, 3)])
    for shape in ((2, 3), (3,), (2, 1), ()):
        yield Case("SelectV2", [b(*shape), f(2, 3), f(1, 3)])
    yield Case("Select", [b(2, 3), f(2, 3), f(2, 3)])
    yield Case("Select", [b(2), f(2, 3), f(2, 3)])
    yield Case("Select", [b(), f(2, 3), f(2, 3)])
    yield Case("AddN", [[f(2, 3), f(2, 3), f(2, 3)]])
    yield Case("BiasAdd", [f(2, 3, 4), f(4)])
    yield Case("BiasAdd", [f(2, 3, 4, 5), f(3)], {"data_format": "NCHW"})
    yield Case("ClipByValue", [f(2, 3), f(), f()])
    for name in [
        "TanhGrad",
        "SigmoidGrad",
        "RsqrtGrad",
        "SqrtGrad",
        "ReluGrad",
        "Relu6Grad",
        "EluGrad",
        "SeluGrad",
        "SoftplusGrad",
    ]:
        yield Case(name, [f(2, 3), f(2, 3)])
    for name in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"):
        yield Case(name, [f(2, 8, 8, 3), f(3), f(3), f(3), f(3)], {"is_training": False})
    yield Case(
        "FusedBatchNormV3", [f(2, 3, 8, 8), f(3), f(3), f(3), f(3)], {"is_training": False, "data_format": "NCHW"}
    )
    yield Case("FusedBatchNormV3", [f(2, 8, 8, 3), f(3), f(3), f(0), f(0)], {"is_training": True})


def _reductions() -> Iterator[Case]:
    for name in ["Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm"]:
        for axes, keep in itertools.product(([0], [1, 2], [-1], 1, []), (False, True)):
            yield Case(name, [f(2, 3, 4), n(axes)], {"keep_dims": keep})
    for name in ["All", "Any"]:
        yield Case(name, [b(2, 3, 4), n([1])], {"keep_dims": True})
    for name in ["ArgMax", "ArgMin"]:
        for axis in (0, -1):
            yield Case(name, [f(2, 3, 4), n(axis)])
    yield Case("TopKV2", [f(2, 9), n(4)])
    yield Case("NthElement", [f(2, 9), n(4)])
    for name in ["UnsortedSegmentSum", "UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd"]:
        yield Case(name, [f(2, 3, 4), i(2, 3), n(7)])
    for name in ["SegmentSum", "SegmentMean", "SegmentMax", "SegmentMin", "SegmentProd"]:
        yield Case(name, [f(4, 3), i(4)])
    yield Case("Unique", [f(5)])
    yield Case("UniqueWithCounts", [f(5)])
    yield Case("UniqueV2", [f(5), n([0])])
    yield Case("Bincount", [i(5), n(4), f(5)])
    yield Case("DenseBincount", [i(5), n(4), f(5)])
    yield Case("DenseBincount", [i(2, 5), n(4), f(2, 5)])
    yield Case("InTopKV2", [f(4, 9), i(4), n(2)])


def _layout() -> Iterator[Case]:
    for shape in ([6, 4], [-1, 4], [2, -1], [24], [-1], [2, 3, 2, 2], [1, -1, 1]):
        yield Case("Reshape", [f(2, 3, 4), n(shape)])
    yield Case("Reshape", [f(), n([], "int32")])
    yield Case("Reshape", [f(0, 3), n([0, 5])])
    for axis in (0, 1, -1, 2):
        yield Case("ExpandDims", [f(2, 3), n(axis)])
    yield Case("Squeeze", [f(2, 1, 3, 1)], {"squeeze_dims": [1]})
    yield Case("Squeeze", [f(2, 1, 3, 1)], {"squeeze_dims": [-1, 1]})
    yield Case("Squeeze", [f(2, 1, 3, 1)])
    yield Case("Transpose", [f(2, 3, 4), n([2, 0, 1])])
    for axis in (0, 1, -1):
        yield Case("Pack", [[f(2, 3), f(2, 3)]], {"axis": axis})
        yield Case("Unpack", [f(2, 3, 2)], {"axis": axis, "num": 3 if axis == 1 else 2})
        yield Case("ConcatV2", [[f(2, 3), f(2, 3)], n(axis)])
    yield Case("ConcatV2", [[f(2, 3), f(5, 3), f(1, 3)], n(0)])
    yield Case("Concat", [n(1), [f(2, 3), f(2, 5)]])
    yield Case("Split", [n(1), f(2, 6)], {"num_split": 3})
    yield Case("Split", [n(-2), f(2, 6)], {"num_split": 2})
    yield Case("SplitV", [f(2, 6), n([1, 2, 3]), n(1)], {"num_split": 3})
    yield Case("SplitV", [f(2, 6), n([1, -1, 3]), n(-1)], {"num_split": 3})
    yield Case("Tile", [f(2, 3), n([3, 1])])
    for op, more in (("Pad", []), ("PadV2", [f()])):
        yield Case(op, [f(2, 3), n([[1, 2], [0, 3]]), *more])
    yield Case("MirrorPad", [f(2, 3), n([[1, 1], [0, 2]])], {"mode": "REFLECT"})
    yield Case("BroadcastTo", [f(3), n([2, 3])])
    yield Case("SpaceToDepth", [f(2, 4, 6, 3)], {"block_size": 2})
    yield Case("DepthToSpace", [f(2, 4, 6, 12)], {"block_size": 2})
    yield Case("SpaceToBatchND", [f(2, 4, 6, 3), n([2, 3]), n([[0, 0], [1, 2]])])
    yield Case("BatchToSpaceND", [f(12, 4, 6, 3), n([2, 3]), n([[0, 0], [1, 2]])])


def _creation() -> Iterator[Case]:
    yield Case("Empty", [n([2, 3])], {"dtype": "float32"})
    yield Case("Fill", [n([2, 3]), f()])
    yield Case("Shape", [f(2, 3)])
    yield Case("ShapeN", [[f(2, 3), f(4)]])
    for start, limit, delta in ((0, 10, 3), (10, 0, -3), (0, 0, 1), (2, 9, 1)):
        yield Case("Range", [n(start), n(limit), n(delta)])
    yield Case("LinSpace", [f(), f(), n(5)])
    for axis in (-1, 0, 1):
        yield Case("OneHot", [i(2, 3), n(5), f(), f()], {"axis": axis})
    yield Case("BroadcastArgs", [i(3), i(2)])
    yield Case("Diag", [f(2, 3)])
    yield Case("DiagPart", [f(2, 3, 2, 3)])
    yield Case("MatrixDiag", [f(2, 3)])
    yield Case("MatrixDiagPart", [f(2, 3, 4)])
    yield Case("MatrixSetDiag", [f(2, 3, 4), f(2, 3)])
    for k in (0, 1, -1, [-1, 1], [0, 2]):
        yield Case("MatrixDiagPartV3", [f(2, 3, 4), n(k), f()])
        yield Case("MatrixDiagPartV2", [f(2, 3, 4), n(k), f()])
    yield Case("MatrixDiagV2", [f(2, 3), n(0), n(-1), n(-1), f()])
    yield Case("MatrixSetDiagV2", [f(2, 3, 4), f(2, 3), n(0)])
    yield Case("MatrixDiagV3", [f(2, 3), n(0), n(-1), n(-1), f()])
    yield Case("MatrixDiagV3", [f(2, 3), n(1), n(-1), n(-1), f()])
    yield Case("MatrixDiagV3", [f(2, 3, 4), n([-1, 1]), n(4), n(4), f()])
    yield Case("MatrixSetDiagV3", [f(2, 3, 4), f(2, 3), n(0)])
    yield Case("Multinomial", [f(2, 3), n(5)])
    for name in ["RandomUniform", "RandomStandardNormal", "TruncatedNormal"]:
        yield Case(name, [n([2, 3])], {"dtype": "float32"})
    yield Case("RandomUniformInt", [n([2, 3]), i(), i()])
    for name in ["StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"]:
        yield Case(name, [n([2, 3]), i(2)])
        yield Case(f"{name}V2", [n([2, 3]), Operand("uint64", (1,)), Operand("uint64", (2,)), i()])
    yield Case("StatelessRandomUniformFullInt", [n([2, 3]), i(2)], {"dtype": "int32"})
    yield Case("StatelessRandomUniformInt", [n([2, 3]), i(2), i(), i()])
    keys = [n([2, 3]), Operand("uint64", (1,)), Operand("uint64", (2,)), i()]
    yield Case("StatelessRandomUniformFullIntV2", keys, {"dtype": "int32"})
    yield Case("StatelessRandomUniformIntV2", [*keys, i(), i()])
    yield Case("StatelessRandomGammaV2", [n([2, 3]), i(2), f(3)])
    yield Case("StatelessRandomGammaV3", [*keys, f(3)])
    yield Case("StatelessMultinomial", [f(2, 3), n(5), i(2)])
    yield Case("ParameterizedTruncatedNormal", [n([2, 3]), f(2), f(2), f(2), f(2)])
    yield Case("SparseToDense", [i(2), n([7]), f(2), f()])
    yield Case("DynamicStitch", [[n([0, 2]), n([1])], [f(2, 3), f(1, 3)]])


def _slicing() -> Iterator[Case]:
    slices: list[tuple[list[int], list[int], list[int], dict[str, Any]]] = [
        ([0], [2], [1], {}),
        ([1], [-1], [2], {}),
        ([-2], [0], [1], {"end_mask": 1}),
        ([0, 1], [0, 4], [1, 2], {"end_mask": 1, "begin_mask": 1}),
        ([3, 1], [0, 0], [-1, 1], {"begin_mask": 1, "end_mask": 3}),
        ([5], [1], [-2], {}),
        ([1], [2], [1], {"shrink_axis_mask": 1}),
        ([0, -1], [0, 0], [1, 1], {"begin_mask": 1, "end_mask": 1, "shrink_axis_mask": 2}),
        ([0, 0], [0, 0], [1, 1], {"new_axis_mask": 2, "begin_mask": 1, "end_mask": 1}),
        ([0, 1], [0, 2], [1, 1], {"ellipsis_mask": 1}),
        ([0, 0, 1], [0, 0, 2], [1, 1, 1], {"new_axis_mask": 1, "ellipsis_mask": 2, "shrink_axis_mask": 4}),
        ([9], [20], [1], {}),
    ]
    for begin, end, strides, masks in slices:
        yield Case("StridedSlice", [f(4, 5, 6), n(begin), n(end), n(strides)], masks)
    yield Case("Slice", [f(4, 5), n([1, 2]), n([2, -1])])
    yield Case("Slice", [f(4, 5), n([0, 0]), n([4, 3])])
    yield Case("Gather", [f(4, 5), i(2, 3)])
    for axis, batch in ((0, 0), (1, 0), (-1, 0), (1, 1), (2, 1)):
        yield Case("GatherV2", [f(2, 3, 4), i(2, 7), n(axis)], {"batch_dims": batch})
    yield Case("GatherV2", [f(4, 5), i(), n(0)])
    yield Case("GatherNd", [f(4, 5, 6), i(7, 2)])
    yield Case("GatherNd", [f(4, 5), i(2, 3, 2)])
    yield Case("ScatterNd", [i(4, 1), f(4, 3), n([9, 3])])
    for name in ["TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMax", "TensorScatterMin"]:
        yield Case(name, [f(9, 3), i(4, 1), f(4, 3)])
    yield Case("TensorStridedSliceUpdate", [f(9, 3), i(1), i(1), i(1), f(4, 3)])
    yield Case("XlaDynamicSlice", [f(4, 5), i(2), n([2, 3])])
    yield Case("XlaDynamicUpdateSlice", [f(4, 5), f(2, 3), i(2)])
    yield Case("ListDiff", [i(5), i(2)])


def _matrices() -> Iterator[Case]:
    for ta, tb in itertools.product((False, True), repeat=2):
        x, y = ((3, 2) if ta else (2, 3)), ((4, 3) if tb else (3, 4))
        yield Case("MatMul", [f(*x), f(*y)], {"transpose_a": ta, "transpose_b": tb})
        yield Case("BatchMatMulV2", [f(5, *x), f(*y)], {"adj_x": ta, "adj_y": tb})
        yield Case("BatchMatMulV3", [f(5, *x), f(*y)], {"adj_x": ta, "adj_y": tb, "Tout": "float32"})
    yield Case("BatchMatMul", [f(5, 2, 3), f(5, 3, 4)])
    yield Case("BatchMatMulV2", [f(5, 1, 2, 3), f(7, 3, 4)])
    for equation, shapes in (
        ("ab,bc->ac", [(2, 3), (3, 4)]),
        ("abcd,aecd->acbe", [(2, 3, 4, 5), (2, 6, 4, 5)]),
        ("abc,cde->abde", [(2, 3, 4), (4, 5, 6)]),
        ("...ij,...jk->...ik", [(2, 7, 3, 4), (7, 4, 5)]),
        ("ij->ji", [(2, 3)]),
    ):
        yield Case("Einsum", [[f(*shape) for shape in shapes]], {"equation": equation})
    yield Case("MatrixSolve", [f(5, 3, 3), f(5, 3, 2)])
    yield Case("MatrixTriangularSolve", [f(5, 3, 3), f(5, 3, 2)])
    for full in (False, True):
        yield Case("Qr", [f(2, 5, 3)], {"full_matrices": full})
        yield Case("Qr", [f(2, 3, 5)], {"full_matrices": full})
    yield Case("RFFT", [f(2, 8), n([8])])
    yield Case("RFFT2D", [f(2, 8, 6), n([4, 6])])
    yield Case("IRFFT", [c(2, 5), n([8])])
    yield Case("IRFFT2D", [c(2, 8, 5), n([8, 8])])


def _windows() -> Iterator[Case]:
    for padding, stride, size in itertools.product(("SAME", "VALID"), (1, 2, 3), (7, 8)):
        strides = [1, stride, stride, 1]
        yield Case("Conv2D", [f(2, size, 9, 3), f(3, 2, 3, 5)], {"strides": strides, "padding": padding})
        yield Case("DepthwiseConv2dNative", [f(2, size, 9, 3), f(3, 2, 3, 2)], {"strides": strides, "padding": padding})
        for name in ("MaxPool", "AvgPool"):
            arguments = {"ksize": [1, 3, 2, 1], "strides": strides, "padding": padding}
            yield Case(name, [f(2, size, 9, 3)], arguments)
        volume = {"strides": [1, stride, 1, stride, 1], "padding": padding}
        yield Case("Conv3D", [f(2, size, 9, 8, 3), f(3, 2, 2, 3, 5)], volume)
        for name in ("MaxPool3D", "AvgPool3D"):
            yield Case(name, [f(2, size, 9, 8, 3)], {"ksize": [1, 2, 3, 2, 1], **volume})
    dilated = {"strides": [1, 1, 1, 1], "padding": "VALID", "dilations": [1, 2, 3, 1]}
    yield Case("Conv2D", [f(2, 9, 9, 3), f(3, 2, 3, 5)], dilated)
    yield Case("Conv2D", [f(2, 9, 9, 6), f(3, 2, 3, 4)], {"strides": [1, 1, 1, 1], "padding": "SAME"})
    explicit = {"strides": [1, 2, 2, 1], "padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, 3, 0, 0, 0]}
    yield Case("Conv2D", [f(2, 9, 9, 3), f(3, 2, 3, 5)], explicit)
    nchw = {"strides": [1, 1, 2, 2], "padding": "SAME", "data_format": "NCHW"}
    yield Case("Conv2D", [f(2, 3, 9, 9), f(3, 2, 3, 5)], nchw)
    same = {"strides": [1, 2, 2, 1], "padding": "SAME"}
    yield Case("Conv2DBackpropInput", [n([2, 8, 8, 3]), f(3, 3, 3, 5), f(2, 4, 4, 5)], same)
    volumes = {"strides": [1, 2, 2, 2, 1], "padding": "SAME"}
    yield Case("Conv3DBackpropInputV2", [n([2, 8, 8, 8, 3]), f(3, 3, 3, 3, 5), f(2, 4, 4, 4, 5)], volumes)
    yield Case("MaxPoolWithArgmax", [f(2, 8, 8, 3)], {"ksize": [1, 2, 2, 1], **same})
    yield Case("Dilation2D", [f(2, 8, 8, 3), f(3, 3, 3)], {"rates": [1, 1, 1, 1], **same})
    patches = {"ksizes": [1, 3, 3, 1], "strides": [1, 2, 2, 1], "rates": [1, 1, 2, 1], "padding": "VALID"}
    yield Case("ExtractImagePatches", [f(2, 8, 8, 3)], patches)
    for name in ["ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea"]:
        yield Case(name, [f(2, 8, 8, 3), n([5, 6])])
    yield Case("CropAndResize", [f(2, 8, 8, 3), f(7, 4), i(7), n([5, 6])])
    for version, fill in (("V2", []), ("V3", [f()])):
        projection = {"interpolation": "NEAREST", "fill_mode": "WRAP"}
        yield Case(f"ImageProjectiveTransform{version}", [f(2, 8, 7, 3), f(2, 8), n([5, 6]), *fill], projection)
    yield Case("NonMaxSuppression", [f(9, 4), f(9), n(3)])
    yield Case("NonMaxSuppressionV2", [f(9, 4), f(9), n(3), f()])
    yield Case("NonMaxSuppressionV3", [f(9, 4), f(9), n(3), f(), f()])
    for pad in (False, True):
        yield Case("NonMaxSuppressionV4", [f(9, 4), f(9), n(3), f(), f()], {"pad_to_max_output_size": pad})
        yield Case("NonMaxSuppressionV5", [f(9, 4), f(9), n(3), f(), f(), f()], {"pad_to_max_output_size": pad})


def _sparse() -> Iterator[Case]:
    places, values = Operand("int64", (7, 2)), f(7)
    shape = n([4, 6], "int64")
    yield Case("DynamicPartition", [f(5, 3, 2), i(5)], {"num_partitions": 3})
    yield Case("DynamicPartition", [f(5, 3, 2), i(5, 3)], {"num_partitions": 2})
    yield Case("ParallelDynamicStitch", [[n([0, 2]), n(1)], [f(2, 3), f(3)]])
    yield Case("SparseFillEmptyRows", [places, values, shape, f()])
    yield Case("SparseReshape", [places, shape, n([2, 3, 4], "int64")])
    yield Case("SparseReorder", [places, values, shape])
    for keep in (False, True):
        for name in ("SparseReduceMax", "SparseReduceSum"):
            yield Case(name, [places, values, shape, n([-1])], {"keep_dims": keep})
    for adjoint in (False, True):
        attributes = {"adjoint_a": adjoint, "adjoint_b": adjoint}
        yield Case("SparseTensorDenseMatMul", [places, values, shape, f(*((3, 4) if adjoint else (6, 3)))], attributes)
    for name in ("SparseSegmentMean", "SparseSegmentSqrtN", "SparseSegmentSum"):
        yield Case(name, [f(9, 3, 2), i(5), i(5)])
        yield Case(f"{name}WithNumSegments", [f(9, 3, 2), i(5), i(5), n(4)])
        yield Case(f"{name}Grad", [f(4, 3, 2), i(5), i(5), n(9)])
    for operation in ("a-b", "b-a", "intersection", "union"):
        yield Case("DenseToDenseSetOperation", [i(2, 3, 5), i(2, 3, 4)], {"set_operation": operation})
    yield Case("SetSize", [Operand("int64", (7, 3)), i(7), n([4, 6, 5], "int64")])
    yield Case("SparseAdd", [places, values, shape, Operand("int64", (5, 2)), f(5), shape, f()])
    yield Case("SparseTensorDenseAdd", [places, values, shape, f(4, 6)])
    for name in ("SparseDenseCwiseAdd", "SparseDenseCwiseDiv", "SparseDenseCwiseMul"):
        yield Case(name, [places, values, shape, f(4, 6)])
    yield Case("SparseSoftmax", [places, values, shape])
    yield Case("RaggedRange", [i(), i(4), i()])
    yield Case("RaggedRange", [i(3), i(3), i(3)])


def _others() -> Iterator[Case]:
    for name in ("AdjustHue", "AdjustSaturation", "AdjustContrastv2"):
        yield Case(name, [f(2, 5, 4, 3), f()])
    for name in ("HSVToRGB", "RGBToHSV"):
        yield Case(name, [f(2, 5, 4, 3)])
    for name in ("BesselI0", "BesselI1", "BesselJ0", "BesselJ1", "GuaranteeConst"):
        yield Case(name, [f(2, 3)])
    yield Case("PopulationCount", [i(2, 3)])
    yield Case("Print", [f(2, 3), [i(4)]])
    yield Case("ConjugateTranspose", [c(2, 3, 4), n([2, 0, 1])])
    yield Case("StatelessShuffle", [f(5, 3), Operand("uint64", (1,)), Operand("uint64", (2,)), i()])
    for name in ("LowerBound", "UpperBound"):
        yield Case(name, [f(2, 9), f(2, 4)])
    yield Case("HistogramFixedWidth", [f(9), f(2), n(5)])
    yield Case("InTopK", [f(4, 9), i(4)], {"k": 2})
    yield Case("SoftmaxCrossEntropyWithLogits", [f(4, 9), f(4, 9)])
    yield Case("SparseSoftmaxCrossEntropyWithLogits", [f(4, 9), i(4)])
    yield Case("CTCGreedyDecoder", [f(8, 2, 5), i(2)])
    for classes, pad in itertools.product((1, 3), (False, True)):
        operands = [f(2, 9, classes, 4), f(2, 9, 3), n(4), n(20), f(), f()]
        yield Case("CombinedNonMaxSuppression", operands, {"pad_per_class": pad})


CASES = [
    case
    for family in (
        _unary,
        _elementwise,
        _reductions,
        _layout,
        _creation,
        _slicing,
        _matrices,
        _windows,
        _sparse,
        _others,
    )
    for case in family()
]


def variants(case: Case, count: int = 2) -> Iterator[Case]:
    """The case as it is, then with less and less known of its operands."""
    yield case
    operands = case.flat()
    for index, operand in enumerate(operands):
        less = [Operand(operand.dtype, None)]
        less += [Operand(operand.dtype, (None,) * len(operand.shape or ()))] if operand.shape else []
        if operand.value is not None:
            less.append(Operand(operand.dtype, operand.shape))
        for each in less:
            yield case.with_flat([*operands[:index], each, *operands[index + 1 :]])
    chosen = random.Random(7)
    for _ in range(count):
        yield case.with_flat(
            [
                operand
                if operand.value is not None or operand.shape is None
                else Operand(operand.dtype, tuple(None if chosen.random() < 0.5 else size for size in operand.shape))
                for operand in operands
            ]
        )


def infer(tf: Any, cases: list[Case]) -> list[Answer]:
    """What TensorFlow's own shape functions say of each case."""
    op_def_registry: Any = importlib.import_module("tensorflow.python.framework.op_def_registry")

    answers: list[Answer] = []
    for start in range(0, len(cases), 200):
        with tf.Graph().as_default():
            answers += [_infer(tf, op_def_registry.get(case.op), case) for case in cases[start : start + 200]]
    return answers


def _infer(tf: Any, definition: Any, case: Case) -> Answer:
    op_def_library: Any = importlib.import_module("tensorflow.python.framework.op_def_library")

    def tensor(operand: Operand) -> Any:
        if operand.value is not None:
            return tf.constant(operand.value)
        return tf.compat.v1.placeholder(operand.dtype, operand.shape)

    inputs = {
        arg.name: [tensor(each) for each in operand] if isinstance(operand, list) else tensor(operand)
        for arg, operand in zip(definition.input_arg, case.operands, strict=True)
    }
    types = {attr.name for attr in definition.attr if attr.type == "type"}
    given = {key: tf.as_dtype(value) if key in types else value for key, value in case.attributes.items()}
    if "shape" in given:
        given["shape"] = tf.TensorShape(given["shape"])
    of_inputs = {name for arg in definition.input_arg for name in (arg.type_attr, arg.number_attr, arg.type_list_attr)}
    for attr in definition.attr:
        if attr.name not in of_inputs and attr.HasField("default_value"):
            default = attr.default_value
            given.setdefault(attr.name, tf.as_dtype(default.type) if attr.type == "type" else _attribute(default))
    try:
        answer: Any = op_def_library.apply_op(case.op, **inputs, **given)
    except (NotImplementedError, TypeError, ValueError, tf.errors.InvalidArgumentError) as error:  # 1: a removed op
        return f"{type(error).__name__}: {error}"
    results: list[Any] = tf.nest.flatten(answer)  # some ops give lists of results
    shapes = [(each.dtype.name, None if each.shape.rank is None else tuple(each.shape.as_list())) for each in results]
    return shapes, {key: _attribute(value) for key, value in results[0].op.node_def.attr.items()}


def _attribute(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "s":
        return value.s.decode()
    if kind in {"i", "f", "b"}:
        return getattr(value, kind)
    if kind == "list":
        return [*value.list.i, *value.list.f, *(each.decode() for each in value.list.s)]
    return None
