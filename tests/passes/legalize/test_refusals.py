# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownVariableType=false
"""Rewritings refuse operands of other ranks and dtypes than they were made for, and rewrite the right ones."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from litefuse.ir.builder import Builder
from litefuse.ir.mlir import func, ir, mlir_context
from litefuse.ir.op_creation import create_op
from litefuse.ir.tensorflow_op import NotDecomposed
from litefuse.ir.types import TensorType, element_type_of, ranked_tensor_type
from litefuse.passes.legalize.decomposition import find_decompositions
from litefuse.passes.legalize.dtypes.widened import Widened
from litefuse.passes.legalize.seen_ops import tensorflow_op_of
from tests.passes.legalize.one_op import Array, Constant


def f32(*shape: int) -> Array:
    return np.zeros(shape, np.float32)


def i32(*shape: int) -> Array:
    return np.zeros(shape, np.int32)


def u64(*shape: int) -> Array:
    return np.zeros(shape, np.uint64)


def c64(*shape: int) -> Array:
    return np.zeros(shape, np.complex64)


def i64(*shape: int) -> Array:
    return np.zeros(shape, np.int64)


def constant(*numbers: Any) -> Constant:
    return Constant(np.array(numbers, np.int32))


def scalar(number: int) -> Constant:
    return Constant(np.int32(number))


# The operands of each op, and which of them may not be of another rank, of an unknown one, of float64.
_IMAGE = {"strides": [1, 1, 1, 1], "padding": "SAME", "ksize": [1, 2, 2, 1], "rates": [1, 1, 1, 1]}
_VOLUME = {"ksize": [1, 2, 2, 2, 1], "strides": [1] * 5, "padding": "SAME"}
_SIZES = {"ksizes": [1, 2, 2, 1], **_IMAGE}
_ONE = [f32(2, 3)]
_PROJECTED = [f32(1, 4, 4, 2), f32(1, 8), constant(3, 3)]
_UNARY = (
    *("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BesselI0", "BesselJ1", "Cosh", "Digamma", "Erf", "Erfc"),
    *("Erfinv", "Expm1", "Lgamma", "Log1p", "Ndtri", "Reciprocal", "Rsqrt", "Sinh", "Softplus", "Tan"),
)
_BINARY = ("DivNoNan", "MulNoNan", "NextAfter", "ApproximateEqual", "Xdivy", "Xlog1py", "Xlogy", "EluGrad", "InvGrad")
_CASES: dict[str, tuple[Sequence[Array | Constant], str, str, str, dict[str, Any]]] = {
    **{op: (_ONE, "", "0", "0", {}) for op in _UNARY},
    **{op: (_ONE * 2, "", "01", "0", {}) for op in _BINARY},
    "AdjustHue": ([f32(2, 3), f32()], "", "0", "0", {}),
    "AvgPool3D": (
        [f32(1, 4, 4, 4, 2)],
        "0",
        "0",
        "0",
        _VOLUME,
    ),
    "AvgPoolGrad": ([constant(1, 4, 4, 2), f32(1, 4, 4, 2)], "1", "1", "1", _IMAGE),
    "Angle": ([c64(2, 3)], "", "0", "0", {}),
    "BitwiseAnd": ([i32(2, 3), i32(2, 3)], "", "01", "0", {}),
    "Complex": ([f32(2, 3), f32(3)], "", "01", "0", {}),
    "ConjugateTranspose": ([c64(2, 3), constant(1, 0)], "", "0", "", {}),
    "Div": ([u64(2, 3), u64(2, 3)], "", "01", "0", {}),
    "DynamicStitch": ([i32(2), i32(3), f32(2, 4), f32(3, 4)], "", "0123", "", {}),
    "FakeQuantWithMinMaxArgs": ([f32(2, 3)], "", "0", "0", {}),
    "LeftShift": ([i32(2, 3), i32(2, 3)], "", "01", "0", {}),
    "OnesLike": ([i32(2, 3)], "", "0", "", {}),
    "ParallelConcat": ([f32(1, 3), f32(1, 3)], "", "01", "", {"shape": [2, 3]}),
    "Pow": ([c64(2, 3), c64(3)], "", "01", "", {}),
    "Sin": ([c64(2, 3)], "", "0", "0", {}),
    "CTCGreedyDecoder": ([f32(5, 1, 3), i32(1)], "01", "01", "0", {}),
    "Conv2DBackpropFilter": ([f32(1, 4, 4, 2), constant(2, 2, 2, 3), f32(1, 4, 4, 3)], "02", "02", "0", _IMAGE),
    "Conv2D": ([f32(1, 4, 4, 2), f32(2, 2, 2, 3)], "01", "01", "0", _IMAGE),
    "CropAndResize": ([f32(1, 5, 5, 1), f32(1, 4), i32(1), constant(3, 3)], "012", "012", "", {}),
    "Cross": ([f32(2, 3), f32(2, 3)], "1", "01", "", {}),
    "CumulativeLogsumexp": ([f32(2, 3), scalar(1)], "", "0", "0", {}),
    "DepthwiseConv2dNative": ([f32(1, 4, 4, 2), f32(2, 2, 2, 3)], "01", "01", "0", _IMAGE),
    "Dilation2D": ([f32(1, 4, 4, 2), f32(2, 2, 2)], "01", "01", "0", _IMAGE),
    "EuclideanNorm": ([f32(2, 3), constant(1)], "", "0", "0", {}),
    "ExtractImagePatches": ([f32(1, 4, 4, 2)], "0", "0", "", _SIZES),
    "FFT": ([c64(2, 3)], "", "0", "0", {}),
    "FusedBatchNormV3": ([f32(1, 2, 2, 3), *[f32(3)] * 4], "0", "0", "0", {}),
    "HistogramFixedWidth": ([f32(2, 3), f32(2), scalar(4)], "1", "01", "0", {}),
    "IRFFT": ([c64(2, 4), constant(6)], "", "0", "0", {}),
    "ImageProjectiveTransformV2": (
        [f32(1, 4, 4, 2), f32(1, 8), constant(3, 3)],
        "01",
        "01",
        "0",
        {"interpolation": "BILINEAR"},
    ),
    "InTopKV2": ([f32(2, 3), i32(2), scalar(1)], "0", "0", "0", {}),
    "InvertPermutation": ([i32(3)], "0", "0", "0", {}),
    "IsInf": (_ONE, "", "0", "", {}),
    "LinSpace": ([f32(), f32(), scalar(4)], "0", "0", "0", {}),
    "ListDiff": ([i32(3), i32(2)], "01", "01", "", {}),
    "LowerBound": ([f32(1, 3), f32(1, 2)], "01", "01", "0", {}),
    "MatrixInverse": ([f32(2, 3, 3)], "", "0", "0", {}),
    "MaxPool3D": (
        [f32(1, 4, 4, 4, 2)],
        "0",
        "0",
        "0",
        _VOLUME,
    ),
    "MaxPoolGrad": ([f32(1, 4, 4, 2)] * 3, "02", "02", "2", _IMAGE),
    "MaxPoolWithArgmax": ([f32(1, 4, 4, 2)], "0", "0", "0", _IMAGE),
    "NonMaxSuppressionV3": ([f32(5, 4), f32(5), scalar(2), f32(), f32()], "01", "01", "0", {}),
    "NthElement": ([f32(2, 3), scalar(1)], "", "0", "0", {}),
    "PopulationCount": ([i32(3)], "", "0", "0", {}),
    "QuantizeAndDequantizeV2": ([f32(2, 3), f32(), f32()], "", "0", "0", {}),
    "RFFT": ([f32(2, 6), constant(6)], "", "0", "0", {}),
    "RGBToHSV": ([f32(2, 3)], "", "0", "0", {}),
    "ResizeArea": ([f32(1, 4, 4, 2), constant(2, 2)], "0", "0", "", {}),
    "ResizeBilinearGrad": ([f32(1, 4, 4, 2), f32(1, 2, 2, 2)], "0", "0", "", {}),
    "ScaleAndTranslate": ([f32(1, 4, 4, 2), constant(2, 2), f32(2), f32(2)], "0", "0", "", {}),
    "SetSize": ([i64(4, 2), i32(4), i64(2)], "0", "0", "1", {}),
    "SparseSoftmax": ([i64(4, 2), f32(4), i64(2)], "0", "0", "1", {}),
    "SparseSoftmaxCrossEntropyWithLogits": ([f32(2, 3), i32(2)], "0", "0", "0", {}),
    "SparseTensorDenseMatMul": (
        [i64(4, 2), f32(4), i64(2), f32(3, 2)],
        "03",
        "03",
        "1",
        {},
    ),
    "TridiagonalSolve": ([f32(3, 4), f32(4, 2)], "", "01", "01", {}),
    "UnravelIndex": ([i32(3), i32(2)], "1", "01", "0", {}),
}
_OPEN = {"Conv2D": 1, "DepthwiseConv2dNative": 1}
"""Which operand has sizes that are not known."""
_RESULTS = {
    "CTCGreedyDecoder": 4,
    "FusedBatchNormV3": 6,
    "ListDiff": 2,
    "MaxPoolWithArgmax": 2,
    "SparseSoftmaxCrossEntropyWithLogits": 2,
}


def rewritten(
    op: str, operands: Sequence[Array | Constant], attributes: dict[str, Any], changed: dict[int, ir.Type]
) -> bool:
    """Whether a rewriting of the op's own takes it, with operands of other types where these say so."""
    module = ir.Module.create()
    arrays = [np.asarray(_value(operand)) for operand in operands]
    own = [ranked_tensor_type(TensorType(str(array.dtype), array.shape)) for array in arrays]
    if op in _OPEN:
        own[_OPEN[op]] = ranked_tensor_type(TensorType("float32", (None,) * arrays[_OPEN[op]].ndim))
    kinds = [changed.get(at, kind) for at, kind in enumerate(own)]
    with ir.InsertionPoint(module.body), ir.Location.unknown():
        function = func.FuncOp("main", ir.FunctionType.get(kinds, []))
    with ir.InsertionPoint(function.add_entry_block()), ir.Location.unknown():
        b = Builder()
        values: list[ir.Value] = list(function.entry_block.arguments)
        for at, operand in enumerate(operands):
            if isinstance(operand, Constant) and at not in changed:
                values[at] = b.constant(arrays[at], str(arrays[at].dtype))
        results = [ir.UnrankedTensorType.get(element_type_of("float32"))] * _RESULTS.get(op, 1)
        view = tensorflow_op_of(create_op(op, results, values, attributes).opview, op, values)
        taken = False
        for decomposition in find_decompositions(op):
            if not isinstance(decomposition, Widened):
                with suppress(NotDecomposed):
                    decomposition.rewrite(view, b)
                    taken = True
        return taken


