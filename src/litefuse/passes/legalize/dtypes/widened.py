"""Ops on dtypes that LiteRT's kernels do not support, computed in a wider or narrower one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, equal, maximum, minimum, select
from litefuse.passes.legalize.arithmetic.elementary import LARGEST
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.types import TensorType

_FLOATS = {"bfloat16": "float32", "float16": "float32"}
_INTEGERS = {"int8": "int32", "int16": "int32", "uint8": "int32", "uint16": "int32", "uint32": "int64"}

# Ops on the bits of their operands.
_OF_BITS = frozenset({"Bitcast", "NextAfter"})
# Without elements, these return the lowest or the largest number of the dtype.
_EXTREMES = frozenset({"Max", "Min", "UnsortedSegmentMax", "UnsortedSegmentMin"})
_LARGEST = {"bfloat16": 3.3895313892515355e38, "float16": 65504.0}
_REFERENCES = frozenset({"resource", "variant"})


# For integers: sums, products and negatives modulo 2^n are those of the wider integers modulo 2^n; the others do
# not overflow.
@decomposition("Abs", "Sign")
def integer_sign(op: TensorFlowOp, b: Builder) -> Tensor:
    """``max(x, -x)``, and ``min(max(x, -1), 1)``."""
    op.require(0, "int64")
    (value,) = op.operands
    if op.name == "Abs":
        return maximum(value, -value)
    return minimum(maximum(value, -1), 1)


@decomposition(
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
    order=3,
)
# For these dtypes the engine refuses the op or crashes, or emits one that the runtime refuses, crashes at, or computes
# wrongly: faults `gradient-of-half-sigmoid`, `half-sum-of-squares`, `half-softsign`, `half-factors`,
# `unsigned-additions`, `equality-of-bytes`, `running-sum-of-unsigned-constants`, `short-windows`, `zero-logarithm`.
@before_engine(
    *("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "DivNoNan", "Einsum", "L2Loss", "Lgamma", "MatMul", "Maximum"),
    *("Minimum", "MulNoNan", "QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4", "SigmoidGrad", "Softsign", "Xdivy"),
    *("Xlog1py", "Xlogy"),
    dtypes=("bfloat16", "float16"),
    order=-1,
)
@before_engine("Equal", "NotEqual", dtypes=("uint8",))
@before_engine("Cumsum", dtypes=("uint8", "uint16", "uint32"))
@before_engine("GatherNd", dtypes=("int16",))
@before_engine("Softsign", dtypes=("float64",))
@before_engine(
    "TensorScatterAdd",
    "TensorScatterSub",
    dtypes=("bfloat16", "float16", "int8", "int16", "uint8", "uint16", "uint32"),
    order=-1,
)
class Widened(Decomposition):
    """Emits the op between two casts.

    float16 and bfloat16 values are computed in float32 and rounded once at the end, for any op. In the ops that this
    decomposition is registered for, integers are computed in int32, and uint32 in int64.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        # Elements at constant places may be windows, which the engine slices.
        return op.name != "GatherNd" or op.constants[1] is not None

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
        widths = _FLOATS | _INTEGERS if op.name in self.names else _FLOATS
        narrow = next((kind.dtype for kind in op.types if kind.dtype in widths), None)
        if narrow is None or op.name in _OF_BITS or any(kind.dtype in _REFERENCES for kind in op.types):
            raise NotDecomposed(f"LiteRT's {op.name} does not take {op.types[0].dtype if op.types else 'it'}")
        wide = widths[narrow]
        if op.name in _EXTREMES:
            return b.recast(op, narrow, wide, lambda value: _within(value, narrow))
        return b.recast(op, narrow, wide)


def _within(value: Tensor, dtype: str) -> Tensor:
    """Clamps the result of a reduction without elements, which is outside the dtype, to the dtype's limits."""
    if dtype in _INTEGERS:
        limits = np.iinfo(dtype)
        return minimum(maximum(value, int(limits.min)), int(limits.max))
    for limit in (_LARGEST[dtype], -_LARGEST[dtype]):  # infinities stay
        value = select(equal(value, math.copysign(LARGEST, limit)), limit, value)
    return value


def is_widened_float(decomposition: Decomposition, types: Iterable[TensorType]) -> bool:
    """Whether a decomposition computes operands of these types in float32 whose own dtype is narrower."""
    return isinstance(decomposition, Widened) and any(kind.dtype in _FLOATS for kind in types)


class Narrowed(Decomposition):
    """Emits the op on int32 between two casts, if the user declared that the values fit int32."""

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
        if all(each.dtype != "int64" for each in (*op.types, *op.results)):
            raise NotDecomposed("it is not of int64")
        return b.recast(op, "int64", "int32")
