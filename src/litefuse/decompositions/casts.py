"""Casts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from litefuse.decompositions.decomposition import Decomposition, NotDecomposed, TensorFlowOp
from litefuse.engine.constants import elements_of_constant
from litefuse.engine.mlir import ir, producer
from litefuse.fusions.composite import tensor_type_of

if TYPE_CHECKING:
    from litefuse.decompositions.builder import Builder

_Integers: TypeAlias = "ir.Value | npt.NDArray[Any]"

__all__ = ["CastOfBroadcast", "CastOfQuotient", "CastToInteger"]

_FITTING_FLOAT32 = ("bfloat16", "float16", "uint16")
_NO_INTEGER = 2.0**63


class CastOfBroadcast(Decomposition):
    """A cast to half the width after ``BroadcastTo``: before it.

    The engine exchanges the two, too, but to a BROADCAST_TO of a dtype that LiteRT's does not take; the other order
    leaves it an op that it does not know.
    """

    names = ("Cast",)

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return op.results[0].dtype in {"bfloat16", "float16"} and producer(op.operands[0], "tf.BroadcastTo") is not None

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        broadcast, kind = producer(op.operands[0], "tf.BroadcastTo"), op.results[0]
        if broadcast is None:
            raise NotDecomposed("its operand is not broadcast")
        value, sizes = broadcast.operands
        return b.op("BroadcastTo", [b.cast(value, kind.dtype), sizes], b.shape(op.operands[0]), kind.dtype)


class CastOfQuotient(Decomposition):
    """A number made of a quotient of int32, which TensorFlow computes in float64, as when a size is halved::

        int(x / y), int(floor(x / y)), int(ceil(x / y))  -->  the same in whole numbers
        float32(x / y)                                   -->  float32(x) / float32(y)

    In float64, a quotient of int32 that is no whole number stays between the same two; and for up to 24 bits, rounding
    it twice gives what rounding once does (Figueroa, "When is double rounding innocuous?", 1995). The divisor of whole
    numbers is a constant, which is not 0.
    """

    names = ("Cast",)

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return _quotient(op.operands[0]) is not None and op.results[0].dtype in {"float32", "int32", "int64"}

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        found, dtype = _quotient(op.operands[0]), op.results[0].dtype
        if found is None:
            raise NotDecomposed("its operand is no quotient of int32")
        rounded, *parts = found
        x, y = (b.constant(part, "int32") if isinstance(part, np.ndarray) else part for part in parts)
        if dtype == "float32":
            if rounded is not None:
                raise NotDecomposed("its operand is a rounded quotient")
            return b.binary("RealDiv", b.cast(x, dtype), b.cast(y, dtype))
        if not isinstance(parts[1], np.ndarray) or not parts[1].all():
            raise NotDecomposed("the divisor may be 0")
        if rounded is None:
            whole = b.binary("Div", x, y)
        else:
            whole = b.binary("FloorDiv", x, y)
            if rounded == "Ceil":
                rest = b.compare("NotEqual", b.binary("FloorMod", x, y), 0)
                whole = b.binary("AddV2", whole, b.cast(rest, "int32"))
        return whole if dtype == "int32" else b.cast(whole, dtype)


_ROUNDED = ("Ceil", "Floor")


def _quotient(value: ir.Value) -> tuple[str | None, _Integers, _Integers] | None:
    """How a quotient of int32 is rounded, if it is, and what of; None if the value is something else."""
    rounded = producer(value, *(f"tf.{name}" for name in _ROUNDED))
    divided = producer(value if rounded is None else rounded.operands[0], "tf.RealDiv", "tf.Div")
    if divided is None:
        return None
    x, y = map(_integers, divided.operands)
    return None if x is None or y is None else (None if rounded is None else rounded.name.removeprefix("tf."), x, y)


def _integers(value: ir.Value) -> _Integers | None:
    """What float64 numbers were in int32: a value, or the elements of a constant."""
    cast = producer(value, "tf.Cast")
    if cast is not None:
        (operand,) = cast.operands
        elements = elements_of_constant(operand, "tf.Const")
        if tensor_type_of(operand).dtype != "int32":
            return None
        return operand if elements is None else np.array(elements)
    elements = elements_of_constant(value, "tf.Const")
    if elements is None:
        return None
    array: npt.NDArray[Any] = np.array(elements)
    # What is no number, or beyond int32, is not what it was.
    whole = np.array(np.round(np.clip(array, -(2**31), 2**31 - 1)), np.int32)
    return whole if np.array_equal(array, whole) else None


class CastToInteger(Decomposition):
    """A conversion to int32 or int64 by way of a dtype that LiteRT's GATHER takes.

    What is gathered from a conversion to integers, the engine gathers from the operand, of whatever dtype it is.
    """

    names = ("Cast",)

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return op.results[0].dtype in {"int32", "int64"} and op.types[0].dtype in {*_FITTING_FLOAT32, "uint32"}

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        (x,), dtype = op.operands, op.results[0].dtype
        if not self.before_lowering(op):
            raise NotDecomposed(f"LiteRT's CAST does not make {dtype} of {op.types[0].dtype}")
        if op.types[0].dtype != "uint32":
            # A bound above all integers keeps the engine from making one conversion of the two.
            return b.cast(b.binary("Minimum", b.cast(x, "float32"), _NO_INTEGER), dtype)
        bits = b.bitcast(x, "int32")
        if dtype == "int32":
            return bits
        number = b.cast(bits, "int64")
        return b.select(b.compare("Less", number, 0), b.binary("AddV2", number, 1 << 32), number)