def _value(operand: Array | Constant) -> Any:
    return operand.value if isinstance(operand, Constant) else operand


@pytest.mark.parametrize("op", _CASES)
def test_other_ranks_and_dtypes_are_refused(op: str) -> None:
    operands, ranked, known, single, attributes = _CASES[op]
    with mlir_context():
        assert rewritten(op, operands, attributes, {})
        for places, change in ((ranked, _of_another_rank), (known, _of_unknown_rank), (single, _of_float64)):
            for place in map(int, places):
                assert not rewritten(op, operands, attributes, {place: change(_value(operands[place]))}), (
                    place,
                    change,
                )


@pytest.mark.parametrize(
    ("op", "operands", "attributes", "taken"),
    [
        ("Pow", [f32(2, 3), Constant(np.array([2], np.float32))], {}, True),
        ("Pow", [f32(2, 3), Constant(np.array([2, 3, 2], np.float32))], {}, False),
        ("Pow", [f32(3), Constant(np.array([[2]], np.float32))], {}, False),
        ("Pow", [f32(2, 3), Constant(np.float32(5))], {}, False),
        ("LinSpace", [f32(), f32(), scalar(0)], {}, False),
        ("MaxPool3D", [f32(1, 4, 4, 4, 2)], _VOLUME | {"ksize": [1, 2, 2, 2, 2]}, False),
        ("MaxPool3D", [f32(1, 4, 4, 4, 2)], _VOLUME | {"padding": "VALID", "ksize": [1, 5, 2, 2, 1]}, False),
        ("Dilation2D", [f32(1, 4, 4, 2), f32(2, 2, 2)], _IMAGE | {"strides": [2, 1, 1, 1]}, False),
        ("Dilation2D", [f32(1, 4, 4, 2), f32(5, 2, 2)], _IMAGE | {"padding": "VALID"}, False),
        ("ExtractImagePatches", [f32(1, 4, 4, 2)], _SIZES | {"ksizes": [1, 2, 2, 2]}, False),
        ("MaxPoolGrad", [f32(1, 4, 4, 2)] * 3, _IMAGE | {"data_format": "NCHW"}, False),
        ("QuantizeAndDequantizeV2", [f32(2, 3), f32(), f32()], {"axis": 2}, False),
        ("QuantizeAndDequantizeV2", [f32(2, 3), f32(), f32()], {"num_bits": 1}, False),
        ("FusedBatchNormV3", [f32(1, 3, 2, 2), *[f32(3)] * 4], {"data_format": "NCHW"}, False),
        ("MatrixInverse", [f32(3)], {"adjoint": False}, False),
        ("Roll", [f32(2, 3), scalar(1), scalar(1)], {}, True),
        ("Roll", [f32(2, 3), scalar(1), scalar(2)], {}, False),
        ("Roll", [f32(2, 3), scalar(1), scalar(-3)], {}, False),
        ("DynamicPartition", [f32(2, 3), i32()], {"num_partitions": 1}, False),
        ("UnravelIndex", [i32(3), i32(0)], {}, False),
        ("TridiagonalSolve", [f32(3, 4), f32(4, 2)], {"perturb_singular": True}, False),
        ("CropAndResize", [f32(1, 5, 5, 1), f32(1, 4), i32(1), constant(3, 3)], {"method": "bicubic"}, False),
        ("ScaleAndTranslate", [f32(1, 4, 4, 2), constant(2, 2), f32(2), f32(2)], {"kernel_type": "other"}, False),
    ],
)
def test_other_forms_are_refused(
    op: str, operands: Sequence[Array | Constant], attributes: dict[str, Any], *, taken: bool
) -> None:
    with mlir_context():
        assert rewritten(op, operands, attributes, {}) is taken


def _of_another_rank(value: Any) -> ir.Type:
    return ranked_tensor_type(TensorType(str(value.dtype), (*np.shape(value), 2)))


def _of_unknown_rank(value: Any) -> ir.Type:
    return ir.UnrankedTensorType.get(element_type_of(str(value.dtype)))


def _of_float64(value: Any) -> ir.Type:
    return ranked_tensor_type(TensorType("float64", np.shape(value)))
