"""Rounds quotients of integers exactly where they are computed in float32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.builder import Builder
from litefuse.ir.constants import stored
from litefuse.ir.mlir import ir, producer
from litefuse.ir.tensors import select

if TYPE_CHECKING:
    import numpy.typing as npt

_ROUNDED = frozenset({"tf.Ceil", "tf.Floor", "tf.Rint", "tf.Round"})
_INTEGERS = frozenset({"i32", "i64"})


@dataclass(frozen=True)
class RoundedQuotient:
    """A quotient of integers x and y that is cast to floats, divided and rounded to an integer."""

    op: ir.OpView
    x: ir.Value | npt.NDArray[np.int64]
    y: ir.Value | npt.NDArray[np.int64]

    @staticmethod
    def read(op: ir.OpView) -> RoundedQuotient | None:
        """Returns the quotient that an op rounds; None if it rounds something else, or does not round."""
        divided = producer(op.operands[0], "tf.Div", "tf.RealDiv") if op.name in _ROUNDED else None
        if divided is None:
            return None
        x, y = map(_integers, divided.operands)
        return None if x is None or y is None else RoundedQuotient(op, x, y)

    def correct(self) -> None:
        """Corrects the result, once it is of float32, by what is left in integers::

            q = round(x / y)            round:  2 * |rest| > |y|, or equal and q is odd
            rest = x - q * y     -->    floor:  rest / y < 0 or >= 1
                                        ceil:   rest / y > 0 or <= -1

        Where this holds, the integer is the one beside it. Up to 2^22, float32 is not further away than that. What is
        not a number or infinite, since the divisor is zero, stays so.
        """
        with ir.InsertionPoint.after(self.op), self.op.location:
            b, kind = Builder(), self.op.name.removeprefix("tf.")
            x, y = (b.constant(each, "int64") if isinstance(each, np.ndarray) else each for each in (self.x, self.y))
            x, y = b.cast(x, "int64"), b.cast(y, "int64")
            rounded = b.unary(kind, self.op.operands[0])
            whole = b.cast(rounded, "int64")
            rest = x - whole * y
            rest = select(y < 0, -rest, rest)
            size = abs(y)
            if kind in {"Rint", "Round"}:
                # An odd number is rounded to the even one beside it from a tie as well.
                odd = whole % 2
                rest = rest * 2
                more = rest + odd > size
                less = odd - rest > size
            elif kind == "Floor":
                more, less = rest >= size, rest < 0
            else:
                more, less = rest > 0, rest <= -size
            step = b.cast(more, "float32") - b.cast(less, "float32")
            self.op.results[0].replace_all_uses_with(rounded + step)
        self.op.operation.erase()


def _integers(value: ir.Value) -> ir.Value | npt.NDArray[np.int64] | None:
    """Returns what was cast to floats, or a constant's elements, if they are integers."""
    cast = producer(value, "tf.Cast")
    if cast is not None:
        (operand,) = cast.operands
        kind = operand.type
        return operand if isinstance(kind, ir.RankedTensorType) and str(kind.element_type) in _INTEGERS else None
    elements = stored(value)
    if elements is None:
        return None
    wide = np.array(elements, np.float64).reshape(ir.ShapedType(value.type).shape)
    is_whole = np.all((np.rint(wide) == wide) & (np.abs(wide) < 2.0**31))
    return wide.astype(np.int64) if is_whole else None
