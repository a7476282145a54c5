"""Concatenations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.mlir import ir, producer
from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.legalize.decomposition import Decomposition, before_engine

if TYPE_CHECKING:
    from collections.abc import Hashable

    from litefuse.ir.builder import Builder

__all__ = ["RepeatedColumns"]

_FACTORED = frozenset({"tf.AddV2", "tf.Div", "tf.Mul", "tf.RealDiv", "tf.Sub"})
# How far back values are compared.
_DEPTH = 8


# The engine takes factors out of a concatenation of columns of one size, and dies where others are repeated.
@before_engine("ConcatV2", dtypes=("float32",))
class RepeatedColumns(Decomposition):
    """A concatenation of columns of which two are the same: one after the other, the last two first.

    The engine does not look into another concatenation, which is of another size.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        *columns, _ = op.operands
        axis = op.constants[-1]
        if len(columns) < 3 or axis is None or any(not each.shape or each.shape[-1] != 1 for each in op.types[:-1]):
            return False
        if int(axis) % len(op.shape(0)) != len(op.shape(0)) - 1:
            return False
        if not any(producer(each, *_FACTORED) for each in columns):
            return False
        computations = _Computations()
        return len({computations.number(each) for each in columns}) < len(columns)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        if not self.before_lowering(op):
            raise NotDecomposed("LiteRT's ConcatV2 does not take it in this form")
        *columns, last = op.operands[:-1]
        axis = op.axis(len(columns) + 1, len(op.shape(0)))
        for column in reversed(columns):
            last = b.concat([column, last], axis)
        return last


class _Computations:
    """Numbers values, those that are computed alike with the same number."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._known: dict[tuple[ir.Value, int], int] = {}

    def number(self, value: ir.Value, depth: int = _DEPTH) -> int:
        """The number of a value; what is further back is compared no more."""
        if (value, depth) not in self._known:
            owner = value.owner
            computation: Hashable = value
            if depth and not isinstance(owner, ir.Block) and not len(owner.regions) and len(owner.results) == 1:
                attributes = tuple((name, owner.attributes[name]) for name in owner.attributes)
                operands = tuple(self.number(operand, depth - 1) for operand in owner.operands)
                computation = (owner.name, attributes, operands)
            self._known[value, depth] = self._numbers.setdefault(computation, len(self._numbers))
        return self._known[value, depth]
