"""Divisions and remainders that LiteRT has for few dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    import numpy.typing as npt

    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir

__all__ = ["Division", "Quotient", "Reciprocal"]


@decomposition("Div", "FloorDiv", "Mod", "TruncateDiv", "TruncateMod")
class Division(Decomposition):
    """Quotients of integers from their remainder, which LiteRT has for all of them; the division is without rest then.

    ::

        truncatemod(x, y) = sign(x) floormod(|x|, |y|)
        truncatediv(x, y) = (x - truncatemod(x, y)) / y
        floordiv(x, y) = (x - floormod(x, y)) / y

    LiteRT divides int32, not int64: there, float32 quotients of what is left are added up until nothing is left.
    """

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.shape(1)
        op.require(0, "float32", "int32", "int64")
        x, y = op.operands
        dtype = b.dtype(x)
        if dtype == "float32" and op.name in {"Div", "FloorDiv"}:
            raise NotDecomposed("LiteRT has it")
        if op.name == "FloorDiv":
            remainder = b.binary("FloorMod", x, y)
        else:
            remainder = b.binary("FloorMod", b.unary("Abs", x), b.unary("Abs", y))
            remainder = b.binary("Mul", b.unary("Sign", x), remainder)
        if op.name in {"Mod", "TruncateMod"}:
            return remainder
        whole = b.binary("Sub", x, remainder)
        if dtype == "int32":
            return b.binary("Div", whole, y)
        return _whole_quotient(b, whole, y)


@decomposition("DivNoNan", "MulNoNan", "Xdivy", "Xlog1py", "Xlogy")
# The engine makes a constant of the zeros, also where a dimension is dynamic.
@before_engine("DivNoNan", "MulNoNan", "Xdivy", "Xlog1py", "Xlogy", dtypes=("float32",))
class Quotient(Decomposition):
    """Quotients and products where zero wins::

    xdivy(x, y) = 0 where x is 0, else x / y
    mul_no_nan(x, y) = 0 where y is 0, else x y

    The zeros are those of the operand: LiteRT selects much faster where nothing is broadcast.
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
# Where it moves a transposition behind it, the engine swaps dividend and divisor.
@before_engine("Inv", "Reciprocal", dtypes=("float32",))
class Reciprocal(Decomposition):
    """One over each element. The engine writes that, too, but its constant cannot be hidden from it."""

    def before_lowering(self, op: TensorFlowOp) -> bool:
        shape = op.types[0].shape
        return shape is None or len(shape) > 1

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        op.shape(0)
        op.require(0, "float32")
        return b.binary("RealDiv", 1.0, op.operands[0])


def _logarithm(b: Builder, y: ir.Value, known: npt.NDArray[Any] | None, *, plus_one: bool) -> ir.Value:
    """``log(y)`` or ``log(1 + y)``; where it is a constant zero, the product with it must be seen as one."""
    if known is None:
        return b.unary("Log1p" if plus_one else "Log", y)
    with np.errstate(divide="ignore", invalid="ignore"):
        return b.constant(np.log1p(known) if plus_one else np.log(known), "float32")


def _whole_quotient(b: Builder, x: ir.Value, y: ir.Value) -> ir.Value:
    """int64 ``x / y`` without rest: float32 quotients of what is left, until nothing is."""
    quotient: ir.Value | None = None
    left = x
    for _ in range(4):  # each float32 quotient is right in its first 23 bits
        estimate = b.binary("RealDiv", b.cast(left, "float32"), b.cast(y, "float32"))
        part = b.cast(b.unary("Round", estimate), "int64")
        quotient = part if quotient is None else b.binary("AddV2", quotient, part)
        left = b.binary("Sub", left, b.binary("Mul", part, y))
    assert quotient is not None
    return quotient
