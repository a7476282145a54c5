"""Divisions, remainders and means that LiteRT supports for few dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.ir.defining_ops import is_size
from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, equal, floor, not_equal, select, sign
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    import numpy.typing as npt

    from litefuse.ir.builder import Builder, MixedSize


@decomposition("Div", "FloorDiv", "Mod", "TruncateDiv", "TruncateMod")
def division(op: TensorFlowOp, b: Builder) -> Tensor:
    """Integer quotients from their remainder, whose op supports all dtypes; the division is exact then.

    ::

        truncatemod(x, y) = floormod(x, y), less y if that is not 0 and the signs of x and y differ
        truncatediv(x, y) = (x - truncatemod(x, y)) / y
        floordiv(x, y) = truncatediv(x, y), less 1 in that case

    None of these is beyond the range of the dtype. LiteRT divides int32, but not int64: there, float32 quotients of the
    remaining dividend are added up.
    """
    op.require(0, "float32", "int32", "int64")
    x, y = op.operands
    dtype = x.dtype
    if dtype == "float32":
        if op.name not in {"Mod", "TruncateMod"}:
            raise NotDecomposed("LiteRT has it")
        return sign(x) * (abs(x) % abs(y))
    rest = x % y
    differ = not_equal(x < 0, y < 0)
    down = differ & not_equal(rest, 0)
    remainder = select(down, rest - y, rest)
    if op.name in {"Mod", "TruncateMod"}:
        return remainder
    whole = x - remainder
    quotient = b.binary("Div", whole, y) if dtype == "int32" else _whole_quotient(b, whole, y)
    return quotient - b.cast(down, dtype) if op.name == "FloorDiv" else quotient


# Fault `remainder-of-the-smallest`.
@before_engine("FloorMod", dtypes=("int32", "int64"))
class Remainder(Decomposition):
    """Remainders by -1 as those by 1, which are 0 as well, unless it is known that the divisor is another."""

    folds = True
    _GUARDED = "_not_by_minus_one"

    def before_lowering(self, op: TensorFlowOp) -> bool:
        known = op.constants[1]
        is_another = is_size(op.operands[1]) if known is None else bool((known != -1).all())
        of_known_rank = all(kind.shape is not None for kind in (*op.types, *op.results))
        return of_known_rank and not is_another and self._GUARDED not in op.attributes

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        x, y = op.operands
        divisor = select(equal(y, -1), 1, y)
        (result,) = op.results
        return b.op("FloorMod", [x, divisor], result.shape or (), result.dtype, **{self._GUARDED: True})


# Fault `division-by-zero`.
@before_engine("FloorDiv", dtypes=("float32",))
class FloorOfQuotient(Decomposition):
    """``floor(x / y)``, as TensorFlow defines it, where the divisor may be 0: the quotient is infinite or NaN."""

    def before_lowering(self, op: TensorFlowOp) -> bool:
        known = op.constants[1]
        return known is None or not known.all()

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        return floor(b.binary("RealDiv", *op.operands))


@decomposition("DivNoNan", "MulNoNan", "Xdivy", "Xlog1py", "Xlogy")
# Faults `zero-logarithm`, `product-with-logarithm-of-one-plus` and `zero-of-other-shape`.
@before_engine("DivNoNan", "MulNoNan", "Xdivy", "Xlog1py", "Xlogy", dtypes=("float32", "float64"))
def quotient(op: TensorFlowOp, b: Builder) -> Tensor:
    """Quotients and products in which zero takes precedence over NaN and infinity::

    xdivy(x, y) = 0 where x is 0, else x / y
    mul_no_nan(x, y) = 0 where y is 0, else x y

    The zeros are selected from the operand: LiteRT's SELECT is much faster without broadcasts.
    """
    op.require(0, "float32")
    x, y = op.operands
    match op.name:
        case "DivNoNan":
            return select(equal(y, 0.0), y, x / y)
        case "MulNoNan":
            return select(equal(y, 0.0), y, x * y)
        case "Xdivy":
            value = x / y
        case _:
            value = x * _logarithm(b, y, op.constants[1], plus_one=op.name == "Xlog1py")
    return select(equal(x, 0.0), x, value)


@decomposition("Inv", "Reciprocal")
# Fault `transposed-reciprocal`.
@before_engine("Inv", "Reciprocal", dtypes=("float32",))
class Reciprocal(Decomposition):
    """``1 / x``. The engine lowers it to the same, but only here can the constant be hidden from the engine."""

    def before_lowering(self, op: TensorFlowOp) -> bool:
        shape = op.types[0].shape
        return shape is None or len(shape) > 1

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        op.require(0, "float32")
        return 1.0 / op.operands[0]


def _logarithm(b: Builder, y: Tensor, known: npt.NDArray[Any] | None, *, plus_one: bool) -> Tensor:
    """Emits ``log(y)`` or ``log(1 + y)``; of a constant, a constant, so that zeros are recognized as factors."""
    if known is None:
        return b.unary("Log1p" if plus_one else "Log", y)
    with np.errstate(divide="ignore", invalid="ignore"):
        return b.constant(np.log1p(known) if plus_one else np.log(known), "float32")


def _whole_quotient(b: Builder, x: Tensor, y: Tensor) -> Tensor:
    """Emits int64 ``x / y`` for divisible ``x``, as a sum of float32 quotients of the remaining dividend."""
    quotient: Tensor | None = None
    left = x
    for _ in range(4):  # each float32 quotient is correct in its first 23 bits
        estimate = b.cast(left, "float32") / b.cast(y, "float32")
        part = b.cast(b.unary("Round", estimate), "int64")
        quotient = part if quotient is None else quotient + part
        left = left - part * y
    assert quotient is not None
    return quotient


@decomposition("Mean")
# Fault `mean-of-bytes`.
@before_engine("Mean", dtypes=("uint8",))
# Fault `reduction-of-seven-dimensions`; a mean of means would be rounded twice.
@before_engine("Mean", dtypes=("int8", "int16", "int32", "int64"), above_rank=6)
def integer_mean(op: TensorFlowOp, b: Builder) -> Tensor:
    """The sum divided by the count, truncated."""
    shape = op.shape(0)
    op.require(0, "uint8", "int8", "int16", "int32", "int64")
    dtype = op.types[0].dtype
    value = op.operands[0] if dtype == "int64" else b.cast(op.operands[0], "int32")
    sizes = b.sizes(value)
    count: MixedSize = 1
    for axis in sorted({int(axis) % len(shape) for axis in op.constant(1).reshape(-1)}, reverse=True):
        count = count * sizes[axis]
        value = b.reduce("Sum", value, axis, keep_dims=bool(op.attributes.get("keep_dims", False)))
    return b.cast(b.binary("Div", value, b.cast(b.scalar(count), value.dtype)), dtype)
