"""Clipping of values to an interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.constants import splat_number, stored
from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, maximum, minimum
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder
    from litefuse.ir.mlir import ir


@decomposition("ClipByValue")
def clip_by_value(op: TensorFlowOp, b: Builder) -> Tensor:
    """``max(min(x, high), low)``, which is ``low`` if that is above ``high``."""
    x, low, high = op.operands
    return maximum(minimum(x, high), low)


@decomposition("Relu6")
def integer_relu6(op: TensorFlowOp, b: Builder) -> Tensor:
    """``min(max(x, 0), 6)`` of integers, for the fault ``integer-relu6``."""
    op.require(0, "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")
    return minimum(maximum(op.operands[0], 0), 6)


# Fault `largest-bound`.
@before_engine("Maximum", "Minimum", dtypes=("float32",))
class LargestBound(Decomposition):
    """A bound of the largest finite float as a scalar."""

    folds = True

    def before_lowering(self, op: TensorFlowOp) -> bool:
        shapes = {each.shape for each in (*op.types, *op.results)}
        return len(shapes) == 1 and any(map(_is_largest, op.operands))

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        (result,) = op.results
        for value, bound in (op.operands, op.operands[::-1]):
            elements, shape = _elements(bound), value.shape
            number = None if elements is None else splat_number(elements)
            if number is not None and shape == result.shape and len(shape):
                return b.op(op.name, [value, b.constant(number, "float32")], shape, "float32")
        raise NotDecomposed("LiteRT has it")


def _is_largest(value: Tensor) -> bool:
    """Whether a value is a constant of several elements that are all the lowest or the largest finite float."""
    elements = _elements(value)
    number = None if elements is None or not elements.type.rank else splat_number(elements)
    return number is not None and abs(number) == np.finfo(np.float32).max


def _elements(value: Tensor) -> ir.DenseElementsAttr | None:
    return stored(value)
