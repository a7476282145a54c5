"""Divisions and remainders that LiteRT supports for few dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.ir.defining_ops import is_size
from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    import numpy.typing as npt

    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir

__all__ = ["Division", "FloorOfQuotient", "Quotient", "Reciprocal", "Remainder"]


@decomposition("Div", "FloorDiv", "Mod", "TruncateDiv", "TruncateMod")
class Division(Decomposition):
    """Integer quotients from their remainder, whose op supports all dtypes; the division is exact then.

    ::

        truncatemod(x, y) = floormod(x, y), less y if that is not 0 and the signs of x and y differ
        truncatediv(x, y) = (x - truncatemod(x, y)) / y
        floordiv(x, y) = truncatediv(x, y), less 1 in that case

    None of these is beyond the range of the dtype. LiteRT divides int32, but not int64: there, float32 quotients of the
    remaining dividend are added up.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.shape(1)
        op.require(0, "float32", "int32", "int64")
        x, y = op.operands
        dtype = b.dtype(x)
        if dtype == "float32":
            if op.name not in {"Mod", "TruncateMod"}:
                raise NotDecomposed("LiteRT has it")
            return b.binary("Mul", b.unary("Sign", x), b.binary("FloorMod", b.unary("Abs", x), b.unary("Abs", y)))
        rest = b.binary("FloorMod", x, y)
        differ = b.compare("NotEqual", b.compare("Less", x, 0), b.compare("Less", y, 0))
        down = b.binary("LogicalAnd", differ, b.compare("NotEqual", rest, 0))
        remainder = b.select(down, b.binary("Sub", rest, y), rest)
        if op.name in {"Mod", "TruncateMod"}:
            return remainder
        whole = b.binary("Sub", x, remainder)
        quotient = b.binary("Div", whole, y) if dtype == "int32" else _whole_quotient(b, whole, y)
        return b.binary("Sub", quotient, b.cast(down, dtype)) if op.name == "FloorDiv" else quotient


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

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        x, y = op.operands
        divisor = b.select(b.compare("Equal", y, -1), 1, y)
        (result,) = op.results
        return b.op("FloorMod", [x, divisor], result.shape or (), result.dtype, **{self._GUARDED: True})


# Fault `division-by-zero`.
@before_engine("FloorDiv", dtypes=("float32",))
class FloorOfQuotient(Decomposition):
    """``floor(x / y)``, as TensorFlow defines it, where the divisor may be 0: the quotient is infinite or NaN."""

    def before_lowering(self, op: TensorFlowOp) -> bool:
        known = op.constants[1]
        return known is None or not known.all()

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.shape(1)
        return b.unary("Floor", b.binary("RealDiv", *op.operands))


@decomposition("DivNoNan", "MulNoNan", "Xdivy", "Xlog1py", "Xlogy")
# Faults `zero-logarithm`, `product-with-logarithm-of-one-plus` and `zero-of-other-shape`.
@before_engine("DivNoNan", "MulNoNan", "Xdivy", "Xlog1py", "Xlogy", dtypes=("float32", "float64"))
class Quotient(Decomposition):
    """Quotients and products in which zero takes precedence over NaN and infinity::

    xdivy(x, y) = 0 where x is 0, else x / y
    mul_no_nan(x, y) = 0 where y is 0, else x y

    The zeros are selected from the operand: LiteRT's SELECT is much faster without broadcasts.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.shape(1)
        op.require(0, "float32")
        x, y = op.operands
        match op.name:
            case "DivNoNan":
                return b.select(b.compare("Equal", y, 0.0), y, b.binary("RealDiv", x, y))
            case "MulNoNan":
                return b.select(b.compare("Equal", y, 0.0), y, b.binary("Mul", x, y))
            case "Xdivy":
                value = b.binary("RealDiv", x, y)
            case _:
                value = b.binary("Mul", x, _logarithm(b, y, op.constants[1], plus_one=op.name == "Xlog1py"))
        return b.select(b.compare("Equal", x, 0.0), x, value)


@decomposition("Inv", "Reciprocal")
# Fault `transposed-reciprocal`.
@before_engine("Inv", "Reciprocal", dtypes=("float32",))
class Reciprocal(Decomposition):
    """``1 / x``. The engine lowers it to the same, but only here can the constant be hidden from the engine."""

    def before_lowering(self, op: TensorFlowOp) -> bool:
        shape = op.types[0].shape
        return shape is None or len(shape) > 1

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.require(0, "float32")
        return b.binary("RealDiv", 1.0, op.operands[0])


def _logarithm(b: Builder, y: ir.Value, known: npt.NDArray[Any] | None, *, plus_one: bool) -> ir.Value:
    """Emits ``log(y)`` or ``log(1 + y)``; of a constant, a constant, so that zeros are recognized as factors."""
    if known is None:
        return b.unary("Log1p" if plus_one else "Log", y)
    with np.errstate(divide="ignore", invalid="ignore"):
        return b.constant(np.log1p(known) if plus_one else np.log(known), "float32")


def _whole_quotient(b: Builder, x: ir.Value, y: ir.Value) -> ir.Value:
    """Emits int64 ``x / y`` for divisible ``x``, as a sum of float32 quotients of the remaining dividend."""
    quotient: ir.Value | None = None
    left = x
    for _ in range(4):  # each float32 quotient is correct in its first 23 bits
        estimate = b.binary("RealDiv", b.cast(left, "float32"), b.cast(y, "float32"))
        part = b.cast(b.unary("Round", estimate), "int64")
        quotient = part if quotient is None else b.binary("AddV2", quotient, part)
        left = b.binary("Sub", left, b.binary("Mul", part, y))
    assert quotient is not None
    return quotient
