"""Pieces of constants as constants."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from litefuse.engine.constants import elements_of_constant, pseudo_constant
from litefuse.engine.mlir import ir
from litefuse.passes.call_graph import functions, nested_operations

__all__ = ["FoldConstantPieces"]

_CONSTANTS = ("arith.constant", "tfl.pseudo_const")
_FOLDED = frozenset({"tfl.reshape", "tfl.split", "tfl.unpack"})


class FoldConstantPieces:
    """Takes constants apart once, and not in each call, or in each step of a loop::

        %0:2 = tfl.split(%axis, %c : tensor<2x15xf32>)
        %1 = tfl.reshape(%0#0, [15])                    -->  %1 = dense<...> : tensor<15xf32>

    The engine folds neither. The biases of Keras's GRU are such pieces. (In a loop, such copies are also
    what XNNPACK at times leaves out in the first call with a larger batch.)
    """

    name: ClassVar[str] = "fold-constant-pieces"

    def run(self, module: ir.Module) -> bool:
        bodies = [function.entry_block for function in functions(module).values() if not function.is_external]
        found = [op for body in bodies for op in nested_operations(body) if op.name in _FOLDED]
        folded = [_fold(op) for op in found]  # in order: a reshape comes after the split
        return any(folded)


def _fold(op: ir.OpView) -> bool:
    constant = _elements(op.operands[1 if op.name == "tfl.split" else 0])
    if constant is None:
        return False
    count = len(op.results)
    if op.name == "tfl.reshape":
        pieces = [constant]
    elif op.name == "tfl.unpack":
        pieces = np.split(constant, count, ir.IntegerAttr(op.attributes["axis"]).value)
    else:
        axis = _elements(op.operands[0])
        if axis is None:
            return False
        pieces = np.split(constant, count, int(axis.reshape(-1)[0]))
    kinds = [ir.RankedTensorType(result.type) for result in op.results]
    if not all(kind.has_static_shape for kind in kinds):
        return False
    with ir.InsertionPoint(op), op.location:
        for result, piece, kind in zip(op.results, pieces, kinds, strict=True):
            array = np.ascontiguousarray(piece).reshape(kind.shape)
            result.replace_all_uses_with(pseudo_constant(ir.DenseElementsAttr.get(array, type=kind)))
    op.operation.erase()
    return True


def _elements(value: ir.Value) -> npt.NDArray[Any] | None:
    """The elements of a constant; None if it is none of float32, or, as an axis, of int32."""
    attribute = elements_of_constant(value, *_CONSTANTS)
    if attribute is None or str(attribute.type.element_type) not in {"f32", "i32"}:
        return None
    return np.array(attribute).reshape(attribute.type.shape)
